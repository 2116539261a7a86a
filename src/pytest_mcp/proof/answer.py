"""From what was found to the answer: the verdict, and of everything as much as a person reads.

Survivors that miss the same check are one entry. Entries beyond the limits are counted in a notice.
"""

from itertools import chain

from pytest_mcp.proof.at_base import ShownAtBase, function_of, with_kills
from pytest_mcp.proof.findings import ProofFindings, Trials
from pytest_mcp.proof.result import (
    CheckResult,
    NewTest,
    NotCovered,
    ProofSummary,
    ProofVerdict,
    SeenAtBase,
    Survivor,
    WeakenedTest,
)
from pytest_mcp.proof.weakening import Weakening
from pytest_mcp.report.coverage import ranges_of
from pytest_mcp.text import few, in_line, label

# The most entries that are listed of each kind.
MAX_NEW, MAX_WEAKENED, MAX_SURVIVORS, MAX_FILES, MAX_RERUN = 10, 10, 8, 8, 20
# How many new tests are listed that prove the change.
LISTED_PROVING = 3
# Of one text, in characters.
MAX_TEXT = 110
MAX_RANGES = 12
_WORST_FIRST: tuple[SeenAtBase, ...] = ("flaky", "passes", "unknown", "missing", "proves")


def proof_answer(findings: ProofFindings) -> CheckResult:
    at_base = with_kills(findings.at_base, findings.trials.killers)
    summary = _summary(findings, at_base)
    survivors = _survivors(findings.trials)
    strong = [each for each in findings.edits.weakened if each.is_strong]
    weakened = [*strong, *(each for each in findings.edits.weakened if not each.is_strong)]
    return CheckResult(
        verdict=verdict_of(summary, has_change=findings.has_change, is_whole=_is_whole(findings), weakened=len(strong)),
        summary=summary,
        new_tests=_new_tests(findings, at_base),
        weakened=[
            WeakenedTest(file=in_line(each.file), line=each.line, **_texts(each)) for each in weakened[:MAX_WEAKENED]
        ],
        survivors=survivors[:MAX_SURVIVORS],
        not_covered=_not_covered(findings),
        notices=[*findings.notices, *_notices(findings, at_base, len(survivors))],
        rerun={"node_ids": list(findings.failing)[:MAX_RERUN]} if findings.failing else None,
    )


def verdict_of(summary: ProofSummary, *, has_change: bool, is_whole: bool, weakened: int) -> ProofVerdict:
    """The one function that says `proven`: the first that applies."""
    is_shown = summary.proving or summary.missing or summary.killed
    cases: tuple[tuple[bool, ProofVerdict], ...] = (
        (not has_change, "no_change"),
        (summary.failed > 0, "failing"),
        (weakened > 0, "tests_weakened"),
        (not is_whole or not is_shown, "unproven"),
        (summary.survived > 0 or summary.covered_lines < summary.changed_lines, "weak"),
        (summary.missing > 0 and not summary.proving, "weak"),
    )
    return next((verdict for applies, verdict in cases if applies), "proven")


def _is_whole(findings: ProofFindings) -> bool:
    """Whether all tests could run that the change reaches and were compared, and no failure is left open."""
    trials = findings.trials
    return (
        findings.are_tests_compared
        and not findings.unconfirmed
        and len(trials.probed) >= trials.selected
        and (bool(trials.probed) or not findings.is_cut_short)
    )


def _summary(findings: ProofFindings, at_base: dict[str, ShownAtBase]) -> ProofSummary:
    trials, seen = findings.trials, [each.seen for each in at_base.values()]
    changed, uncovered = (sum(map(len, each.values())) for each in (findings.changed, findings.uncovered))
    return ProofSummary(
        tests=len(trials.probed),
        failed=len(findings.failing),
        proving=seen.count("proves"),
        missing=seen.count("missing"),
        passing_at_base=seen.count("passes"),
        unknown_at_base=seen.count("unknown") + seen.count("flaky"),
        killed=len(trials.of("killed")),
        survived=len(trials.of("survived")),
        not_tried=trials.not_tried,
        changed_lines=changed,
        covered_lines=changed - uncovered,
    )


