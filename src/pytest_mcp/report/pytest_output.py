"""What pytest printed, less what other keys of the answer hold already.

Left out are the header, the progress, the failures, the warnings and the summary; what remains is what plugins and
hooks say, and raw output of tests under `-s`.
"""

import re
from functools import partial

# Where the closing line is looked for.
LAST_LINES = 50
_COLOUR = re.compile("\x1b\\[[0-9;:]*m")
_SECTION = re.compile(r"^=+ (.+?) =+$")
# How the closing line begins, and what stands behind its last " in ".
_COUNTS = re.compile(r"\d++ \w|no tests (?:ran|collected)")
_TIME = re.compile(r"(?<![\d.])[\d.]++s(?: \([^()]*+\))?")
# Sections whose content stands in `tests`, `failure_groups` or `collection_errors`.
_HELD_ELSEWHERE = frozenset(
    {"FAILURES", "ERRORS", "PASSES", "XFAILURES", "XPASSES", "short test summary info", "warnings summary"}
)
# How the last line of the warnings begins; what plugins say may follow it without a title.
_END_OF_WARNINGS = "-- Docs: "
# Tables for people: of pytest-cov, --durations and pytest-benchmark. The title of one, and what stands in it.
_TITLE = re.compile(
    r"^[=_-]{3,}+ (?:tests coverage|coverage: platform .*|slowest (?:\d++ )?durations|benchmark\b.*: \d++ tests?)"
    r" [=_-]{3,}+$"
)
_ROW = re.compile(
    r"^(?:|[-─]{3,}+|Name\b.*|\d++ files? skipped due to .*|\d[\d.]*+s (?:call|setup|teardown)\s.*"
    r"|\(\d++ durations? < .*|Legend:|  (?:Outliers|OPS): .*|\S++ ++\d[\d.,]*+ \(.*)$"
)
# What their plugins say beside them, and pytest-sugar of its progress.
_FOR_PEOPLE = re.compile(
    r"^(?:Coverage \w++ written to .*|Required test coverage of [\d.]+% reached\. .*|Wrote benchmark data in: .*"
    r"|(?:.* )?[✓\u2a2f✗sxX]++ ++\d++% [█▉▊▋▌▍▎▏ ]++)$"
)
# Counts that the summary of an answer does not have.
_MORE_COUNTS = re.compile(r"(\d{1,9}) (xfailed|xpassed|deselected|rerun)")
_DESELECTED = re.compile(r"(, |)\b(\d{1,15}) deselected(, |)")
_HEADER = re.compile(
    r"^(?:platform .* -- Python |cachedir: |rootdir: |configfile: |testpaths: |plugins: |collecting |collected \d"
    r"|metadata: |run-last-failure: |scheduling tests via |\d+ workers? \[|created: \d+/\d+ workers?|bringing up nodes"
    r"|\[gw\d+\] (?:\w+ )?Python |Using --random|hypothesis profile )"
)
_PROGRESS = re.compile(r"^(?:\S.*?\.\w+ )?[.FEsxXRrpPu,yY-]+ *(?:\[ *\d+%\])?$")
# Why the session stopped, which a notice or the message of an error says.
_STOPPED = re.compile(
    r"^(?:!{3,}+ .* !{3,}+|\S+:\d+: KeyboardInterrupt|\(to show a full traceback on KeyboardInterrupt use .*\))$"
)
# The end of a line of progress that a plugin's words have split.
_PERCENT = re.compile(r"^ +\[ *\d+(?:%|/\d+)\]$")
# Atomic up to the first `::`, or a line of nothing but colons would take quadratic time.
_VERBOSE_PROGRESS = re.compile(
    r"^(?:\[gw\d+\] (?:\[ *\d+%\] )?|\S(?>.*?::).* )(?:SUB)?(?:PASSED|FAILED|SKIPPED|ERROR|XFAIL|XPASS|RERUN)\b"
)
# pytest-cov's words; numbers alone, so that nothing else can stand in our sentence.
_THRESHOLD = re.compile(r"^(?:FAIL )?(Required test coverage of [\d.]+% not reached\. Total coverage: [\d.]+%)$")


def missed_threshold(stdout: str) -> str | None:
    """What pytest-cov says of a coverage that is too low, if it does."""
    for line in reversed(stdout.splitlines()):
        if threshold := _THRESHOLD.match(_COLOUR.sub("", line)):
            return threshold.group(1)
    return None


def telling_closing_line(stdout: str, *, unreached: int = 0) -> str:
    """The last line, where it has a count that no other key of the answer has, less what a change cannot reach."""
    for line in reversed(stdout.splitlines()[-LAST_LINES:]):
        plain = _COLOUR.sub("", line)
        if _is_closing(plain):
            plain = _DESELECTED.sub(partial(_less, unreached), plain)
            return plain.strip("= ") if _MORE_COUNTS.search(plain) else ""
    return ""


def _less(unreached: int, count: re.Match[str]) -> str:
    before, number, after = count.groups()
    left = int(number) - unreached
    return f"{before}{left} deselected{after}" if left > 0 else before and after


def condense(stdout: str) -> str:
    """The lines that say something new, less the closing line and what is only for people."""
    return _joined(_split(stdout)[0])


def tables(stdout: str) -> str:
    """What plugins print for people."""
    return _joined(_split(stdout)[1])


def _joined(lines: list[str]) -> str:
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip("\n")


def _split(stdout: str) -> tuple[list[str], list[str]]:
    """The lines that no other key of an answer has, apart from those for people."""
    kept: list[str] = []
    for_people: list[str] = []
    skipping, in_table = "", False
    for line in stdout.splitlines():
        plain = _COLOUR.sub("", line)
        section = _SECTION.match(plain)
        if _is_closing(plain) or (skipping and plain.startswith(_END_OF_WARNINGS)):
            skipping = ""
            continue
        if section is not None:
            skipping = section.group(1) if section.group(1) in _HELD_ELSEWHERE else ""
            if section.group(1) == "test session starts":
                continue
        in_table = bool(_TITLE.match(plain)) or (in_table and section is None and _is_row(plain))
        if in_table or _FOR_PEOPLE.match(plain):
            for_people.append(line)
        elif not skipping and not _is_known(plain):
            kept.append(line)
    return kept, for_people


def _is_row(line: str) -> bool:
    """Of one of these tables; rows of coverage have two counts and a share at least."""
    words = line.split()
    return bool(_ROW.match(line)) or (any(word.endswith("%") for word in words) and sum(map(str.isdigit, words)) > 1)


def _is_closing(line: str) -> bool:
    """In two short patterns, since one for the whole line would read parts of it again and again."""
    words = line.strip("=").removeprefix(" ").removesuffix(" ")
    counts, separator, time = words.rpartition(" in ")
    return bool(separator and _COUNTS.match(counts) and _TIME.fullmatch(time))


def _is_known(line: str) -> bool:
    return any(pattern.match(line) for pattern in (_HEADER, _PROGRESS, _STOPPED, _PERCENT, _VERBOSE_PROGRESS))
