"""The report of `pytest-mcp doctor`: an examination in, sections of marked lines out, and those as text.

Pure. Warnings are decided in `environment/hints.py` and `report/notices`, readiness in
`environment/readiness.py`.
"""

import textwrap
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from pytest_mcp.api.results import ExplainResult, Git, Member, Settings
from pytest_mcp.cli.found_entries import FoundEntry
from pytest_mcp.cli.mcp_client import Handshake
from pytest_mcp.environment.readiness import Standing
from pytest_mcp.terminal.colours import Colour, Painter
from pytest_mcp.text import safe

Mark = Literal["good", "warning", "bad", "none"]

MARKS: Mapping[Mark, str] = {"good": "✓", "warning": "!", "bad": "✗", "none": " "}
ASCII_MARKS: Mapping[Mark, str] = {"good": "+", "warning": "!", "bad": "x", "none": " "}
_COLOURS: Mapping[Mark, tuple[Colour, ...]] = {"good": ("green",), "warning": ("yellow",), "bad": ("red",), "none": ()}
# The length of the longest label.
_LABEL_WIDTH = len("temporary folder")
# Sentences are wrapped at this width. Paths and commands are not, so that they can be copied.
_SENTENCE_WIDTH = 100


@dataclass(frozen=True)
class Line:
    mark: Mark
    label: str
    text: str


@dataclass(frozen=True)
class Section:
    title: str
    lines: tuple[Line, ...]


@dataclass(frozen=True)
class Style:
    """What the terminal can show."""

    marks: Mapping[Mark, str]
    painter: Painter


def of_handshake(handshake: Handshake) -> Section:
    return Section(
        "Handshake",
        (
            Line("good", "server", f"{handshake.server} {handshake.version}"),
            Line("good", "protocol", handshake.protocol),
            Line("good" if handshake.tools else "bad", "tools", _listed(handshake.tools)),
            Line("none", "time", f"{handshake.seconds:.2f} s from the start to the list of tools"),
        ),
    )


def of_problem(problem: str) -> Section:
    return Section("Problem", (Line("bad", "", problem),))


def of_entries(entries: Iterable[FoundEntry]) -> Section:
    """The clients that can start the server for this project, as their settings files say."""
    lines = tuple(map(_entry, entries))
    return Section("Clients", lines or (Line("none", "", "no entry yet: `pytest-mcp setup` writes one"),))


def of_stderr(stderr: str) -> Section:
    """What the server wrote to stderr; usually it writes nothing."""
    return Section("The server's stderr", (Line("warning", "", safe(stderr.strip())),))


def of_environment(found: ExplainResult) -> list[Section]:
    """Everything in the answer of `explain_environment`; empty sections are left out."""
    sections = [
        Section("Server", tuple(_server(found))),
        Section("Project", tuple(_project(found))),
        Section("Python", tuple(_python(found))),
        Section("Tests", tuple(_tests(found))),
        Section("Members", tuple(map(_member, found.members or ()))),
        *([] if found.problem is None else [of_problem(found.problem)]),
        Section("Notices", tuple(Line("warning", "", _wrapped(notice)) for notice in found.notices)),
    ]
    return [section for section in sections if section.lines]


def rendered(section: Section, style: Style) -> str:
    return "\n".join([style.painter.paint(section.title, "bold"), *(_row(line, style) for line in section.lines), ""])


def closing(standing: Standing, style: Style) -> str:
    """The last lines: the summary and, if something is wrong, the next step."""
    summary = style.painter.paint(standing.summary, "bold", *_COLOURS["good" if standing.ready else "bad"])
    return summary if standing.next_step is None else f"{summary}\nNext: {standing.next_step}"


