"""How the tests themselves are kept: what they share is in one place, and nothing is hidden from a bare pytest."""

import ast
import re
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from tests.external.endurance.matrix import TESTS
from tests.support.paths import ROOT

FILES = sorted((ROOT / "tests").rglob("*.py"))


@cache
def tree(file: Path) -> ast.Module:
    return ast.parse(file.read_text(encoding="utf-8"))


def modules_imported_by(file: Path) -> Iterator[str]:
    for node in ast.walk(tree(file)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def test_nothing_imports_from_a_test_module_or_a_conftest() -> None:
    users = [*FILES, *(ROOT / "bench").rglob("*.py"), *(ROOT / "scripts").rglob("*.py")]

    found = [(file.name, name) for file in users for name in modules_imported_by(file) if is_of_a_test_module(name)]

    assert found == []


def is_of_a_test_module(name: str) -> bool:
    return bool(re.match(r"tests\.(.+\.)?(test_\w+|conftest)(\.|$)", name))


def test_what_is_shared_imports_nothing_from_the_folders_of_tests() -> None:
    shared = [file for file in FILES if "support" in file.parts]

    found = {name for file in shared for name in modules_imported_by(file) if name.startswith("tests.")}

    assert {name for name in found if not name.startswith("tests.support.")} == set()


def test_every_file_with_tests_is_one_that_pytest_collects() -> None:
    """What must not run by default is marked, so that the closing line counts it."""
    defining = {file for file in FILES for node in tree(file).body if is_test(node)}

    assert [file.name for file in sorted(defining) if not file.name.startswith("test_")] == []


def is_test(node: ast.stmt) -> bool:
    return isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and node.name.startswith("test_")


def test_a_folder_of_unit_tests_is_a_package() -> None:
    unit = ROOT / "tests" / "unit"
    folders = {file.parent.relative_to(unit) for file in FILES if file.is_relative_to(unit)}

    assert [str(folder) for folder in sorted(folders) if not (ROOT / "src" / "pytest_mcp" / folder).is_dir()] == []


def test_what_has_a_make_target_of_its_own_is_deselected_and_thereby_counted() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["pytest"]["ini_options"]

    assert settings["addopts"][-2:] == ["-m", "not external"]


def test_every_target_of_a_mark_is_a_target_of_make() -> None:
    marked = {
        target
        for file in FILES
        for target in re.findall(r"mark\.external\(target=\"(\w+)\"\)", file.read_text(encoding="utf-8"))
    }
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")

    assert marked == set(re.findall(r"external\(target='(\w+)'\)", makefile))
    assert all(re.search(rf"^{target}:", makefile, re.MULTILINE) for target in marked)


def test_every_test_of_the_matrix_exists() -> None:
    assert [test for test in TESTS if not (ROOT / test).exists()] == []
