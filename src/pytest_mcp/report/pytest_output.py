"""What pytest printed, without what other keys of the answer contain.

Pure: text in, text out. Header, progress, failures and their summary are removed. Warnings, messages of plugins and
hooks, raw output of tests under `-s` and the closing line remain.
"""

import re

_COLOUR = re.compile("\x1b\\[[0-9;:]*m")
_SECTION = re.compile(r"^=+ (.+?) =+$")
# How the closing line begins, and what follows its last " in ".
_CLOSING_COUNTS = re.compile(r"\d++ \w|no tests (?:ran|collected)")
_CLOSING_TIME = re.compile(r"(?<![\d.])[\d.]++s(?: \([^()]*+\))?")
# Sections whose content is in `tests`, `failure_groups` or `collection_errors`.
_REDUNDANT_SECTIONS = frozenset({"FAILURES", "ERRORS", "PASSES", "XFAILURES", "XPASSES", "short test summary info"})
_HEADER = re.compile(
    r"^(?:platform .* -- Python |cachedir: |rootdir: |configfile: |testpaths: |plugins: |collecting |collected \d"
    r"|metadata: |scheduling tests via |\d+ workers? \[|created: \d+/\d+ workers?|Using --random|hypothesis profile )"
)
_PROGRESS = re.compile(r"^(?:\S.*?\.\w+ )?[.FEsxXRrpPu,yY-]+ *(?:\[ *\d+%\])?$")
# The end of a progress line that was split by a plugin's output.
_PERCENT = re.compile(r"^ +\[ *\d+(?:%|/\d+)\]$")
# Atomic up to the first `::`, or a line of nothing but colons would take quadratic time.
_VERBOSE_PROGRESS = re.compile(
    r"^(?:\[gw\d+\] (?:\[ *\d+%\] )?|\S(?>.*?::).* )(?:SUB)?(?:PASSED|FAILED|SKIPPED|ERROR|XFAIL|XPASS|RERUN)\b"
)
# pytest-cov's message. Only numbers vary, so that no other text gets into our notice.
_THRESHOLD = re.compile(r"^(?:FAIL )?(Required test coverage of [\d.]+% not reached\. Total coverage: [\d.]+%)$")


def missed_threshold(stdout: str) -> str | None:
    """pytest-cov's message that the coverage is too low, if there is one."""
    for line in reversed(stdout.splitlines()):
        if found := _THRESHOLD.match(_COLOUR.sub("", line)):
            return found.group(1)
    return None


def condense(stdout: str) -> str:
    """The lines that are not redundant."""
    kept: list[str] = []
    skipping = False
    for line in stdout.splitlines():
        plain = _COLOUR.sub("", line)
        section = _SECTION.match(plain)
        if _is_closing(plain):
            skipping = False
        elif section is not None:
            skipping = section.group(1) in _REDUNDANT_SECTIONS
            if section.group(1) == "test session starts":
                continue
        if not skipping and not _is_redundant(plain):
            kept.append(_undecorated(line, plain))
    return re.sub(r"\n{3,}", "\n\n", "\n".join(kept)).strip("\n")


def without_closing_line(printed: str) -> str:
    *before, last = printed.split("\n")
    return "\n".join(before).rstrip("\n") if _is_closing(_COLOUR.sub("", last)) else printed


def _undecorated(line: str, plain: str) -> str:
    """The closing line without its frame of `=`, unless it has colours; any other line unchanged."""
    return plain.strip("= ") if _is_closing(plain) and line == plain else line


def _is_closing(line: str) -> bool:
    """Two patterns, because one pattern for the whole line would take quadratic time."""
    words = line.strip("=").removeprefix(" ").removesuffix(" ")
    counts, separator, time = words.rpartition(" in ")
    return bool(separator and _CLOSING_COUNTS.match(counts) and _CLOSING_TIME.fullmatch(time))


def _is_redundant(line: str) -> bool:
    return any(pattern.match(line) for pattern in (_HEADER, _PROGRESS, _PERCENT, _VERBOSE_PROGRESS))
