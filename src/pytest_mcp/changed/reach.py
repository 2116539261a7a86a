"""Which files a change can reach: what imports a changed file, directly or through others, nearest first.

If that cannot be told, everything is reached and the reason says why. A changed file that is not Python can be read by
any test, so it reaches all of them: data, settings, lock files, templates, sources in other languages. So do
`setup.py`, modules that Python imports at its start, Python files among tests that no file imports (they may be data)
and files outside of the root.

Only documentation does not matter: `.md` and `.rst` files that are neither in a package nor among tests, pictures in
`docs`, licences, `.github` and the settings of git, editors and agents. Settings of editors and agents may be at the
root or in a member of a monorepo, because `setup` writes them there, but not in packages, among tests and in templates
of projects. Documentation does matter if a Python file or a setting of pytest mentions its ending or its name: then a
test may read it, or run the examples in it.
"""

from collections.abc import Iterable, Iterator
from functools import partial
from itertools import filterfalse, takewhile
from pathlib import Path, PurePosixPath

from pytest_mcp.changed import import_graph
from pytest_mcp.changed.import_graph import GROUP, Graph, Modules, parents
from pytest_mcp.changed.project_files import SETTINGS, ScannedFiles, Unreadable, is_of_tests, is_skipped, is_test
from pytest_mcp.changed.working_tree import Changes
from pytest_mcp.run.run import Reach
from pytest_mcp.text import label

CACHES = frozenset({"__pycache__", ".pytest_cache", ".mypy_cache", ".ruff_cache", ".hypothesis"})
_AT_THE_START = frozenset({"setup.py", "sitecustomize.py", "usercustomize.py"})
_USED_WITHOUT_IMPORT = frozenset({"conftest.py", "__init__.py"})
_PROSE = frozenset({".md", ".rst"})
_PICTURES = frozenset({".png", ".svg", ".gif", ".jpg", ".jpeg"})
_DOCS = frozenset({"doc", "docs"})
_LEGAL = frozenset({"LICENSE", "LICENCE", "COPYING", "NOTICE", "AUTHORS", "CONTRIBUTORS", "CODEOWNERS"})
_OF_EDITORS = frozenset({".gitignore", ".editorconfig", ".pre-commit-config.yaml", ".mailmap"})
# The workflows of CI: only at the top.
_OF_CI = ".github"
# What `setup` and the clients themselves write: files or folders.
_OF_TOOLS = frozenset(
    {
        *(".vscode", ".zed", ".mcp.json", "opencode.json", "opencode.jsonc"),
        *(".amp", ".claude", ".codex", ".cursor", ".gemini", ".kiro", ".opencode", ".roo"),
    }
)


def reach_of(changes: Changes, root: Path) -> Reach:
    changes = without_caches(changes)
    count = len(changes.files) + len(changes.outside)
    sources = sorted(path for path in changes.files if path.endswith(".py"))
    if not count:
        return Reach(changes.since, 0)
    try:
        graph = import_graph.build(root, changes.files, partial(documents, changes))
        reason = why_everything(changes, graph)
    except Unreadable as error:
        return Reach(changes.since, count, tuple(sources), reason=str(error))
    files = list(dict.fromkeys(_nearest_first(sources, graph)))
    if plugin := next((path for path in files if path in graph.everywhere), None):
        reason = reason or f"the change can reach {label(plugin)}, which {graph.everywhere[plugin]}"
    unreached = () if reason else tuple(sorted(graph.modules.files.difference(files)))
    hub = _hub(files, set(sources), graph)
    return Reach(changes.since, count, tuple(files), unreached, reason, always=_always(sources, graph), hub=hub)


def _nearest_first(changed: Iterable[str], graph: Graph) -> Iterator[str]:
    """Last come the files that can depend on any other, and those that import them."""
    seen: set[str] = set()
    for sources in (changed, sorted(graph.open) if changed else ()):
        yield from _outwards(sources, graph, seen)


def _outwards(sources: Iterable[str], graph: Graph, seen: set[str]) -> Iterator[str]:
    level = [path for path in sources if path not in seen]
    while level:
        yield from (path for path in level if not path.endswith(GROUP))
        seen.update(level)
        importers = {path for each in level for path in graph.importers.get(each, ())}
        level = sorted(importers - seen)


def _always(changed: Iterable[str], graph: Graph) -> tuple[str, ...]:
    """The files that are reached only because they can depend on any other."""
    near = set(_outwards(changed, graph, set())) if graph.open else set()
    return tuple(f"{label(path)} ({graph.open[path]})" for path in sorted(graph.open.keys() - near))


