"""What `pytest-mcp setup` is to do: what was typed, and what was found out about this machine.

What is written into a file is decided in `server_entry`, which file it is in `location`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from pytest_mcp.cli.setup.location import Location
from pytest_mcp.config.model import TOKEN_VARIABLE


@dataclass(frozen=True)
class Plan(Location):
    remove: bool
    # Whether the entry names the program without its path.
    portable: bool
    confirmed: Literal["yes", "no", "ask", "cannot ask"]
    command: Sequence[str]
    flags: Sequence[str]
    limit: int
    # What is to be written beside the entry, without an offer: the names of the flags.
    extras: frozenset[str] = frozenset()
    # The address of a server on HTTP, if the client is not to start one.
    url: str | None = None

    @property
    def token(self) -> str | None:
        """The token of that server."""
        return self.machine.environment.get(TOKEN_VARIABLE) if self.url else None