def _new_tests(findings: ProofFindings, at_base: dict[str, ShownAtBase]) -> list[NewTest]:
    known = [each for each in findings.edits.new if each in at_base]
    new = {seen: [each for each in known if at_base[each].seen == seen] for seen in _WORST_FIRST}
    proving = new.pop("proves")[:LISTED_PROVING]
    listed = [*chain.from_iterable(new.values())][:MAX_NEW] + proving
    return [NewTest(node_id=in_line(name), at_base=at_base[name].seen, why=_cut(at_base[name].why)) for name in listed]


def _texts(each: Weakening) -> dict[str, str]:
    return {"what": _cut(each.what), "before": _cut(each.before), "after": _cut(each.after)}


def _survivors(trials: Trials) -> list[Survivor]:
    """One for each check that is missing, and each text."""
    seen: set[object] = set()
    found = []
    for tried in trials.of("survived"):
        mutant = trials.mutants[tried.number]
        keys = {(mutant.file, mutant.check), (mutant.before, mutant.after)}
        if seen.isdisjoint(keys):
            tests = [in_line(test) for test in dict.fromkeys(map(function_of, tried.tests))][:2]
            sides = {"before": _cut(mutant.before), "after": _cut(mutant.after)}
            found.append(Survivor(file=in_line(mutant.file), line=mutant.line, **sides, tests=tests))
        seen |= keys
    return found


def _not_covered(findings: ProofFindings) -> list[NotCovered]:
    files = sorted(findings.uncovered.items(), key=lambda pair: (-len(pair[1]), pair[0]))[:MAX_FILES]
    return [NotCovered(file=in_line(file), lines=_shown(ranges_of(lines))) for file, lines in files]


def _shown(ranges: str) -> str:
    parts = ranges.split(",")
    return ",".join(parts[:MAX_RANGES]) + (f",… ({len(parts) - MAX_RANGES} more)" if len(parts) > MAX_RANGES else "")


def _notices(findings: ProofFindings, at_base: dict[str, ShownAtBase], survivors: int) -> list[str]:
    trials = findings.trials
    fails = [f"{label(name)} fails: {outcome.words}" for name, outcome in findings.failing.items()]
    notices = [few(fails)] if fails else []
    missing = trials.selected - len(trials.probed)
    if missing > 0 and not findings.failing:
        notices.append(f"{missing} of {trials.selected} tests that the change reaches were not run: the time was over")
    if findings.unconfirmed and not findings.failing:
        names = few(map(label, findings.unconfirmed))
        notices.append(
            f"failed in a copy of the checkout, and not known whether here too, so nothing is proven: {names}"
        )
    if findings.is_cut_short:
        notices.append("the time was over before everything was tried; a longer timeout tells more")
    lengths = {
        "weakened": (len(findings.edits.weakened), MAX_WEAKENED),
        "survivors": (survivors, MAX_SURVIVORS),
        "not_covered": (len(findings.uncovered), MAX_FILES),
    }
    notices += [f"{name} shows {most} of {number}" for name, (number, most) in lengths.items() if number > most]
    if trials.ledger.changed_code is not None and trials.ledger.changed_code.threads:
        notices.append("threads begin during the imports, so few mutants could be tried")
    if values := findings.edits.values:
        where = few(f"{label(each.file)}:{each.line} {_cut(each.before)} -> {_cut(each.after)}" for each in values)
        notices.append(f"expected values changed, which is not judged: {where}")
    if any(each.seen == "passes" for name, each in at_base.items() if name in findings.edits.new):
        notices.append("new tests that pass at the base prove nothing of this change; they may pin what it keeps")
    return notices


def _cut(text: str) -> str:
    line = in_line(" ".join(text.split()))
    return line if len(line) <= MAX_TEXT else f"{line[: MAX_TEXT - 1]}…"
