"""What is known of an MCP client: where its settings are, and what an entry in them needs.

Types only; the table of clients is in `known_clients`, the entries that are made of it in `entries`.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import Any, Literal, NamedTuple

# The tools that a client may be told to call without asking.
TOOL_NAMES = ("discover_tests", "execute_tests", "explain_environment", "investigate_failure", "test_history")
# The shortest timeout that is written, in seconds.
SHORTEST_TIMEOUT = 300

Level = Literal["project", "user"]


class Machine(NamedTuple):
    """What the path of a settings file depends on."""

    platform: str
    home: PurePath
    environment: Mapping[str, str]

    def folder(self, variable: str, *default: str) -> PurePath:
        value = self.home / self.environment.get(variable, "")
        return self.home.joinpath(*default) if value == self.home else value

    @property
    def config(self) -> PurePath:
        return self.folder("XDG_CONFIG_HOME", ".config")

    @property
    def applications(self) -> PurePath:
        """Where GUI programs keep their settings."""
        if self.platform == "win32":
            return self.folder("APPDATA", "AppData", "Roaming")
        return self.home / "Library" / "Application Support" if self.platform == "darwin" else self.config

    @property
    def editor_config(self) -> PurePath:
        """The same for editors that use `~/.config` on macOS too."""
        return self.applications if self.platform == "win32" else self.config


class Timeout(NamedTuple):
    """A key of an entry that sets a timeout of the client. One for calls grows with the server's own time limit."""

    key: str
    per_second: int = 1
    least: int = SHORTEST_TIMEOUT
    for_calls: bool = True


class Remote(NamedTuple):
    """How an entry names a server on HTTP."""

    # The client's syntax for the value of an environment variable. Without one, the file must contain the token itself.
    variable: str | None
    # The key of the address.
    url: str = "url"
    # Keys that every such entry has.
    fixed: Mapping[str, Any] = {}
    # A key for the name of the variable with the token; otherwise it is in a header.
    variable_key: str | None = None


@dataclass(frozen=True, eq=False)
class Client:
    name: str
    title: str
    # The user's own file. Of several, the first that exists is used, or the last if none exists.
    user: Callable[[Machine], tuple[PurePath, ...]]
    # A folder that exists if the client is installed.
    home: Callable[[Machine], PurePath]
    # The key of the servers in those files.
    servers: str
    # What the user must know or do after the file was written.
    next_step: str = ""
    # What it asks before it calls a tool, unless it is allowed.
    asks: str = ""
    programs: tuple[str, ...] = ()
    # The file in a project, chosen in the same way.
    project: tuple[str, ...] = ()
    # What the user must know or do first, if it is the project's file.
    project_step: str = ""
    # Further files and folders in a project that show that the client is used there.
    project_signs: tuple[str, ...] = ()
    # What the client itself would write into a new file.
    skeleton: str = ""
    # Keys that every entry has.
    fixed: Mapping[str, Any] = field(default_factory=dict)
    # Whether `command` is a list that includes the arguments.
    one_list: bool = False
    timeouts: tuple[Timeout, ...] = ()
    # The client's variable for the project's folder, if it starts servers in another folder.
    workspace: str | None = None
    # Whether an entry in the user's file is for one project, because the client has no variable for the open project.
    one_project: bool = False
    # Further arguments for the server.
    arguments: tuple[str, ...] = ()
    # Its entries for servers on HTTP; None if its file cannot have any.
    remote: Remote | None = None
    # The file with instructions for agents that it reads in a project; None if it reads none.
    instructions: str | None = "AGENTS.md"
    # Keys of an entry with which it calls the tools without asking.
    approval: Mapping[str, Any] = field(default_factory=dict)
    # A file with permission rules and hooks as Claude Code has them: in its folder of a project, and in `home`.
    rules: str | None = None
