"""Which definitions read a changed file that is no module, by the paths in their texts.

A text mentions a file by its name, by its ending (`*.csv`), or by a folder that it is in. If no text names a file, or
its ending, those who mention its folder may compute its name; and those who list files may find it there. Snapshots and
cassettes belong to the test file after which they, or a folder of theirs, are named. A settings file matters to nobody
or to everybody.
"""

import configparser
import fnmatch
import re
import tomllib
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import PurePosixPath

from pytest_mcp.changed.mention import FileMentions
from pytest_mcp.changed.module_names import Modules, parents
from pytest_mcp.changed.project_files import SETTINGS, is_of_tests, is_test
from pytest_mcp.changed.spread import Key
from pytest_mcp.changed.telltales import words
from pytest_mcp.text import label

_AT_THE_START = words(
    "setup.py sitecustomize.py usercustomize.py Pipfile CMakeLists.txt meson.build Cargo.toml environment.yml "
    "environment.yaml"
)
_SOURCES = words(".c .h .cc .cpp .hpp .cu .pyx .pxd .pxi .rs .go .f .f90 .so .pyd .zig .S .lock")
_PROSE = frozenset({".md", ".rst"})
_DOCS = frozenset({"doc", "docs"})
_LEGAL = words("LICENSE LICENCE COPYING NOTICE AUTHORS CONTRIBUTORS CODEOWNERS")
_OF_CI = words(".github .gitlab-ci.yml .circleci .travis.yml ci .ci appveyor.yml")
_OF_EDITORS = words(
    ".gitignore .gitattributes .editorconfig .pre-commit-config.yaml .mailmap MANIFEST.in Makefile Dockerfile "
    "justfile codecov.yml .codecov.yml .coveragerc readthedocs.yml .readthedocs.yaml .readthedocs.yml noxfile.py "
    "mypy.ini ruff.toml"
)
# What `setup` and the clients themselves write: files or folders.
_OF_TOOLS = words(
    ".vscode .zed .mcp.json opencode.json opencode.jsonc .amp .claude .codex .cursor .gemini .kiro .opencode .roo"
)
_FOR_CHECKERS = frozenset({".pyi", ".typed"})
_LONGEST_PATH = 300
# Tools that check or publish the code and that no test depends on.
_CHECKERS = words(
    "coverage black ruff mypy isort pylint flake8 pyright basedpyright ty bandit codespell towncrier bumpversion "
    "bumpver commitizen semantic_release cibuildwheel tox nox pydocstyle pycodestyle interrogate docformatter "
    "check-manifest codecov typos vulture pre-commit djlint rstcheck git-cliff numpydoc_validation repo-review "
    "mutmut pyproject-fmt testenv gh-actions gh bdist_wheel sdist upload_docs build_sphinx yapf autopep8 pep8 "
    "pydoclint creosote deptry pytype pyrefly asv spin zest release devpi aliases check pytest-mcp"
)
# What describes a package.
_DESCRIBING = words(
    "description readme authors maintainers keywords classifiers urls license license-files author author_email "
    "maintainer maintainer_email long_description url license_file license_files project_urls platforms "
    "classifier long_description_content_type homepage repository documentation"
)
# Tables of requirements that only some need.
_OPTIONAL = frozenset({("project", "optional-dependencies"), ("dependency-groups",)})
# What builds the package and its documentation.
_PUBLISHING = words("sphinx sphinx-autobuild sphinx-rtd-theme myst-parser furo mkdocs mkdocs-material build twine")
_OF_PACKAGES = frozenset({"project", "metadata", "poetry", "flit"})


@dataclass(frozen=True)
class Readers:
    """Who reads a file: definitions, those of them that must also list files, and test files. Or why anybody may."""

    definitions: frozenset[Key] = frozenset()
    listing: frozenset[Key] = frozenset()
    tests: frozenset[str] = frozenset()
    anybody: str | None = None


