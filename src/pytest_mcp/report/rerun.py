"""The arguments that run the failures of a run again: exactly, or a selection in few words that is not much larger.

Functions without their parameters, classes, files or folders stand for many tests, where that helps with an expression
of `-k` that most other tests of the run do not match; for a few tests with long ids if they select nothing else.
"""

import json
import posixpath
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from pytest_mcp.api.requests import ExecuteTests
from pytest_mcp.api.targets import can_be_asked

Arguments = dict[str, Any]
# So many tests are selected exactly: one by one, or in other words where their ids are longer than this in all.
MAX_TESTS = 5
LONG_IDS = 160
# So many names, in so many characters, may stand for others.
MAX_NAMES = 20
MAX_CHARACTERS = 800
# So many characters are as bad as a selection of twice the size.
WORTH = 100
# Of an expression, and of what is searched for one: words, and tests times words.
MAX_TERMS = 4
MAX_WORDS = 200
MAX_COMPARISONS = 2_000_000
_WORD = re.compile(r"[A-Za-z0-9.]{2,40}")
_PAIR = re.compile(r"(?<![A-Za-z0-9.])(?=([A-Za-z0-9.]{1,40}_[A-Za-z0-9.]{1,40}))")
_OPERATORS = frozenset({"and", "or", "not"})
# -k also searches the marks of a test, which nobody knows here; these are pytest's own.
_MARKS = ("parametrize", "skipif", "xfail", "usefixtures", "filterwarnings")

# The parameters that name places, and the others that choose the tests of a call.
PLACES = ("path", "node_ids")
_FILTERS = ("pattern", "markers", "keywords")
# Files of a folder that pytest imports for the tests in it. No call can name them.
_FOLDER_FILES = ("conftest.py", "__init__.py")


def rerun_arguments(
    node_ids: Sequence[str],
    request: ExecuteTests,
    *,
    ran: Sequence[str] = (),
    broken: Sequence[str] = (),
    unaskable: Sequence[str] = (),
) -> Arguments | None:
    """For the ids of failed tests, of all that `ran`, and for the files that could not be collected (`broken`)."""
    if not node_ids and not broken:
        return None
    selection = same_selection(request)
    folders = _distinct(posixpath.dirname(file) or "." for file in broken if _is_of_folder(file))
    is_partial = bool(folders) and bool(selection)
    if is_partial or "." in folders or not all(map(can_be_asked, broken)) or not set(unaskable).isdisjoint(node_ids):
        return selection
    names = [*node_ids, *folders, *(file for file in broken if not _is_of_folder(file))]
    chosen = covering(names, request.pattern, () if _leaves_out(request, len(names)) else ran)
    by_place = "keywords" not in chosen and not any("::" in name for name in names_of(chosen))
    # Of a file or a folder only what the call chose there.
    kept = {name: value for name, value in selection.items() if by_place and name in ("markers", "keywords")}
    return chosen if broken else {**chosen, **kept}


def _leaves_out(request: ExecuteTests, number: int) -> bool:
    """Whether there may be tests besides those that ran which words for so many failures could select."""
    # Of these calls, files can have more tests than ran.
    is_part = request.changed or request.last_failed or any(target.selector for _, target in request.targets)
    is_filtered = request.markers is not None or request.keywords is not None
    return bool(is_part) or (is_filtered and number <= MAX_TESTS)


def is_repetition(arguments: Arguments | None, request: ExecuteTests, failed: Iterable[str], ran: set[str]) -> bool:
    """Whether they are the call that was just made, or choose all that `ran` in it."""
    return arguments == same_selection(request) or (bool(ran) and ran.issubset(failed))


def _is_of_folder(file: str) -> bool:
    return posixpath.basename(file) in _FOLDER_FILES


def covering(names: Sequence[str], pattern: str | None, ran: Sequence[str] = ()) -> Arguments:
    """A short and narrow selection with these tests, files and folders."""
    wanted = _distinct(names)
    of_pattern = {} if pattern is None else {"pattern": pattern}
    is_few = len(wanted) <= MAX_TESTS
    if is_few and (sum(map(len, wanted)) <= LONG_IDS or not set(wanted).issubset(ran)):
        return _places(wanted) | of_pattern
    sized = list(_candidates(wanted, _distinct(ran)))
    if is_few:
        sized = [(len(wanted), _places(wanted)), *(each for each in sized if each[0] == len(wanted))]
    if not ran:
        return sized[0][1] | of_pattern
    return min(sized, key=lambda each: len(json.dumps(each[1])) + WORTH * each[0] / len(wanted))[1] | of_pattern


