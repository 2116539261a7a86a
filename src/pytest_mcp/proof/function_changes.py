"""What one function demands less than before: its checks, its marks, its parameters, its fixtures."""

import ast
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from pytest_mcp.proof.checks import Check
from pytest_mcp.proof.claims import last_name, one_line, truth
from pytest_mcp.proof.edits import Weakening
from pytest_mcp.proof.marks import Parameters, is_lame
from pytest_mcp.proof.pairing import Moved, pairs_of_checks
from pytest_mcp.proof.reach import Reach, after, guarded, is_skip
from pytest_mcp.proof.strength import SOMETHING, form_of, judged, main_subject, subjects
from pytest_mcp.proof.suite import Function

# Rows of parameters that are named.
_MOST_ROWS = 3


@dataclass(frozen=True)
class FunctionChange:
    old: Function
    new: Function
    moved: Moved
    parents: Mapping[str, str]
    # Whether settings deselect a test with these marks.
    deselects: Callable[[frozenset[str]], bool]

    def weakenings(self) -> Iterator[Weakening]:
        yield from self._marks()
        yield from self._parameters()
        if not self.old.is_like(self.new):
            skips = list(self._skips())
            yield from skips
            if not any(each.is_strong for each in skips):
                yield from self._checks()

    def told(self, line: int, what: str, before: str, after: str, is_strong: bool = True) -> Weakening:
        return Weakening(self.new.file, line, what, before, after, is_strong)

    def _marks(self) -> Iterator[Weakening]:
        known = {(each.name, certain) for each in self.old.marks for certain in (each.is_certain, False)}
        for mark in self.new.marks:
            if (mark.name, mark.is_certain) not in known and is_lame(mark):
                what = "its decorator drops it" if mark.name == "nothing" else f"newly marked {mark.name}"
                same = next((each.text for each in self.old.marks if each.name == mark.name), self.old.last)
                yield self.told(
                    mark.line,
                    what,
                    same,
                    mark.text,
                    mark.is_certain,
                )
        names, before = (frozenset(mark.name for mark in each.marks) for each in (self.new, self.old))
        if self.new.is_test and self.deselects(names) and not self.deselects(before):
            added = ", ".join(sorted(names - before)) or "its marks"
            yield self.told(self.new.node.lineno, f"deselected by settings: {added}", self.old.last, self.new.last)

    def _skips(self) -> Iterator[Weakening]:
        known = Counter(text for _, text, _ in skips_in(self.old.node))
        for line, text, certain in skips_in(self.new.node):
            known[text] -= 1
            if known[text] < 0:
                what = "skips" if self.new.is_test else "skips the tests that use it"
                yield self.told(line, what, self.old.last, text, certain)

    def _parameters(self) -> Iterator[Weakening]:
        for old in self.old.parameters:
            new = self._now(old)
            if new is None:
                yield from self._without(old)
            elif old.rows is not None and new.rows is not None:
                yield from self._fewer(old.rows, new)

    def _now(self, old: Parameters) -> Parameters | None:
        exact = [each for each in self.new.parameters if each.names == old.names]
        if exact or len(self.new.parameters) != len(self.old.parameters):
            return exact[0] if exact else None
        return self.new.parameters[self.old.parameters.index(old)]

    def _without(self, old: Parameters) -> Iterator[Weakening]:
        """Unless the names come from elsewhere now, or the rows stand in the body or became functions."""
        names = {each.strip() for each in old.names.split(",")}
        used = {each.arg for each in ast.walk(self.new.node.args) if isinstance(each, ast.arg)}
        rows = [each for each in old.rows or () if each not in self.new.body]
        if len(rows) > 1 and not used & names and not self.moved.is_split(self.new.file, len(rows)):
            what = f"{old.names}: {len(old.rows or ())} rows"
            yield self.told(self.new.node.lineno, "parameters removed", what, "", False)

    def _fewer(self, before: Sequence[str], new: Parameters) -> Iterator[Weakening]:
        now = new.rows or ()
        gone = list((Counter(before) - Counter(now)).elements())
        lame = [each for each in now if " # " in each and each not in before]
        lost = [each for each in gone if each not in now and not self.moved.has_row(each)]
        if len(now) < len(before) and lost:
            some = "; ".join(lost[:_MOST_ROWS]) + " …" * (len(lost) > _MOST_ROWS)
            yield self.told(new.line, f"parameters removed: {len(before) - len(now)} of {len(before)}", some, "")
        for each in lame:
            if each.partition(" # ")[0] in before:
                yield self.told(new.line, "a row is newly skipped", each.partition(" # ")[0], each)

    def _checks(self) -> Iterator[Weakening]:
        pairs, lost, added = pairs_of_checks(self.old.checks, self.new.checks)
        unreached: dict[str, list[Check]] = {}
        for before, now in pairs:
            found = judged(before, now, self.parents)
            if found is not None and found.what.startswith("never") and before.text == now.text:
                unreached.setdefault(found.what, []).append(now)
            elif found is not None and not (form_of(now.claim).rank > 0 and self._covered(before, added)):
                yield self.told(now.line, found.what, before.written, now.written, found.is_strong)
        for what, checks in unreached.items():
            more = f" and {len(checks) - 1} more" if len(checks) > 1 else ""
            yield self.told(checks[0].line, what, checks[0].written + more, checks[0].written)
        known = {each.text for each in self.old.checks}
        changed = [*added, *(now for before, now in pairs if now.text not in known and not judged(before, now, {}))]
        again = {each.key for each in self.new.checks}
        deleted = self.moved.really_lost(self.old, self.new, lost)
        is_rewritten = any(self._rewritten(each, changed) for each in deleted)
        for each in deleted:
            # Of several branches one stays.
            is_branch = bool(each.reach.guards) and self._covered(each, self.new.checks)
            strong = not is_rewritten and not is_branch and each.key not in again
            yield self.told(self._line_near(each), "check deleted", each.written, "", strong)

    def _line_near(self, lost: Check) -> int:
        return min(self.new.node.lineno + lost.line - self.old.node.lineno, self.new.node.end_lineno or 0)

    def _covered(self, before: Check, added: Sequence[Check]) -> bool:
        """Other new checks look at the same thing."""
        wanted = main_subject(before.claim)
        return any(wanted in subjects(each.claim) and form_of(each.claim).rank > SOMETHING for each in added)

    def _rewritten(self, lost: Check, added: Sequence[Check]) -> bool:
        """Something else is checked in its place."""
        real = [each for each in added if not each.is_constant and not each.reach.never and not each.reach.swallowed]
        ours = [each for each in real if last_name(each.claim) in self.moved.helpers]
        demanding = [*ours, *(each for each in real if each.is_raising or form_of(each.claim).rank > SOMETHING)]
        names = subjects(lost.inlined)
        return any(each.is_raising or lost.is_raising or names & subjects(each.inlined) for each in demanding)


