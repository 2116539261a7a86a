"""The real bugs in words: goals first, then every bug, the dearest first. Pure: results in, Markdown out."""

from collections.abc import Iterable, Sequence
from statistics import median

from bench.report import NOTHING, table
from bench.tokens.real.evidence import Share
from bench.tokens.real.libraries import LIBRARIES
from bench.tokens.real.mutants import Mutant
from bench.tokens.real.results import Entry, Pair, Results
from bench.tokens.real.runs import RECEPTOR, RTK, SHORT, WAYS

# In tokens. Where pytest prints less, an answer is mostly its keys.
LEAST_PRINTED = 250
METHOD = """\
- Each bug is one changed line in a library's source (a comparison, a boolean or arithmetic operator, a constant, a
  condition, a dropped return value, swapped arguments), chosen by a fixed seed and kept when the library's own suite
  catches it; `tokens/real/mutants.json` has them. The suites are those of the source distributions.
- Every tool runs the whole folder of tests. Ours is asked with that `path` and nothing else; receptor is
  `pytest --receptor=llm`, rtk is `rtk pytest`.
- *E lines*: of the lines that `pytest -q --tb=short` marks with `E` for the failures that our answer shows, the share
  that is whole in our text for that failure, and anywhere in the text of another tool. Explanations of comparisons and
  notes about lines that pytest left out are not counted; where it shortens a value, the whole value counts.
- *Differences*: of the parts that differ between the two sides of a comparison as `-vv` shows them, the share that our
  text for that failure shows, or counts beside what it shows.
- *Faulty file*: whether the first example's traceback goes through the changed file, where any failure's does.
- A pair is two bugs of one library at once. It is merged when a group holds failures of both."""


def document(results: Results, mutants: Sequence[Mutant]) -> str:
    named = {mutant.name: mutant for mutant in mutants if mutant.name in results.mutants}
    parts = [
        part
        for title, holdout in (("The libraries that answers are tuned on", False), ("The holdout", True))
        for part in chapter(title, results, {n: m for n, m in named.items() if is_holdout(m.library) == holdout})
    ]
    return "\n\n".join(["## Real bugs", *parts, METHOD]) + "\n"


def is_holdout(library: str) -> bool:
    return LIBRARIES[library].holdout


def chapter(title: str, results: Results, mutants: dict[str, Mutant]) -> list[str]:
    if not mutants:
        return [f"### {title}", "Nothing is measured yet."]
    entries = {name: results.mutants[name] for name in mutants}
    libraries = {mutant.library for mutant in mutants.values()}
    pairs = {name: pair for name, pair in results.pairs.items() if pair.library in libraries}
    return [f"### {title}", goals([*entries.values()], [*pairs.values()]), bugs(entries, mutants), *merged(pairs)]


def goals(every: Sequence[Entry], pairs: Sequence[Pair]) -> str:
    """Runs of which pytest prints little are apart: there an answer is mostly its keys."""
    entries = [entry for entry in every if entry.others[SHORT].tokens >= LEAST_PRINTED]
    small = [entry for entry in every if entry not in entries]
    middle, worst = f"`{SHORT}` below {LEAST_PRINTED} tokens, median", f"`{SHORT}` below {LEAST_PRINTED} tokens, worst"
    lines = [
        *against(SHORT, entries, 0.4, None),
        at_most(f"`{SHORT}`, worst row", max(ratios(entries, SHORT)), 1.0),
        *against(RECEPTOR, entries, 1.0, None),
        *against(RTK, entries, 1.3, None),
        *(line for way in WAYS if way not in (SHORT, RECEPTOR, RTK) for line in against(way, entries, None, None)),
        *([at_most(middle, median(ratios(small, SHORT)), None)] if small else []),
        *([at_most(worst, max(ratios(small, SHORT)), None)] if small else []),
        lines_whole("our answers", summed(entry.evidence for entry in every), goal=True),
        *(lines_whole(f"`{way}`", summed(entry.others[way].evidence for entry in every)) for way in WAYS),
        [
            "differences of `-vv` shown or counted in our answers",
            share(summed(entry.differing for entry in every)),
            "100 %",
            "",
        ],
        fault_shown(every),
        none("answers with a cut inside a shown text", sum(entry.cuts > 0 for entry in every), len(every)),
        none("pairs with a merged group", sum(bool(pair.merged) for pair in pairs), len(pairs)),
    ]
    return table(["over all bugs", "measured", "goal", ""], lines)


