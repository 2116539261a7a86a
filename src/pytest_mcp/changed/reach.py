"""Which tests a change can reach: by the names that they mention, and by the files that they read.

`tests_reached` is all that other rooms need. If something cannot be told, everything is reached, and the reason says
why. Nothing of the project is executed.
"""

import fnmatch
import re
import tomllib
from collections.abc import Mapping
from functools import partial
from itertools import filterfalse
from pathlib import Path, PurePosixPath

from pytest_mcp.changed import project_files
from pytest_mcp.changed.module_names import Modules
from pytest_mcp.changed.other_files import OtherFiles, Readers, is_document, without_modules
from pytest_mcp.changed.project_files import SETTINGS, ScannedFiles, Unreadable, is_test
from pytest_mcp.changed.reached_names import NameSelection
from pytest_mcp.changed.working_tree import Changes, TreeComparison
from pytest_mcp.process.background import in_thread
from pytest_mcp.run.run import Reach
from pytest_mcp.text import label

CACHES = frozenset({"__pycache__", ".pytest_cache", ".mypy_cache", ".ruff_cache", ".hypothesis"})
# A section of a settings file with the word pytest in its title, and what in it names tests.
_SECTION = re.compile(rb"^\[[^\n\]]{0,99}pytest[^\n\]]{0,99}\][^\n]*+\n((?:(?!\[)[^\n]*+\n)*+)", re.MULTILINE)
_COMMENT = re.compile(rb"^[ \t]*+[#;][^\n]*+", re.MULTILINE)
_PATTERNS = re.compile(rb"python_files\s*=\s*([^\n]*(?:\n[ \t]+[^\n]*)*)")
_GLOB = re.compile(r"[\w*?./\[\]-]+")
_PLUGIN = re.compile(rb"(?:-p[ \"',=\t]{1,4}|pytest_plugins\s{0,4}=\s{0,4}[\[\"'(]*)([A-Za-z_][\w.]*)")
_ENTRY_POINT = re.compile(rb"=\s*[\"']?([A-Za-z_][\w.]*(?::[\w.]+)?)[\"']?\s*$", re.MULTILINE)
_PROGRAM = re.compile(rb"(?<![\w.:])[A-Za-z_][\w.]*+:[A-Za-z_]\w*+")
_USED = re.compile(rb"usefixtures\s*=\s*([^\n]*(?:\n[ \t]+[^\n]*)*)")
_REMAPPED = (b"package_dir", b"package-dir", b"pythonpath", b"force-include", b"sources")
_PATHS = (b"sys.path", b"PYTHONPATH", b"syspath", b"meta_path", b"__path__")
_UNREADABLE = "cannot be read or parsed"

Contents = Mapping[str, bytes | None]


async def tests_reached(comparison: TreeComparison) -> Reach:
    """Raises CannotTell if git does not give the files as the base has them."""
    changes, repository = without_caches(comparison.changes), comparison.repository
    prefix = "" if repository.root == Path() else f"{repository.root.as_posix()}/"
    wanted = [path for path in changes.files if path.endswith(".py") or PurePosixPath(path).name in SETTINGS]
    at_base = {path: comparison.committed.get(prefix + path) for path in wanted}
    contents = await repository.contents([file.hash for file in at_base.values() if file is not None])
    before = {path: None if file is None else contents.get(file.hash) for path, file in at_base.items()}
    return await in_thread(partial(reach_of, changes, before, repository.config.root))


def reach_of(changes: Changes, before: Contents, root: Path) -> Reach:
    """`before` are the changed Python and settings files as the base has them; None stands for none."""
    changes = without_caches(changes)
    if not (changes.files or changes.outside):
        return Reach(changes.since, 0)
    count = len(changes.files) + len(changes.outside)
    try:
        files = project_files.list_files(root)
        contents = dict(project_files.contents(files, [*dict.fromkeys([*files.python, *files.settings])]))
        return _Reached(changes, before, files, contents).reach(count)
    except Unreadable as error:
        return Reach(changes.since, count, reason=str(error))
    except RecursionError:
        return Reach(changes.since, count, reason="code of the project is nested too deeply to be read")


def without_caches(changes: Changes) -> Changes:
    """What runs leave behind is no change, also if git does not ignore it."""
    files = (frozenset(filterfalse(is_cached, paths)) for paths in (changes.files, changes.outside))
    return Changes(changes.since, changes.commit, *files)


def is_cached(path: str) -> bool:
    return not CACHES.isdisjoint(path.split("/"))