def _row(line: Line, style: Style) -> str:
    mark = style.painter.paint(style.marks[line.mark], *_COLOURS[line.mark])
    label = f"{line.label:<{_LABEL_WIDTH}}  " if line.label else ""
    first, *more = line.text.splitlines() or [""]
    indent = " " * (len("  x ") + len(label))
    return "\n".join([f"  {mark} {label}{first}".rstrip(), *(indent + other for other in more)])


def _server(found: ExplainResult) -> Iterator[Line]:
    server, folder = found.server, found.temporary_folder
    yield Line("good", "Python", f"{server.python}, {server.executable}")
    free = "" if folder.free_bytes is None else f", {folder.free_bytes / 2**30:.1f} GB free"
    usable = "" if folder.writable else ", cannot be written to"
    yield Line("good" if folder.writable else "bad", "temporary folder", f"{folder.path or 'none'}{usable}{free}")


def _project(found: ExplainResult) -> Iterator[Line]:
    yield Line("good", "root", found.root)
    if found.git is not None:
        yield _git(found.git)
    if found.config is not None:
        yield from _settings(found.config)


def _git(git: Git) -> Line:
    linked = f", a linked worktree of {git.main_checkout}" if git.main_checkout else ""
    place = "the top of its checkout" if git.top_level == "." else f"a folder of the checkout {git.top_level}"
    return Line("good", "git", f"{place}{linked}")


def _settings(config: Settings) -> Iterator[Line]:
    yield Line("good", "settings", config.file or "none, pytest's defaults")
    values = {
        "rootdir": config.rootdir if config.rootdir != "." else "",
        "testpaths": _listed(config.testpaths),
        "python_files": _listed(config.python_files or ()),
        "addopts": config.addopts,
        "markers": _listed(config.markers),
    }
    yield from (Line("none", name, value) for name, value in values.items() if value)


def _python(found: ExplainResult) -> Iterator[Line]:
    for other in found.candidates:
        yield Line("warning", "rejected", f"{other.python} ({other.source}): {other.problem}")
    if found.interpreter is None:
        # Members of a monorepo have their own.
        yield Line("none", "interpreter", "none at the root") if found.members else Line("bad", "interpreter", "none")
        return
    chosen = found.interpreter
    yield Line("good", "interpreter", f"{chosen.version or 'Python'}, {chosen.executable}")
    yield Line("none", "source", chosen.source)
    if found.pytest is not None:
        yield Line("good", "pytest", found.pytest.version)
        plugins = found.pytest.plugins
        yield Line("none", "plugins", "unknown" if plugins is None else _listed(plugins) or "none")


def _tests(found: ExplainResult) -> Iterator[Line]:
    if found.tests is None:
        return
    left_out = f", {found.tests.deselected} deselected" if found.tests.deselected else ""
    yield Line("good" if found.tests.count else "bad", "collected", f"{found.tests.count}{left_out}")
    for broken in found.tests.uncollected:
        yield Line("bad", "not collected", broken)
    for foreign in found.imported_elsewhere:
        yield Line("bad", "imported", f"{foreign.name} from {foreign.file}, not from {foreign.own}")


def _member(found: Member) -> Line:
    known = {"Python": found.python, "pytest": found.pytest}
    versions = _listed(f"{name} {version}" for name, version in known.items() if version)
    text = "; ".join(filter(None, [versions, found.problem])) or "ready"
    return Line("good" if found.problem is None else "warning", found.folder, text)


def _entry(found: FoundEntry) -> Line:
    if found.problem is None:
        python = f", with --python {safe(found.python)}" if found.python else ""
        return Line("good", found.client, f"{safe(found.file)}{python}")
    fix = f"\nrenew it: {found.fix}" if found.fix else ""
    return Line("bad", found.client, f"{safe(found.file)}: {safe(found.problem)}{fix}")


def _wrapped(sentence: str) -> str:
    return textwrap.fill(sentence, _SENTENCE_WIDTH, break_long_words=False, break_on_hyphens=False)


def _listed(names: Iterable[str]) -> str:
    return ", ".join(names)
