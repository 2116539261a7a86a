"""Notices about a choice of environment that may not be the one that was meant; none if the choice is clear.

In come the chosen candidate and the others; out come sentences. Only files are looked at.
"""

from collections.abc import Sequence
from pathlib import Path

from pytest_mcp.config.model import Config
from pytest_mcp.python import interpreter, virtualenv
from pytest_mcp.python.interpreter import Candidate
from pytest_mcp.text import few


def of_choice(chosen: Candidate, rejected: Sequence[Candidate], places: Sequence[Path], config: Config) -> list[str]:
    """`places` are what the call points at, inside the root."""
    if config.python is not None:
        return []
    folder = interpreter.pointed_at(places, config.root)
    return [
        *_passed_over(chosen, rejected, config.root),
        *_rivals(chosen, interpreter.visible(config, folder), config.root),
        *_nearer(folder, places, config.root),
    ]


def _passed_over(chosen: Candidate, rejected: Sequence[Candidate], root: Path) -> list[str]:
    """The project's own environments that cannot be used. Variables may be stale, so they do not count."""
    return [
        f"The tests ran with {chosen.shown(root)} because {other.shown(root)} cannot be used:"
        f" {interpreter.short(other.problem or '')}."
        for other in rejected
        if other.lacks_pytest or other.python.is_relative_to(root)
    ]


def _rivals(chosen: Candidate, found: Sequence[Candidate], root: Path) -> list[str]:
    """Later candidates that would have worked too: an active one, or one in the same folder."""
    pythons = [other.python for other in found]
    later = found[pythons.index(chosen.python) + 1 :] if chosen.python in pythons else []
    rivals = [
        other for other in later if _competes(other, chosen) and virtualenv.has(virtualenv.of(other.python), "pytest")
    ]
    if not rivals:
        return []
    named = few(f"{other.shown(root)} ({interpreter.short(other.source)})" for other in rivals)
    return [f"The tests ran with {chosen.shown(root)}; {named} has pytest too. The operator's --python decides."]


def _competes(other: Candidate, chosen: Candidate) -> bool:
    """Several environments of one manager do not compete, nor do those of outer projects."""
    sibling = other.python.parents[1].name in virtualenv.FOLDERS and other.python.parents[2] == chosen.python.parents[2]
    return other.problem is None and (other.source in interpreter.ACTIVE or sibling)


def _nearer(folder: Path, places: Sequence[Path], root: Path) -> list[str]:
    """Projects with environments of their own, whose tests ran together in another one."""
    own = {
        str(place.relative_to(root))
        for target in places
        for place in (target, *target.parents)
        if place != folder and place.is_relative_to(folder) and _has_environment(place)
    }
    return (
        [f"These have their own environments: {few(map(interpreter.short, sorted(own)))}. Call each alone to use it."]
        if own
        else []
    )


def _has_environment(place: Path) -> bool:
    return any(virtualenv.has(place / name, "pytest") for name in virtualenv.FOLDERS)