class _Reached:
    def __init__(self, changes: Changes, before: Contents, files: ScannedFiles, contents: Contents) -> None:
        linked = {link for link, target in files.links.items() if target in changes.files}
        self._changes = changes
        self._before = {**before, **{link: before.get(files.links[link]) for link in linked}}
        self._settings = {path: contents.get(path) for path in files.settings}
        self._contents = {path: contents.get(path) for path in files.python}
        changed = {path: self._before.get(path) for path in {*changes.files, *linked} if path.endswith(".py")}
        self._modules = Modules({*self._contents, *changed}, files.root.name, anywhere=self._is_anywhere())
        self._names = NameSelection(self._modules, self._contents, changed, self._words(), self._programs())

    def _is_anywhere(self) -> bool:
        """Whether modules may be looked for in any folder."""
        return any(word in (each or b"") for each in self._settings.values() for word in _REMAPPED) or any(
            word in (each or b"") for each in self._contents.values() for word in _PATHS
        )

    def reach(self, count: int) -> Reach:
        tests = self._tests()
        others, reason = self._others(tests)
        ends = [key for each in others for key in each.definitions]
        tied = [(key, "files") for each in others for key in each.listing - each.definitions]
        direct = {test for each in others for test in each.tests} | self._names.rewritten()
        selected = self._names.of(tests, ends, tied, direct)
        untold = sorted(path for path in tests if self._names.read(path) is None)
        near = sorted(selected.distances, key=lambda path: (selected.distances[path], *self._farness(path), path))
        files = tuple(dict.fromkeys([*near, *untold]))
        unreached = () if reason else tuple(sorted(tests.difference(files)))
        always = tuple(f"{label(path)} ({_UNREADABLE})" for path in untold)
        ways = {path: " ← ".join((path, *way)) for path, way in selected.ways.items()}
        hub = next(iter(ways.values()), None)
        return Reach(self._changes.since, count, files, unreached, reason, always=always, hub=hub, ways=ways)

    def _farness(self, test: str) -> tuple[bool, bool]:
        """Whether it is named after no changed file, and imports none itself."""
        stem = PurePosixPath(test).stem.removeprefix("test_").removesuffix("_test")
        is_like = any(PurePosixPath(path).stem.strip("_") == stem for path in self._changes.files)
        return not is_like, not self._names.imports_changed(test)

    def _tests(self) -> set[str]:
        """Every file that pytest may collect tests from."""
        texts = [text for content in self._settings.values() for text in settings_of_pytest(content or b"")]
        if any(b"doctest" in text for text in texts):
            return set(self._contents)
        patterns = [
            glob for text in self._settings.values() for each in _PATTERNS.findall(text or b"") for glob in _globs(each)
        ]
        return {path for path in self._contents if is_test(path) or any(_matches(path, glob) for glob in patterns)}

    def _others(self, tests: set[str]) -> tuple[list[Readers], str | None]:
        for path in sorted(self._changes.outside):
            if not is_document(PurePosixPath(path)):
                return [], f"{label(path)} changed, which is outside of the project's folder"
        imported = self._names.imported(tests)
        paths = [*without_modules(sorted(self._changes.files), imported)]
        if not paths:
            return [], None
        read = {path: self._names.read(path) for path in self._contents}
        others = OtherFiles(self._modules, read, declared_data(self._settings.get("pyproject.toml")))
        readers = [others.readers(path, self._before.get(path), self._settings.get(path)) for path in paths]
        return readers, next((each.anybody for each in readers if each.anybody is not None), None)

    def _programs(self) -> list[str]:
        texts = (content for content in self._settings.values() if content is not None)
        return sorted({name.decode().replace(":", ".") for text in texts for name in _PROGRAM.findall(text)})

    def _words(self) -> list[str]:
        """Plugins, programs and fixtures that the settings name."""
        words = []
        for content in self._settings.values():
            for text in settings_of_pytest(content or b""):
                words += [*_PLUGIN.findall(text), *(word for each in _USED.findall(text) for word in each.split())]
            if b"pytest11" in (content or b""):
                words += _ENTRY_POINT.findall((content or b"").partition(b"pytest11")[2])
        return sorted({word.decode("utf-8", "replace").strip("\"',[]") for word in words})


def settings_of_pytest(settings: bytes) -> list[bytes]:
    return [_COMMENT.sub(b"", text) for text in _SECTION.findall(settings + b"\n")]


def _globs(text: bytes) -> list[str]:
    return [glob for glob in _GLOB.findall(text.decode("utf-8", "replace")) if glob.strip("[]")]


def _matches(path: str, glob: str) -> bool:
    return fnmatch.fnmatch(PurePosixPath(path).name, glob) or fnmatch.fnmatch(path, f"*{glob}")


def declared_data(settings: bytes | None) -> dict[str, list[str]]:
    """Which test files read which paths, as `[tool.pytest-mcp] data` of pyproject.toml says."""
    try:
        table = tomllib.loads((settings or b"").decode()).get("tool", {}).get("pytest-mcp", {}).get("data", {})
        return {str(pattern): [str(test) for test in tests] for pattern, tests in table.items()}
    except (ValueError, AttributeError, TypeError, RecursionError):
        return {}