def _candidates(wanted: list[str], ran: list[str]) -> Iterator[tuple[int, Arguments]]:
    """Selections with all that is wanted, each with how many of the tests that ran it has."""
    functions, files = _distinct(map(_function, wanted)), _distinct(map(_file, wanted))
    classes = _distinct(map(_class, wanted))
    failed = set(wanted)
    for chosen, is_of in ((wanted, str), (functions, _function), (classes, _class), (files, _file)):
        if len(chosen) > MAX_NAMES or (chosen is not files and len(json.dumps(chosen)) > MAX_CHARACTERS):
            continue
        named = set(chosen)
        covered = [node_id for node_id in ran if is_of(node_id) in named]
        yield len(covered), _places(chosen)
        if (terms := _terms(failed, covered, exactly=len(wanted) <= MAX_TESTS)) is not None:
            matched = sum(any(term in node_id.lower() for term in terms) for node_id in covered)
            yield matched, _places(chosen) | {"keywords": " or ".join(terms)}
    if len(files) <= MAX_NAMES:
        return
    folders = _distinct(posixpath.dirname(file) or "." for file in files)
    folders = [folder for folder in folders if not any(_holds(other, folder) for other in folders)]
    listed = folders if len(folders) <= MAX_NAMES else [_covering(files)]
    in_files = Counter(map(_file, ran))
    yield sum(count for file, count in in_files.items() if _is_below(file, listed)), _places(listed)


def _terms(failed: set[str], covered: Sequence[str], *, exactly: bool) -> list[str] | None:
    """Words, one of which is in the name of each failed test, and in few others or none; None if there are none."""
    lower = {node_id: node_id.lower() for node_id in covered}
    left = [node_id for node_id in covered if node_id in failed]
    if len(left) < len(failed) or len(left) == len(covered):
        return None
    others = [lower[node_id] for node_id in covered if node_id not in failed]
    words = Counter(word for node_id in left for word in _words(lower[node_id].partition("::")[2]))
    common = words.most_common(min(MAX_WORDS, MAX_COMPARISONS // len(covered)))
    matched = {word: sum(word in other for other in others) for word, _ in common}
    if exactly:
        matched = {word: number for word, number in matched.items() if not number}
    terms: list[str] = []
    while left and len(terms) < MAX_TERMS and matched:
        gains = {
            word: sum(word in lower[each].partition("::")[2] for each in left) - cost for word, cost in matched.items()
        }
        term = max(gains, key=lambda word: gains[word])
        matched.pop(term)
        terms.append(term)
        left = [each for each in left if term not in lower[each].partition("::")[2]]
    return None if left else terms


def _words(name: str) -> list[str]:
    """Those of which an expression may consist, the short ones first."""
    words = dict.fromkeys([*_WORD.findall(name), *_PAIR.findall(name)])
    return [word for word in words if word not in _OPERATORS and not any(word in mark for mark in _MARKS)]


def _places(names: list[str]) -> Arguments:
    return {"path": names[0]} if len(names) == 1 and "::" not in names[0] else {"node_ids": names}


def _function(node_id: str) -> str:
    return node_id.partition("[")[0] if "::" in node_id else node_id


def _class(node_id: str) -> str:
    """Its file, if it is in no class."""
    return _function(node_id).rpartition("::")[0] or node_id


def _file(node_id: str) -> str:
    return node_id.partition("::")[0]


def _is_below(file: str, folders: Sequence[str]) -> bool:
    return any(folder in (".", file) or file.startswith(f"{folder}/") for folder in folders)


def _distinct(names: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(names))


def _holds(folder: str, other: str) -> bool:
    return folder != other and (folder == "." or other.startswith(f"{folder}/"))


def names_of(arguments: Arguments) -> list[str]:
    """The places that they name."""
    ids = arguments.get("node_ids")
    return [name for name in (arguments.get("path"), *(ids if isinstance(ids, list) else [])) if isinstance(name, str)]


def same_selection(request: ExecuteTests) -> Arguments:
    """The parameters that chose the tests: none if that was everything. They lead to failures that no call can name."""
    path = {} if request.path is None else {"path": request.path.relative}
    ids = {} if request.node_ids is None else {"node_ids": [target.node_id for target in request.node_ids]}
    filters = {name: getattr(request, name) for name in _FILTERS if getattr(request, name) is not None}
    return {**path, **ids, **filters}


def _covering(files: Sequence[str]) -> str:
    # Whatever a test may have written into its report: only paths inside the root can be asked for.
    if any(posixpath.isabs(file) or file.startswith("..") for file in files):
        return "."
    return posixpath.commonpath(files) or "."
