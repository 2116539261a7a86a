"""The child of a command starts while the command loads its modules, which takes as long.

It is a guess, by arguments that are not validated yet: a call that needs another Python, or none, does not use it.
"""

import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from pytest_mcp.config.model import Config
from pytest_mcp.process import start
from pytest_mcp.process.job import SpawnError, child_launch, child_variables
from pytest_mcp.process.start import Supervision, Waiting

_OWN = Path(sys.prefix)


@contextmanager
def started(config: Config, arguments: Mapping[str, Any]) -> Iterator[Waiting | None]:
    """A child that waits for its job, or None. It is ended after the block if it was not used."""
    supervisor = None
    # If it fails, the run tries again and reports why.
    with suppress(SpawnError):
        supervisor = start.supervisor(child_variables(config, own_prefix=_OWN)) if config.spare else None
    try:
        yield None if supervisor is None else _waiting(supervisor, config, arguments)
    finally:
        if supervisor is not None:
            supervisor.end_unless_ended()


def _waiting(supervisor: Supervision, config: Config, arguments: Mapping[str, Any]) -> Waiting | None:
    # Loaded while the supervisor starts.
    from pytest_mcp.python import interpreter, project_root  # noqa: PLC0415

    # They may have any shape.
    ids = arguments.get("node_ids")
    words = [arguments.get("path"), *(ids if isinstance(ids, list) else [ids])]
    places = [config.root / word.partition("::")[0] for word in words if isinstance(word, str)]
    try:
        are_inside = all(place.resolve().is_relative_to(config.root) for place in places)
    except (OSError, RuntimeError, ValueError):
        return None
    if not are_inside or project_root.refusal(config.root) is not None:
        return None
    folder = interpreter.pointed_at(places, config.root)
    usable = (each.python for each in interpreter.visible(config, folder) if each.problem is None)
    if (python := next(usable, None)) is None:
        return None
    return start.ahead(supervisor, child_launch(python, config, own_prefix=_OWN), interpreter.state(python))
