"""How the tests themselves are kept: what they share is in one place, and nothing is hidden from a bare pytest."""

import ast
import importlib.util
import re
from pathlib import Path

import pytest

from tests.external.endurance.matrix import TESTS
from tests.support.paths import ROOT

FILES = {path: path.read_text(encoding="utf-8") for path in sorted((ROOT / "tests").rglob("*.py"))}


def files_with(pattern: str, files: dict[Path, str]) -> list[str]:
    return [path.relative_to(ROOT).as_posix() for path, text in files.items() if re.search(pattern, text, re.MULTILINE)]


def test_nothing_imports_from_a_test_module_or_a_conftest() -> None:
    others = [path for folder in ("bench", "scripts") for path in (ROOT / folder).rglob("*.py")]
    users = FILES | {path: path.read_text(encoding="utf-8") for path in others}

    assert files_with(r"^(from|import) tests\.([\w.]+\.)?(test_\w+|conftest)\b", users) == []


def test_what_is_shared_imports_nothing_from_the_folders_of_tests() -> None:
    shared = {path: text for path, text in FILES.items() if "support" in path.parts}

    assert files_with(r"^(from|import) tests\.(?!support\b)", shared) == []


def test_every_file_with_tests_is_one_that_pytest_collects() -> None:
    """What must not run by default is marked, so that the closing line counts it."""
    others = {path: text for path, text in FILES.items() if not path.name.startswith("test_") and "def test_" in text}
    names = {path.name: [getattr(node, "name", "") for node in ast.parse(text).body] for path, text in others.items()}

    assert [path for path, defined in names.items() if any(name.startswith("test_") for name in defined)] == []


def test_a_folder_of_unit_tests_is_a_package() -> None:
    unit = ROOT / "tests" / "unit"
    folders = {path.parent.relative_to(unit) for path in FILES if path.is_relative_to(unit)}

    assert [str(folder) for folder in sorted(folders) if not (ROOT / "src" / "pytest_mcp" / folder).is_dir()] == []


def test_every_target_of_a_mark_is_a_target_of_make() -> None:
    marked = {target for text in FILES.values() for target in re.findall(r"mark\.external\(target=\"(\w+)\"\)", text)}
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")

    assert marked == set(re.findall(r"external\(target='(\w+)'\)", makefile))
    assert all(re.search(rf"^{target}:", makefile, re.MULTILINE) for target in marked)


def test_every_test_of_the_matrix_exists() -> None:
    assert [test for test in TESTS if not (ROOT / test).exists()] == []


@pytest.mark.parametrize("file", ["Makefile", ".ci/run"])
def test_every_module_that_is_run_by_name_exists(file: str) -> None:
    named = set(re.findall(r"-m ((?:tests|bench|scripts)[\w.]*)", (ROOT / file).read_text(encoding="utf-8")))

    assert named
    assert [name for name in sorted(named) if importlib.util.find_spec(name) is None] == []
