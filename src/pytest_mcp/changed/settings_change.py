"""Whether a change of a settings file can matter to a test, by the tables that differ, compared as values."""

import configparser
import re
import tomllib
from collections.abc import Iterator, Mapping

from pytest_mcp.changed.telltales import words

# Tools that check or publish the code and that no test depends on.
_OF_TOOLS = words(
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
_REQUIRING = frozenset({("project",), ("dependency-groups",)})
# What builds the package and its documentation.
_PUBLISHING = words("sphinx sphinx-autobuild sphinx-rtd-theme myst-parser furo mkdocs mkdocs-material build twine")
_OF_PACKAGES = frozenset({"project", "metadata", "poetry", "flit"})


def telling_table(name: str, before: bytes, now: bytes) -> str | None:
    """The first table that differs and matters; None if there is none."""
    tables = _toml if name.endswith(".toml") else _ini
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
    return "pytest" in head.replace("pytest-mcp", "") or not (name in _OF_TOOLS or name.partition("-")[0] == "mypy")


def _needed(requirements: object) -> object:
    """Without what only checks or publishes the code."""
    if not isinstance(requirements, list):
        return requirements
    names = [
        (str(each), re.split(r"[^\w.-]", str(each).lower().replace("_", "-"), maxsplit=1)[0]) for each in requirements
    ]
    return [each for each, name in names if name not in _PUBLISHING and name not in _OF_TOOLS]


def _toml(content: bytes) -> Iterator[tuple[tuple[str, ...], object]]:
    yield from _leaves(tomllib.loads(content.decode()), ())


def _leaves(table: Mapping[str, object], path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], object]]:
    for key, value in table.items():
        # An empty table can count.
        if isinstance(value, dict) and value and len(path) < 3:
            yield from _leaves(value, (*path, key))
        else:
            yield (*path, key), _needed(value) if path[:1] in _REQUIRING else value


def _ini(content: bytes) -> Iterator[tuple[tuple[str, ...], object]]:
    parser = configparser.RawConfigParser(strict=False, allow_no_value=True, delimiters=("=", ":"))
    parser.read_string(content.decode())
    for section in parser.sections():
        yield (section,), None
        yield from (((section, key), value) for key, value in parser.items(section))
