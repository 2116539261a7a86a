"""The report of `pytest-mcp check`, with the most important line last, and the comment of a pull request."""

from collections.abc import Sequence

from pytest_mcp.proof.result import VERDICTS_IN_WORDS, CheckResult, ProofVerdict, SeenAtBase, Survivor, WeakenedTest
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


def check_lines(result: CheckResult, painter: Painter, *, again: str | None) -> Lines:
    """`again` is the command that runs the failures again."""
    titles = {
        "Changed lines that no test ran:": [f"{each.file}:{each.lines}" for each in result.not_covered],
        "New tests:": new_tests(result),
        "Survivors (edits that no test notices):": _edits(result.survivors, ""),
        "Weakened tests:": [line for each in result.weakened for line in _edits([each], each.what)],
    }
    verdict = painter.paint(VERDICTS_IN_WORDS[result.verdict], "bold", _COLOURS.get(result.verdict, "red"))
    return spaced(
        [
            *(
                [painter.paint(title, "bold"), *(f"  {safe_line(line)}" for line in lines)] if lines else []
                for title, lines in titles.items()
            ),
            lines_of_notices(result.notices, painter),
            [f"To run the failures again: {safe_line(again)}"] if again else [],
            [f"{verdict}; {counts(result)}"],
        ]
    )


def new_tests(result: CheckResult) -> list[str]:
    return [f"{each.node_id} {_SEEN[each.at_base]}{f': {each.why}' if each.why else ''}" for each in result.new_tests]


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
    for title, rows in (
        (
            "Weakened tests",
            [f"`{each.file}:{each.line}` {each.what}: {_code(each.before, each.after)}" for each in result.weakened],
        ),
        (
            "Edits that no test notices",
            [f"`{each.file}:{each.line}` {_code(each.before, each.after)}" for each in result.survivors],
        ),
        ("Changed lines that no test ran", [f"`{each.file}`: {each.lines}" for each in result.not_covered]),
        ("New tests", [_escaped(each) for each in new_tests(result)]),
        ("Notices", [_escaped(each) for each in result.notices]),
    ):
        lines += ["", f"**{title}**", "", *(f"- {safe_line(row)}" for row in rows)] if rows else []
    return "\n".join(lines)


def _edits(entries: Sequence[Survivor | WeakenedTest], what: str) -> Lines:
    places = {f"{each.file}:{each.line} {what}".rstrip(): each for each in entries}
    sides = {place: [f"  - {each.before}", f"  + {each.after or '(nothing)'}"] for place, each in places.items()}
    return [line for place, both in sides.items() for line in (place, *both)]


def _code(before: str, after: str) -> str:
    sides = [f"`{side.replace('`', chr(39))}`" if side else "nothing" for side in (before, after)]
    return " → ".join(sides)


def _escaped(text: str) -> str:
    """A name from the project is no markup, and mentions nobody."""
    return "".join(f"\\{each}" if each in "\\`*_{}[]<>#|~" else each for each in text).replace("@", "@\u2060")