class OtherFiles:
    def __init__(
        self, modules: Modules, files: Mapping[str, FileMentions | None], data: Mapping[str, list[str]]
    ) -> None:
        """`data` are the test files of paths, as the project declares them."""
        self._modules = modules
        self._files = files
        self._data = data
        self._texts = [
            (("def", path, name), text)
            for path, file in files.items()
            for name, mention in (file.definitions if file is not None else {}).items()
            for text in mention.strings
            if len(text) <= _LONGEST_PATH
        ]

    def readers(self, path: str, before: bytes | None, now: bytes | None) -> Readers:
        whole = PurePosixPath(path)
        if whole.name in SETTINGS and whole.suffix != ".py":
            table = _telling_table(whole.name, before or b"", now or b"", self._unused())
            if table is not None:
                return Readers(anybody=f"{label(path)} changed in {table}")
        elif self._is_built(whole):
            return Readers(anybody=f"{label(path)} changed")
        declared = [test for pattern, tests in self._data.items() if fnmatch.fnmatch(path, pattern) for test in tests]
        tests = frozenset(declared) | frozenset(self._named_after(whole))
        named = frozenset(key for key, text in self._texts if _names(text, whole, in_tests=is_of_tests(key[1])))
        folders = frozenset(key for key, text in self._texts if _is_in(text, whole, in_tests=is_of_tests(key[1])))
        if named or tests:
            return Readers(named, folders, tests)
        if folders or self._is_unread(whole):
            return Readers(folders)
        return Readers(anybody=f"{label(path)} changed, and any test may use it")

    def _unused(self) -> frozenset[str]:
        """The tools that no file of the project imports."""
        mentions = [each for file in self._files.values() if file is not None for each in file.definitions.values()]
        names = {origin.module for mention in mentions for origin in mention.origins() if not origin.level}
        names.update(*(mention.modules | mention.dotted for mention in mentions))
        imported = {name.partition(".")[0].lower().replace("_", "-") for name in names}
        return (_PUBLISHING | _CHECKERS) - imported

    def _is_built(self, path: PurePosixPath) -> bool:
        """Whether the package or its environment is made of it."""
        if path.parts[0] in _OF_CI | _DOCS:
            return False
        is_requirement = "requirements" in str(path) and path.suffix in (".txt", ".in", ".yml", ".yaml")
        return path.name in _AT_THE_START or path.suffix in _SOURCES or is_requirement

    def _named_after(self, path: PurePosixPath) -> Iterator[str]:
        """The test files after which it or a folder of it is named, beside it or above."""
        stems = {part.partition(".")[0] for part in path.parts}
        for folder in ("", *parents(str(path))):
            for stem in stems:
                test = f"{folder}/{stem}.py".removeprefix("/")
                if is_test(test) and test in self._modules.files:
                    yield test

    def _is_unread(self, path: PurePosixPath) -> bool:
        """Whether nobody reads it who does not mention it."""
        if is_of_tests(str(path)):
            return path.suffix in _FOR_CHECKERS
        if path.suffix == ".py" and not any(part.startswith(".") for part in path.parts):
            return True
        in_package = any(f"{folder}/__init__.py" in self._modules.files for folder in parents(str(path)))
        if in_package:
            return path.suffix in _FOR_CHECKERS
        return is_document(path) or len(path.parts) > 1 or path.name in SETTINGS


def is_document(path: PurePosixPath) -> bool:
    """Documentation, licences, and the settings of CI, editors and agents."""
    is_known = path.parts[0] in _OF_CI | _DOCS or not _OF_TOOLS.isdisjoint(path.parts)
    return is_known or path.name in _OF_EDITORS or path.stem in _LEGAL or path.suffix in _PROSE


def _names(text: str, path: PurePosixPath, *, in_tests: bool) -> bool:
    if text == path.name or text.endswith((f"/{path.name}", f"\\{path.name}")):
        return True
    if not path.suffix or not text.endswith(path.suffix):
        return path.name in text.split()
    end = text.rpartition("/")[2]
    is_end = path.name.endswith(end.rpartition("*")[2])
    return is_end and ("*" in end or in_tests or not is_document(path))


def _is_in(text: str, path: PurePosixPath, *, in_tests: bool) -> bool:
    folders = path.parts[:-1]
    is_path = in_tests or "/" in text or not is_document(path)
    return is_path and bool(folders) and not {*folders}.isdisjoint(text.strip("./").replace("\\", "/").split("/"))


def without_modules(paths: Iterable[str], imported: Collection[str]) -> Iterator[str]:
    """The files that are read rather than imported: a Python file that no test imports may be, too."""
    for path in paths:
        name = PurePosixPath(path).name
        is_module = path in imported or is_test(path) or name in ("conftest.py", "__init__.py")
        if not path.endswith(".py") or name in _AT_THE_START or not is_module:
            yield path


# --- settings, by the tables that differ, compared as values ---------------------------------------


def _telling_table(name: str, before: bytes, now: bytes, unused: Collection[str]) -> str | None:
    """The first table that differs and matters; None if there is none. `unused` tools are no requirements."""
    tables = partial(_toml, unused=unused) if name.endswith(".toml") else _ini
    try:
        old, new = dict(tables(before)), dict(tables(now))
    except (ValueError, configparser.Error, RecursionError):
        return "what cannot be parsed"
    differing = (table for table in sorted(old.keys() | new.keys()) if old.get(table, ...) != new.get(table, ...))
    return next((".".join(table) for table in differing if _matters(table)), None)


def _matters(table: tuple[str, ...]) -> bool:
    head = table[1] if table[0] == "tool" and len(table) > 1 else table[0]
    if head in _OF_PACKAGES:
        return table[-1] not in _DESCRIBING and not _DESCRIBING.intersection(table)
    name = head.partition(":")[0]
    return "pytest" in head.replace("pytest-mcp", "") or not (name in _CHECKERS or name.partition("-")[0] == "mypy")


def _needed(requirements: object, unused: Collection[str]) -> object:
    if not isinstance(requirements, list):
        return requirements
    names = [
        (str(each), re.split(r"[^\w.-]", str(each).lower().replace("_", "-"), maxsplit=1)[0]) for each in requirements
    ]
    return [each for each, name in names if name not in unused]


def _toml(content: bytes, unused: Collection[str]) -> Iterator[tuple[tuple[str, ...], object]]:
    for path, value in _leaves(tomllib.loads(content.decode()), ()):
        yield path, _needed(value, unused) if path[:-1] in _OPTIONAL else value


def _leaves(table: Mapping[str, object], path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], object]]:
    for key, value in table.items():
        # An empty table can count.
        if isinstance(value, dict) and value and len(path) < 3:
            yield from _leaves(value, (*path, key))
        else:
            yield (*path, key), value


def _ini(content: bytes) -> Iterator[tuple[tuple[str, ...], object]]:
    parser = configparser.RawConfigParser(strict=False, allow_no_value=True, delimiters=("=", ":"))
    parser.read_string(content.decode())
    for section in parser.sections():
        yield (section,), None
        yield from (((section, key), value) for key, value in parser.items(section))
