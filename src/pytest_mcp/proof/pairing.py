"""What belongs together before and after a change: functions that were renamed or moved, and checks in them."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from difflib import SequenceMatcher

from pytest_mcp.proof.checks import CheckInTest
from pytest_mcp.proof.claims import words_in
from pytest_mcp.proof.strength import is_about, subject
from pytest_mcp.proof.suite import Function, Id, is_fixture

# How much of two bodies, or of two checks, is the same if the one became the other.
SIMILAR_BODIES, SIMILAR_CHECKS = 0.6, 0.5
# How many names of a check another function must have, that it may be made there now.
_SHARED_NAMES = 1 / 3
_DEFINED = re.compile(
    r"\b(?:def|class)\s+(\w+)|^(?: {4})?(\w+)(?: *=[^=]|: \w)|\bself\.(\w+)(?: *=[^=]|: )", re.MULTILINE
)

# Checks that belong together, those that are lost, and those that are new.
Paired = tuple[list[tuple[CheckInTest, CheckInTest]], list[CheckInTest], list[CheckInTest]]


def renamed(gone: Sequence[Function], fresh: Sequence[Function]) -> dict[Id, Id]:
    """The most similar ones first."""
    scores = ((_likeness(old, new), old.id, new.id) for old in gone for new in fresh)
    found: dict[Id, Id] = {}
    for _, old, new in sorted((each for each in scores if each[0] >= SIMILAR_BODIES), reverse=True):
        if old not in found and new not in found.values():
            found[old] = new
    return found


def _likeness(old: Function, new: Function) -> float:
    if is_fixture(old.node) != is_fixture(new.node):
        return 0
    if old.body == new.body:
        return 2 + (old.last == new.last)
    # A test of the same name is the same test; in another class, unless nearly nothing of it is left.
    bonus = SIMILAR_BODIES if old.name == new.name else 0.4 if old.last == new.last else 0
    matcher = SequenceMatcher(None, old.body.split(), new.body.split(), autojunk=False)
    return matcher.ratio() + bonus if matcher.quick_ratio() + bonus >= SIMILAR_BODIES else 0


def paired(before: Sequence[CheckInTest], now: Sequence[CheckInTest]) -> Paired:
    """Equal ones, then similar ones."""
    pairs: list[tuple[CheckInTest, CheckInTest]] = []
    old, new = list(before), list(now)
    for check in before:
        twin = next((each for each in new if each.key == check.key), None)
        if twin is not None:
            pairs.append((check, twin))
            old.remove(check)
            new.remove(twin)
    scores = [(score, i, j) for i, a in enumerate(old) for j, b in enumerate(new) if (score := _alike(a, b))]
    olds, news = dict(enumerate(old)), dict(enumerate(new))
    for _, i, j in sorted(scores, reverse=True):
        if i in olds and j in news:
            pairs.append((olds.pop(i), news.pop(j)))
    return pairs, list(olds.values()), list(news.values())


def _alike(old: CheckInTest, new: CheckInTest) -> float:
    if old.is_raising != new.is_raising:
        return 0
    shares = old.is_raising or is_about(new.claim, subject(old.claim))
    likeness = SequenceMatcher(None, old.key, new.key, autojunk=False).ratio() + 0.5 * shares
    return likeness if likeness >= SIMILAR_CHECKS or (new.is_constant and not old.is_constant) else 0


class Elsewhere:
    """Where a check that is gone may be made now: in functions that are new, or have more checks or rows."""

    def __init__(self, pairs: Iterable[tuple[Function | None, Function]], undefined: set[str]) -> None:
        """`undefined` are names that are defined nowhere now."""
        self._undefined = undefined
        self._keys: Counter[str] = Counter()
        self.grown: list[Function] = []
        # Files of which a test stands in another one now.
        self._split: set[str] = set()
        for old, new in pairs:
            self._split |= {old.file} if old is not None and old.file != new.file else set()
            gained = Counter[str]() if old and old.body == new.body else _keys(new) - (_keys(old) if old else Counter())
            self._keys += gained
            self.grown += [new] if old is None or gained or _rows(new) - _rows(old) else []

    def takes(self, check: CheckInTest) -> bool:
        """As it is, each found once; or with all that is written in it, as it is in rows and loops."""
        self._keys[check.key] -= 1
        words = check.names | words_in(check.claim)
        return self._keys[check.key] >= 0 or (bool(check.names) and any(words <= each.words for each in self.grown))

    def may_have(self, check: CheckInTest) -> bool:
        """Also if what it was about is gone."""
        shared = max((len(check.names & each.words) for each in self.grown), default=-1)
        return bool(check.names & self._undefined) or shared >= len(check.names) * _SHARED_NAMES

    def may_have_test(self, old: Function) -> bool:
        """Others of its file may have gone before, to files that did not change; or what it is about is gone."""
        names = [each.last for each in self.grown if each.is_test]
        has_name = any(each in old.last or old.last in each for each in names)
        return has_name or old.file in self._split or not self._undefined.isdisjoint(re.findall(r"\w+", old.body))


def _rows(function: Function) -> set[str]:
    return {row for each in function.scope.parameters for row in each.rows or ()}


def _keys(function: Function) -> Counter[str]:
    return Counter(each.key for each in function.walk.checks)


def definitions(sources: Mapping[str, str | None]) -> set[str]:
    found = (_DEFINED.findall(text) for path, text in sources.items() if text and path.endswith(".py"))
    return {name for names in found for groups in names for name in groups if name}
