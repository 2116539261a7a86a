"""Names as the packaging library sees them; it is there because pytest needs it."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from packaging.dependency_groups import resolve_dependency_groups
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from pytest_mcp.environments import requirements
from pytest_mcp.environments.project import Manifest, read
from tests.support.disk import lay

NAMES = st.from_regex(r"[A-Za-z0-9]([A-Za-z0-9._-]{0,6}[A-Za-z0-9])?", fullmatch=True) | st.just("pytest")
EXTRAS = st.sampled_from(["", "[testing]", " [a, b]"])
VERSIONS = st.sampled_from(["", ">=8", " >= 8, <9", "==8.*", "~=8.1", "!=7", " (>=8)", " @ https://example.org/x.whl"])
MARKERS = st.sampled_from(["", " ; python_version < '3'", " ; extra == 'x'"])


def including_earlier_ones(drawn: list[tuple[list[str], list[int]]]) -> dict[str, list[Any]]:
    """Packaging refuses groups that include each other in a circle, or one that is not there."""
    return {
        f"Group_{index}": [*listed, *({"include-group": f"group-{earlier}"} for earlier in included if earlier < index)]
        for index, (listed, included) in enumerate(drawn)
    }


GROUPS = st.lists(st.tuples(st.lists(NAMES, max_size=2), st.lists(st.integers(0, 3), max_size=3)), max_size=4).map(
    including_earlier_ones
)


@given(st.tuples(NAMES, EXTRAS, VERSIONS, MARKERS).map("".join))
def test_a_requirement_has_the_name_that_packaging_reads(text: str) -> None:
    assert requirements.names([f" {text}"]) == {canonicalize_name(Requirement(text).name)}


@given(GROUPS)
def test_a_group_requires_what_packaging_resolves(groups: dict[str, list[Any]]) -> None:
    found = requirements.groups(Manifest(Path(), {"dependency-groups": groups}, ()))

    assert found == {
        name: {canonicalize_name(Requirement(text).name) for text in resolve_dependency_groups(groups, name)}
        for name in groups
    }


@pytest.mark.parametrize(
    "line", ["", "# pytest", "-r pytest.txt", "--hash=pytest", "-e .", "./pytest", "git+https://x/pytest", "é"]
)
def test_a_line_that_names_no_package_does_not_name_pytest(tmp_path: Path, line: str) -> None:
    lay(tmp_path, {"requirements.txt": f"{line}\n"})

    assert "pytest" not in requirements.of_file(tmp_path / "requirements.txt")


def test_a_list_for_conda_names_packages_of_conda_and_of_pip(tmp_path: Path) -> None:
    content = 'name: pytest\nchannels:\n  - conda-forge\ndependencies:\n- "A.b=1"\n- x/y::c 2\n- pip:\n    - D>=3\n'
    lay(tmp_path, {"environment.yml": content})

    assert requirements.of_conda(tmp_path / "environment.yml") == {"conda-forge", "a-b", "c", "pip", "d"}


def test_extras_of_a_setup_cfg_are_lists_by_line(tmp_path: Path) -> None:
    content = (
        "[metadata]\nname = x\n[options.extras_require]\ntest =\n    pytest>=7\n    %(odd)s\ndocs = sphinx, furo\n"
    )
    lay(tmp_path, {"setup.cfg": content})

    assert requirements.setup_extras(tmp_path) == {"test": {"pytest"}, "docs": {"sphinx", "furo"}}


@pytest.mark.parametrize("content", ["", "no section", "[a]\n[a]\n", "[options.extras_require]\n", "\0", "[options"])
def test_a_setup_cfg_without_extras_has_none(tmp_path: Path, content: str) -> None:
    lay(tmp_path, {"setup.cfg": content})

    assert requirements.setup_extras(tmp_path) == {}


def test_groups_that_include_each_other_in_a_circle_are_one(tmp_path: Path) -> None:
    content = "[dependency-groups]\na = ['x', {include-group = 'b'}]\nb = ['y', {include-group = 'a'}]\n"
    lay(tmp_path, {"pyproject.toml": content})

    assert requirements.groups(read(tmp_path)) == {"a": {"x", "y"}, "b": {"x", "y"}}
