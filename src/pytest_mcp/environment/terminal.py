"""What a person reads of the answer of `explain_environment`: sections of marked lines, and the summary.

Warnings are decided in `surroundings` and `report/notices.py`, readiness in `readiness`.
"""

import textwrap
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal, NamedTuple

from pytest_mcp.api.results import ExplainResult, Member
from pytest_mcp.terminal.colours import Colour, Painter

Mark = Literal["good", "warning", "bad", "none"]

UNICODE_SIGNS = "✓✗"
# With and without Unicode.
_SIGNS: Mapping[Mark, str] = {"good": "✓+", "warning": "!!", "bad": "✗x", "none": "  "}
_COLOURS: Mapping[Mark, tuple[Colour, ...]] = {"good": ("green",), "warning": ("yellow",), "bad": ("red",), "none": ()}
# The length of the longest label.
_LABEL_WIDTH = len("temporary folder")
# Sentences are wrapped at this width. Paths and commands are not, so that they can be copied.
_SENTENCE_WIDTH = 100


class Check(NamedTuple):
    """One line: what was looked at, and what it is."""

    mark: Mark
    label: str
    text: str


Sections = Mapping[str, Iterable[Check]]


@dataclass(frozen=True)
class CheckStyle:
    """What the terminal can show."""

    has_unicode: bool
    painter: Painter

    def sections(self, sections: Sections) -> str:
        """Sections without a line are left out."""
        texts = [(title, [self._line(check) for check in checks]) for title, checks in sections.items()]
        return "\n".join("\n".join([self.painter.paint(title, "bold"), *lines, ""]) for title, lines in texts if lines)

    def closing(self, summary: str, next_step: str | None, *, is_ready: bool) -> str:
        painted = self.painter.paint(summary, "bold", *_COLOURS["good" if is_ready else "bad"])
        return painted if next_step is None else f"{painted}\nNext: {next_step}"

    def _line(self, check: Check) -> str:
        sign = self.painter.paint(_SIGNS[check.mark][not self.has_unicode], *_COLOURS[check.mark])
        label = f"{check.label:<{_LABEL_WIDTH}}  " if check.label else ""
        first, *more = check.text.splitlines() or [""]
        indent = " " * (len("  x ") + len(label))
        return "\n".join([f"  {sign} {label}{first}".rstrip(), *(indent + other for other in more)])


def explanation(result: ExplainResult) -> Sections:
    """Everything in the answer."""
    wrap = textwrap.TextWrapper(_SENTENCE_WIDTH, break_long_words=False, break_on_hyphens=False)
    return {
        "Server": _server(result),
        "Project": _project(result),
        "Python": _python(result),
        "Tests": _tests(result),
        "Members": map(_member, result.members or ()),
        "Problem": [] if result.problem is None else [Check("bad", "", result.problem)],
        "Notices": [Check("warning", "", wrap.fill(notice)) for notice in result.notices],
    }


def _server(result: ExplainResult) -> Iterator[Check]:
    server, folder = result.server, result.temporary_folder
    yield Check("good", "Python", f"{server.python}, {server.executable}")
    free = "" if folder.free_bytes is None else f", {folder.free_bytes / 2**30:.1f} GB free"
    usable = "" if folder.writable else ", cannot be written to"
    yield Check("good" if folder.writable else "bad", "temporary folder", f"{folder.path or 'none'}{usable}{free}")


def _project(result: ExplainResult) -> Iterator[Check]:
    yield Check("good", "root", result.root)
    if (git := result.git) is not None:
        linked = f", a linked worktree of {git.main_checkout}" if git.main_checkout else ""
        place = "the top of its checkout" if git.top_level == "." else f"a folder of the checkout {git.top_level}"
        yield Check("good", "git", f"{place}{linked}")
    if (config := result.config) is not None:
        yield Check("good", "settings", config.file or "none, pytest's defaults")
        lists = {"testpaths": config.testpaths, "python_files": config.python_files, "markers": config.markers}
        values = {"rootdir": config.rootdir if config.rootdir != "." else "", "addopts": config.addopts}
        values |= {name: ", ".join(words or ()) for name, words in lists.items()}
        yield from (Check("none", name, value) for name, value in values.items() if value)


def _python(result: ExplainResult) -> Iterator[Check]:
    for other in result.candidates:
        yield Check("warning", "rejected", f"{other.python} ({other.source}): {other.problem}")
    if (chosen := result.interpreter) is not None:
        yield Check("good", "interpreter", f"{chosen.version or 'Python'}, {chosen.executable}")
        yield Check("none", "source", chosen.source)
    elif result.members:  # each has its own
        yield Check("none", "interpreter", "none at the root")
    else:
        yield Check("bad", "interpreter", "none")
    if result.pytest is not None:
        plugins = result.pytest.plugins
        yield Check("good", "pytest", result.pytest.version)
        yield Check("none", "plugins", "unknown" if plugins is None else ", ".join(plugins) or "none")


def _tests(result: ExplainResult) -> Iterator[Check]:
    if (tests := result.tests) is None:
        return
    left_out = f", {tests.deselected} deselected" if tests.deselected else ""
    yield Check("good" if tests.count else "bad", "collected", f"{tests.count}{left_out}")
    yield from (Check("bad", "not collected", broken) for broken in tests.uncollected)
    for foreign in result.imported_elsewhere:
        yield Check("bad", "imported", f"{foreign.name} from {foreign.file}, not from {foreign.own}")


def _member(member: Member) -> Check:
    known = {"Python": member.python, "pytest": member.pytest}
    versions = ", ".join(f"{name} {version}" for name, version in known.items() if version)
    text = "; ".join(filter(None, [versions, member.problem])) or "ready"
    return Check("good" if member.problem is None else "warning", member.folder, text)