def against(way: str, entries: Sequence[Entry], middle: float | None, whole: float | None) -> list[list[str]]:
    total = sum(entry.tokens for entry in entries) / sum(entry.others[way].tokens for entry in entries)
    return [
        at_most(f"`{way}`, median of our tokens against it", median(ratios(entries, way)), middle),
        at_most(f"`{way}`, our total against its total", total, whole),
    ]


def ratios(entries: Iterable[Entry], way: str) -> list[float]:
    return [entry.tokens / entry.others[way].tokens for entry in entries]


def at_most(what: str, measured: float, goal: float | None) -> list[str]:
    if goal is None:
        return [what, f"{measured:.2f}", NOTHING, ""]
    return [what, f"{measured:.2f}", f"≤ {goal}", verdict(round(measured, 2) <= goal)]


def lines_whole(who: str, found: Share, *, goal: bool = False) -> list[str]:
    said = ["100 %", verdict(found.whole == found.lines)] if goal else [NOTHING, ""]
    return [f"E lines of our examples whole in {who}", share(found), *said]


def fault_shown(entries: Sequence[Entry]) -> list[str]:
    told = [entry.shows_fault for entry in entries if entry.shows_fault is not None]
    shown = sum(told)
    said = f"{shown} of {len(told)}"
    return ["first example shows the faulty file", said, "≥ 80 %", verdict(shown >= 0.8 * len(told))]


def none(what: str, count: int, of: int) -> list[str]:
    return [what, f"{count} of {of}", "0", verdict(count == 0)]


def verdict(met: bool) -> str:
    return "met" if met else "**missed**"


def summed(shares: Iterable[Share]) -> Share:
    listed = list(shares)
    return Share(sum(each.whole for each in listed), sum(each.lines for each in listed))


def share(found: Share) -> str:
    return f"{100 * found.whole / found.lines:.0f} %" if found.lines else NOTHING


def bugs(entries: dict[str, Entry], mutants: dict[str, Mutant]) -> str:
    head = ["bug", "change", "failing", "ours", *(f"`{way}`" for way in WAYS), f"ours : `{SHORT}`"]
    head += ["groups", "examples", "cuts", "E lines", "differences", "faulty file"]
    worst_first = sorted(entries.items(), key=lambda item: ratios([item[1]], SHORT), reverse=True)
    return table(head, [bug(entry, mutants[name]) for name, entry in worst_first])


def bug(entry: Entry, mutant: Mutant) -> list[str]:
    tokens = [f"{entry.others[way].tokens:,}" for way in WAYS]
    counts = [str(entry.groups), str(entry.examples), str(entry.cuts) if entry.cuts else NOTHING]
    seen = {True: "yes", False: "**no**", None: NOTHING}[entry.shows_fault]
    lines = [share(entry.evidence), share(entry.differing)]
    ratio = f"{entry.tokens / entry.others[SHORT].tokens:.2f}"
    wrong = "".join(f" **wrong: {complaint}**" for complaint in entry.complaints)
    place = f"{mutant.library} `{mutant.file}:{mutant.edit.line}`{wrong}"
    return [place, mutant.edit.operator, str(entry.failing), f"{entry.tokens:,}", *tokens, ratio, *counts, *lines, seen]


def merged(pairs: dict[str, Pair]) -> list[str]:
    lines = [f"- {name} share a group: `{message}`" for name, pair in pairs.items() for message in pair.merged]
    untold = sum(pair.untold for pair in pairs.values())
    note = [f"{untold} failures of the pairs are in groups that do not name them, and were not judged."]
    return [*(["\n".join(lines)] if lines else []), *(note if untold else [])]
