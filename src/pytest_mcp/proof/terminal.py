"""The report of `pytest-mcp check`, with the most important line last, and the comment of a pull request."""

from typing import NamedTuple

from pytest_mcp.proof.result import VERDICTS_IN_WORDS, CheckResult, ProofVerdict, SeenAtBase
from pytest_mcp.terminal.colours import Colour, Lines, Painter, lines_of_notices, spaced
from pytest_mcp.text import safe_line

_COLOURS: dict[ProofVerdict, Colour] = {"proven": "green", "no_change": "green", "weak": "yellow"}
_SEEN: dict[SeenAtBase, str] = {
    "proves": "fails at the base",
    "missing": "fails at the base only because something does not exist there",
    "passes": "passes at the base too",
    "unknown": "not known at the base",
    "flaky": "does not always pass",
}


class Entry(NamedTuple):
    """Both sides are empty where nothing is compared."""

    words: str
    before: str = ""
    after: str = ""


def sections(result: CheckResult) -> dict[str, list[Entry]]:
    """What is listed, by its title: the worst first."""
    found = {
        "Weakened tests": [Entry(f"{e.file}:{e.line} {e.what}", e.before, e.after) for e in result.weakened],
        "Edits that no test notices": [Entry(f"{e.file}:{e.line}", e.before, e.after) for e in result.survivors],
        "Changed lines that no test ran": [Entry(f"{e.file}:{e.lines}") for e in result.not_covered],
        "New tests": [
            Entry(f"{e.node_id} {_SEEN[e.at_base]}{f': {e.why}' if e.why else ''}") for e in result.new_tests
        ],
    }
    return {title: entries for title, entries in found.items() if entries}


def check_lines(result: CheckResult, painter: Painter, *, again: str | None) -> Lines:
    """`again` is the command that runs the failures again."""
    verdict = painter.paint(VERDICTS_IN_WORDS[result.verdict], "bold", _COLOURS.get(result.verdict, "red"))
    blocks = [
        [painter.paint(f"{title}:", "bold"), *(f"  {safe_line(line)}" for entry in entries for line in _lines(entry))]
        for title, entries in reversed(sections(result).items())
    ]
    last = [f"To run the failures again: {safe_line(again)}"] if again else []
    return spaced([*blocks, lines_of_notices(result.notices, painter), last, [f"{verdict}; {counts(result)}"]])


def counts(result: CheckResult) -> str:
    """On one line."""
    summary = result.summary
    parts = {
        "tests ran": summary.tests,
        "failed": summary.failed,
        "prove it": summary.proving,
        "mutants killed": summary.killed,
        "survived": summary.survived,
        "not tried": summary.not_tried,
    }
    told = [f"{number} {words}" for words, number in parts.items() if number]
    lines = f"{summary.covered_lines} of {summary.changed_lines} changed lines covered"
    return ", ".join([*told, *([lines] if summary.changed_lines else [])]) or "nothing to run"


def comment(result: CheckResult) -> str:
    """Markdown for a pull request."""
    lines = [f"**Do the tests prove this change? {VERDICTS_IN_WORDS[result.verdict].capitalize()}.** {counts(result)}."]
    notices = {"Notices": [Entry(each) for each in result.notices]} if result.notices else {}
    for title, entries in {**sections(result), **notices}.items():
        lines += ["", f"**{title}**", "", *(f"- {safe_line(_escaped(each.words) + _sides(each))}" for each in entries)]
    return "\n".join(lines)


def _lines(entry: Entry) -> list[str]:
    return [entry.words, *([f"  - {entry.before}", f"  + {entry.after or '(nothing)'}"] if entry.before else [])]


def _sides(entry: Entry) -> str:
    before, after = (f"`{side.replace('`', chr(39))}`" if side else "nothing" for side in entry[1:])
    return f": {before} → {after}" if entry.before else ""


def _escaped(text: str) -> str:
    """A name from the project is no markup, and mentions nobody."""
    return "".join(f"\\{each}" if each in "\\`*_{}[]<>#|~" else each for each in text).replace("@", "@\u2060")