def skips_in(function: ast.AST) -> Iterator[tuple[int, str, bool]]:
    """Line, text and whether nothing decides it, of calls that skip the test."""
    yield from _skips(getattr(function, "body", []), Reach())


def _skips(body: Sequence[ast.stmt], reach: Reach) -> Iterator[tuple[int, str, bool]]:
    for node in body:
        if isinstance(node, ast.Expr | ast.Return | ast.Assign) and node.value is not None and is_skip(node.value):
            if not reach.never and last_name(node.value) != "exit":
                yield node.lineno, one_line(node), not reach.guards
        elif isinstance(node, ast.Raise) and node.exc is not None and "Skip" in last_name(node.exc):
            yield node.lineno, one_line(node), not reach.guards
        for inner, is_certain in _inner(node):
            yield from _skips(inner, reach if is_certain else guarded(reach, ""))
        reach = after(node, reach)


def _inner(node: ast.stmt) -> Iterator[tuple[Sequence[ast.stmt], bool]]:
    """Blocks of a statement that can run, and whether they do."""
    known = truth(node.test) if isinstance(node, ast.If) else None
    if known is not False and not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        yield getattr(node, "body", []), known is True or isinstance(node, ast.With | ast.Try)
    if known is not True:
        yield getattr(node, "orelse", []), known is False
    for each in getattr(node, "handlers", []):
        yield each.body, False
