"""From what was found to the answer: the verdict, and of everything as much as a person reads.

Survivors that miss the same check are one entry. Entries beyond the limits are counted in a notice.
"""

from pytest_mcp.proof.at_base import ShownAtBase, function_of, with_kills
from pytest_mcp.proof.change import ranges_of
from pytest_mcp.proof.check import ProofFindings
from pytest_mcp.proof.edits import Weakening
from pytest_mcp.proof.result import (
    CheckResult,
    NewTest,
    NotCovered,
    ProofSummary,
    SeenAtBase,
    Survivor,
    WeakenedTest,
)
from pytest_mcp.proof.trials import Trials
from pytest_mcp.proof.verdict import ProofEvidence, verdict_of
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
    trials = findings.trials
    at_base = with_kills(findings.at_base, trials.killers)
    survivors = _survivors(trials)
    evidence = evidence_of(findings, at_base)
    new = sorted(
        (name for name in findings.new if name in at_base), key=lambda name: _WORST_FIRST.index(at_base[name].seen)
    )
    listed = [
        name
        for place, name in enumerate(new)
        if place < (LISTED_PROVING if at_base[name].seen == "proves" else MAX_NEW)
    ]
    strong = sorted(findings.edits.weakened, key=lambda each: not each.is_strong)
    return CheckResult(
        verdict=verdict_of(evidence),
        summary=_summary(findings, at_base),
        new_tests=[_new_test(name, at_base[name]) for name in listed],
        weakened=[_weakened(each) for each in strong[:MAX_WEAKENED]],
        survivors=survivors[:MAX_SURVIVORS],
        not_covered=_not_covered(findings),
        notices=[*findings.notices, *_notices(findings, at_base, len(survivors))],
        rerun={"node_ids": list(findings.failing)[:MAX_RERUN]} if findings.failing else None,
    )


def evidence_of(findings: ProofFindings, at_base: dict[str, ShownAtBase]) -> ProofEvidence:
    trials = findings.trials
    seen = [each.seen for each in at_base.values()]
    return ProofEvidence(
        has_change=findings.has_change,
        failing=len(findings.failing),
        is_whole=len(trials.probed) >= trials.selected and not (findings.is_cut_short and not trials.probed),
        weakened=sum(each.is_strong for each in findings.edits.weakened),
        proving=seen.count("proves"),
        missing=seen.count("missing"),
        killed=len(trials.killed),
        survived=len(trials.places("survived")),
        uncovered=sum(map(len, findings.uncovered.values())),
    )


def _summary(findings: ProofFindings, at_base: dict[str, ShownAtBase]) -> ProofSummary:
    trials, seen = findings.trials, [each.seen for each in at_base.values()]
    changed = sum(map(len, findings.changed.values()))
    return ProofSummary(
        tests=len(trials.probed),
        failed=len(findings.failing),
        proving=seen.count("proves"),
        missing=seen.count("missing"),
        passing_at_base=seen.count("passes"),
        unknown_at_base=seen.count("unknown") + seen.count("flaky"),
        killed=len(trials.killed),
        survived=len(trials.places("survived")),
        not_tried=trials.not_tried,
        changed_lines=changed,
        covered_lines=changed - sum(map(len, findings.uncovered.values())),
    )


def _new_test(name: str, at_base: ShownAtBase) -> NewTest:
    return NewTest(node_id=in_line(name), at_base=at_base.seen, why=_cut(at_base.why))


def _weakened(each: Weakening) -> WeakenedTest:
    return WeakenedTest(
        file=in_line(each.file), line=each.line, what=_cut(each.what), before=_cut(each.before), after=_cut(each.after)
    )


def _survivors(trials: Trials) -> list[Survivor]:
    """One for each statement and each text; those of forks first, which tell more."""
    by_check: dict[object, int] = {}
    for place in sorted(trials.places("survived"), key=lambda each: (bool(trials.tried[each].why), each)):
        mutant = trials.mutants[place]
        if (mutant.file, mutant.first) not in by_check and (mutant.before, mutant.after) not in by_check:
            by_check[mutant.file, mutant.first] = place
            by_check[mutant.before, mutant.after] = place
    found = [(trials.mutants[place], trials.tried[place]) for place in dict.fromkeys(by_check.values())]
    return [
        Survivor(
            file=in_line(mutant.file),
            line=mutant.line,
            before=_cut(mutant.before),
            after=_cut(mutant.after),
            tests=[in_line(test) for test in dict.fromkeys(map(function_of, tried.tests))][:2],
        )
        for mutant, tried in found
    ]


def _not_covered(findings: ProofFindings) -> list[NotCovered]:
    files = sorted(findings.uncovered.items(), key=lambda pair: (-len(pair[1]), pair[0]))[:MAX_FILES]
    return [NotCovered(file=in_line(file), lines=_shown(ranges_of(lines))) for file, lines in files]


def _shown(ranges: str) -> str:
    parts = ranges.split(",")
    return ",".join(parts[:MAX_RANGES]) + (f",… ({len(parts) - MAX_RANGES} more)" if len(parts) > MAX_RANGES else "")


def _notices(findings: ProofFindings, at_base: dict[str, ShownAtBase], survivors: int) -> list[str]:
    trials = findings.trials
    notices = [_failing(findings)] if findings.failing else []
    missing = trials.selected - len(trials.probed)
    if missing > 0 and not findings.failing:
        notices.append(f"{missing} of {trials.selected} tests that the change reaches were not run: the time was over")
    if findings.is_cut_short:
        notices.append("the time was over before everything was tried; a longer timeout tells more")
    if harmful := trials.places("harmful"):
        where = few(f"{trials.mutants[each].file}:{trials.mutants[each].line}" for each in harmful)
        notices.append(f"not tried to the end, because it ended the process or deleted its files: a mutant of {where}")
    notices += [
        f"{name} shows {most} of {number}" for name, number, most in _lengths(findings, survivors) if number > most
    ]
    if trials.code is not None and trials.code.threads:
        notices.append("threads begin during the imports, so few mutants could be tried")
    if trials.starts_processes and findings.uncovered:
        notices.append("tests start other processes; what runs only there counts as not covered")
    if values := findings.edits.values:
        where = few(f"{label(each.file)}:{each.line} {_cut(each.before)} -> {_cut(each.after)}" for each in values)
        notices.append(f"expected values changed, which is not judged: {where}")
    if any(each.seen == "passes" for name, each in at_base.items() if name in findings.new):
        notices.append("new tests that pass at the base prove nothing of this change; they may pin what it keeps")
    return notices


def _lengths(findings: ProofFindings, survivors: int) -> list[tuple[str, int, int]]:
    """How many entries of each list there are, and how many are shown."""
    return [
        ("weakened", len(findings.edits.weakened), MAX_WEAKENED),
        ("survivors", survivors, MAX_SURVIVORS),
        ("not_covered", len(findings.uncovered), MAX_FILES),
    ]


def _failing(findings: ProofFindings) -> str:
    name, outcome = next(iter(findings.failing.items()))
    number = len(findings.failing)
    others = f" and {few(map(label, list(findings.failing)[1:]))} fail" if number > 1 else " fails"
    return f"{label(name)}{others}: {outcome.words}"


def _cut(text: str) -> str:
    line = in_line(" ".join(text.split()))
    return line if len(line) <= MAX_TEXT else f"{line[: MAX_TEXT - 1]}…"