def _hub(reached: list[str], changed: set[str], graph: Graph) -> str | None:
    """The file through which most others are reached."""
    hub = max(reached, key=lambda path: len(graph.importers.get(path, ())), default=None)
    if hub is None:
        return None
    if hub in graph.open:
        return f"{label(hub)} {graph.open[hub]}"
    if hub.endswith("conftest.py"):
        return f"{label(hub)} is used by every test below it"
    return f"most files import {label(hub)}" if hub in changed else f"{label(hub)} imports what changed"


def without_caches(changes: Changes) -> Changes:
    """What runs leave behind is no change, also if git does not ignore it."""
    files = (frozenset(filterfalse(is_cached, paths)) for paths in (changes.files, changes.outside))
    return Changes(changes.since, changes.commit, *files)


def is_cached(path: str) -> bool:
    return not CACHES.isdisjoint(path.split("/"))


def why_everything(changes: Changes, graph: Graph) -> str | None:
    """The first reason, by the names of the files. The graph was built with the words of `documents`."""
    for path in sorted(changes.files):
        is_document = _document(path, graph.files, graph.modules) is not None
        if not is_document and (why := _why(path, graph)) is not None:
            return f"{label(path)} {why}"
    for path in sorted(changes.outside):
        if _document_outside(path) is None:
            return f"{label(path)} changed, which is outside of the project's folder"
    if graph.mention is None:
        return None
    name, word = graph.mention
    path = documents(changes, graph.files, graph.modules)[word]
    return f"{label(path)} changed, and {label(name)} mentions {word.decode('utf-8', 'replace')}"


def documents(changes: Changes, files: ScannedFiles, modules: Modules) -> dict[bytes, str]:
    """The changed files that matter only if a test mentions them, by the word that would do it."""
    words = {path: _document(path, files, modules) for path in sorted(changes.files)}
    words |= {path: _document_outside(path) for path in sorted(changes.outside)}
    return {word: path for path, word in words.items() if word is not None}


def _document(path: str, files: ScannedFiles, modules: Modules) -> bytes | None:
    in_package = any(f"{folder}/__init__.py" in modules.files for folder in parents(path))
    of_tools = _of_tools(path) if _is_in_project(path, files) and not in_package else None
    return of_tools or _as_document(path, in_package=in_package)


def _document_outside(path: str) -> bytes | None:
    return _of_tools(path) or _as_document(path, in_package=len(PurePosixPath(path).parts) > 1)


def _why(path: str, graph: Graph) -> str | None:
    parts = PurePosixPath(path).parts
    if not path.endswith(".py"):
        return "changed, and any test may use it"
    if parts[-1] in _AT_THE_START:
        return "changed"
    if any(map(is_skipped, parts[:-1])):
        return "changed, which is in a folder that is not searched"
    is_data = is_of_tests(path) and parts[-1] not in _USED_WITHOUT_IMPORT and not is_test(path)
    return "changed, which no file imports: tests may read it" if is_data and not graph.importers.get(path) else None


def _as_document(path: str, *, in_package: bool) -> bytes | None:
    """The word by which a test would mention it, if it is documentation."""
    whole = PurePosixPath(path)
    if whole.parts[0] == _OF_CI:
        return _OF_CI.encode()
    if whole.name in _OF_EDITORS or whole.stem in _LEGAL:
        return whole.name.encode("utf-8", "surrogateescape")
    is_prose = whole.suffix in _PROSE and (not in_package or whole.parts[0] in _DOCS)
    is_picture = whole.suffix in _PICTURES and whole.parts[0] in _DOCS
    return whole.suffix.encode() if (is_prose or is_picture) and not is_of_tests(path) else None


def _of_tools(path: str) -> bytes | None:
    """The file or folder of an editor or agent that it is or is in; none among tests, which may read it."""
    named = next((part for part in PurePosixPath(path).parts if part in _OF_TOOLS), None)
    return None if named is None or is_of_tests(path) else named.encode()


def _is_in_project(path: str, files: ScannedFiles) -> bool:
    """Whether a file or folder of an editor or agent is at the root or in a member. A template is no member."""
    folder = "/".join(takewhile(lambda part: part not in _OF_TOOLS, path.split("/")))
    return not folder or ("{" not in folder and any(f"{folder}/{name}" in files.settings for name in SETTINGS))
