"""What a person reads of the answer of `explain_environment`: sections of marked lines, and the summary.

Warnings are decided in `surroundings` and `report/notices.py`, readiness in `readiness`.
"""

import textwrap
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal, NamedTuple

from pytest_mcp.api.results import ExplainResult, Member, Settings
from pytest_mcp.environment.readiness import Standing
from pytest_mcp.terminal.colours import Colour, Painter

Mark = Literal["good", "warning", "bad", "none"]

MARKS: Mapping[Mark, str] = {"good": "✓", "warning": "!", "bad": "✗", "none": " "}
ASCII_MARKS: Mapping[Mark, str] = {"good": "+", "warning": "!", "bad": "x", "none": " "}
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

    marks: Mapping[Mark, str]
    painter: Painter

    def sections(self, sections: Sections) -> str:
        """Sections without a line are left out."""
        texts = [(title, [self._line(check) for check in checks]) for title, checks in sections.items()]
        return "\n".join("\n".join([self.painter.paint(title, "bold"), *lines, ""]) for title, lines in texts if lines)

    def closing(self, standing: Standing) -> str:
        """The last lines: the summary and, if something is wrong, the next step."""
        summary = self.painter.paint(standing.summary, "bold", *_COLOURS["good" if standing.ready else "bad"])
        return summary if standing.next_step is None else f"{summary}\nNext: {standing.next_step}"

    def _line(self, check: Check) -> str:
        mark = self.painter.paint(self.marks[check.mark], *_COLOURS[check.mark])
        label = f"{check.label:<{_LABEL_WIDTH}}  " if check.label else ""
        first, *more = check.text.splitlines() or [""]
        indent = " " * (len("  x ") + len(label))
        return "\n".join([f"  {mark} {label}{first}".rstrip(), *(indent + other for other in more)])


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
    if result.config is not None:
        yield Check("good", "settings", result.config.file or "none, pytest's defaults")
        yield from (Check("none", name, value) for name, value in _values(result.config).items() if value)


def _values(config: Settings) -> dict[str, str]:
    return {
        "rootdir": config.rootdir if config.rootdir != "." else "",
        "testpaths": ", ".join(config.testpaths),
        "python_files": ", ".join(config.python_files or ()),
        "addopts": config.addopts,
        "markers": ", ".join(config.markers),
    }


def _python(result: ExplainResult) -> Iterator[Check]:
    for other in result.candidates:
        yield Check("warning", "rejected", f"{other.python} ({other.source}): {other.problem}")
    if (chosen := result.interpreter) is None:
        # Members of a monorepo have their own.
        yield (
            Check("none", "interpreter", "none at the root") if result.members else Check("bad", "interpreter", "none")
        )
        return
    yield Check("good", "interpreter", f"{chosen.version or 'Python'}, {chosen.executable}")
    yield Check("none", "source", chosen.source)
    if result.pytest is not None:
        yield Check("good", "pytest", result.pytest.version)
        plugins = result.pytest.plugins
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
