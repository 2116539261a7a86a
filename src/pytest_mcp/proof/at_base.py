"""What new and edited tests show at the base, where the source is as it was before the change.

A failure there shows the change, unless it only says that something does not exist yet. Then the test is weak alone; it
proves the change if it also notices a mutant of it.
"""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from pytest_mcp.proof.result import SeenAtBase
from pytest_mcp.run.events import CollectionFailed
from pytest_mcp.run.recordings import Probed
from pytest_mcp.text import in_line

# What is raised for something that is not there.
_MISSING = frozenset({"AttributeError", "ImportError", "NameError", "TypeError", "KeyError", "LookupError"})
_NAMES = re.compile(r"[^\W\d]\w*")
_QUOTED = re.compile(r"'([^']+)'|\"([^\"]+)\"")
_WRONG_CALL = re.compile(r"\(\) (?:takes|missing|got) ")
MAX_WHY = 120
# How a function is seen of which some parameters are seen so: the first that any of them is.
_ORDER: tuple[SeenAtBase, ...] = ("proves", "missing", "unknown", "passes")


@dataclass(frozen=True)
class ShownAtBase:
    seen: SeenAtBase
    why: str = ""


def function_of(node_id: str) -> str:
    """The id without parameters."""
    path, separator, name = node_id.partition("::")
    return f"{path}{separator}{name.partition('[')[0]}"


def seen_by_function(
    asked: Iterable[str],
    probed: Sequence[Probed],
    failures: Sequence[CollectionFailed],
    new_names: Collection[str],
) -> dict[str, ShownAtBase]:
    """For each test function that was asked for."""
    of_function: dict[str, list[ShownAtBase]] = {}
    for each in probed:
        of_function.setdefault(function_of(each.id), []).append(seen(each, new_names))
    broken = {each.file: _uncollected(each, new_names) for each in failures}
    unknown = ShownAtBase("unknown", "it was not run there")
    found = {}
    for name in asked:
        several = of_function.get(name) or [broken.get(name.partition("::")[0], unknown)]
        found[name] = min(several, key=lambda one: _ORDER.index(one.seen))
    return found


def seen(probed: Probed, new_names: Collection[str]) -> ShownAtBase:
    raised = probed.raised[0] if probed.raised else ""
    said = probed.message.strip().partition("\n")[0]
    why = _short(f"{raised}: {said}" if raised else said)
    match probed.outcome:
        case "passed":
            return ShownAtBase("passes")
        case "late":
            return ShownAtBase("proves", "it hangs there")
        case "died":
            return ShownAtBase("proves", "it ends the process there")
        case "failed" if is_missing(probed.raised, probed.message, new_names):
            return ShownAtBase("missing", why)
        case "failed":
            return ShownAtBase("proves", why)
    return ShownAtBase("unknown", f"{probed.outcome} there: {why}")


def is_missing(raised: Collection[str], message: str, new_names: Collection[str]) -> bool:
    """Whether it says that a name, module, attribute or parameter does not exist that is new."""
    if _MISSING.isdisjoint(raised):
        return False
    quoted = {part for pair in _QUOTED.findall(message) for part in pair if part}
    # Classes that look names up themselves say nothing but the name.
    names = {name for part in quoted for name in _NAMES.findall(part)} | {message.strip()}
    return not names.isdisjoint(new_names) or ("TypeError" in raised and _WRONG_CALL.search(message) is not None)


def _uncollected(failure: CollectionFailed, new_names: Collection[str]) -> ShownAtBase:
    raised, message = failure.error_type or "", failure.message or failure.traceback
    why = _short(f"its file cannot be imported there: {raised}: {message}")
    kinds = {raised} | ({"ImportError"} if raised == "ModuleNotFoundError" else set())
    return ShownAtBase("missing" if is_missing(kinds, message, new_names) else "unknown", why)


def with_kills(found: Mapping[str, ShownAtBase], killers: Collection[str]) -> dict[str, ShownAtBase]:
    """A test that failed only for want of something proves the change if it notices a mutant of it."""
    functions = {function_of(each) for each in killers}
    return {
        name: ShownAtBase("proves", "it notices mutants") if each.seen == "missing" and name in functions else each
        for name, each in found.items()
    }


def _short(words: str) -> str:
    return in_line(" ".join(words.split())[:MAX_WHY])
