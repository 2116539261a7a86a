import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_mcp.api.targets import Target, parse_node_id, parse_path


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project with files, folders and links that lead inside, outside, nowhere and round in a circle."""
    above = tmp_path_factory.mktemp("above").resolve()
    (above / "secret.py").write_text("", encoding="utf-8")
    project = above / "project"
    (project / "tests" / "deep").mkdir(parents=True)
    (project / "tests[1]").mkdir()
    for name in ("tests/test_a.py", "tests/deep/test_b.py", "tests/test_c d.py"):
        (project / name).write_text("", encoding="utf-8")
    (project / "inside").symlink_to(project / "tests" / "deep")
    (project / "outside").symlink_to(above)
    (project / "tests" / "up").symlink_to("..")
    (project / "around").symlink_to(above / "alias" / "tests")
    os.mkfifo(project / "test_pipe.py")
    (project / "gone").symlink_to(above / "nowhere")
    (project / "circle").symlink_to(project / "circle")
    (above / "alias").symlink_to(project)
    return project


@pytest.mark.parametrize(
    ("given", "relative", "is_file"),
    [
        ("tests", "tests", False),
        ("tests/", "tests", False),
        (".", ".", False),
        ("./tests//test_a.py", "tests/test_a.py", True),
        ("tests/test_c d.py", "tests/test_c d.py", True),
        ("inside/test_b.py", "inside/test_b.py", True),
        ("tests/up/tests", "tests/up/tests", False),
        ("around/test_a.py", "around/test_a.py", True),
    ],
)
def test_a_path_inside_the_root_is_kept_as_the_project_names_it(
    root: Path, given: str, relative: str, is_file: bool
) -> None:
    target = parse_path(given, root)

    assert target == Target(root=root, relative=relative, selector=None, is_file=is_file)
    assert target.argument == str(root / relative)


def test_an_absolute_path_inside_the_root_is_the_same_as_a_relative_one(root: Path) -> None:
    assert parse_path(f"{root}/tests/test_a.py", root) == parse_path("tests/test_a.py", root)


def test_an_absolute_path_through_a_link_to_the_root_is_inside(root: Path) -> None:
    through_the_link = parse_path(str(root.parent / "alias" / "tests"), root)

    assert through_the_link == parse_path("tests", root)


@pytest.mark.parametrize(
    "given",
    [
        *("", "  ", "missing.py", "gone", "circle", "tests/test_a.py/x", "test_pipe.py", "a" * 300),
        *("../secret.py", "tests/../tests", "tests\\..\\..\\secret.py", "/etc/passwd", "C:\\Windows", "~/tests"),
        # Links that lead outside, and back.
        *("outside", "outside/secret.py", "outside/project/tests", "tests/up/outside/project/tests/test_a.py"),
        # What pytest would take for an option, for a file of options and for parameters.
        *("-k", "@tests", "tests[1]"),
        *("tests\x00", "tests\n", "tests\t", "tests\ud800", "te\u202ests"),
    ],
    ids=ascii,
)
def test_a_path_that_does_not_lead_to_something_inside_the_root_is_refused(root: Path, given: str) -> None:
    with pytest.raises(ValueError, match=r".+"):
        parse_path(given, root)
    with pytest.raises(ValueError, match=r".+"):
        parse_node_id(f"{given}::test_x", root)


def test_a_refusal_does_not_tell_whether_something_outside_the_root_exists(root: Path) -> None:
    def why(given: str) -> str:
        with pytest.raises(ValueError, match=r".+") as refusal:
            parse_path(given, root)
        return str(refusal.value)

    assert why(str(root.parent / "secret.py")) == why(str(root.parent / "no such file"))


@pytest.mark.parametrize("selector", ["test_x", "T::t[a::b]", "t[--co]", "t[../x y]", "t[@f]", "日本", ":", "::", "t["])
def test_everything_after_the_first_two_colons_passes_verbatim(root: Path, selector: str) -> None:
    target = parse_node_id(f"tests/test_a.py::{selector}", root)

    assert target.selector == selector
    assert target.argument == f"{root}/tests/test_a.py::{selector}"
    assert target.node_id == f"tests/test_a.py::{selector}"


@pytest.mark.parametrize(
    "given", ["tests/test_a.py::", "tests::test_x", "tests/test_a.py::t\n", "tests/test_a.py::t\x1b"]
)
def test_a_selector_must_be_visible_text_in_a_file(root: Path, given: str) -> None:
    with pytest.raises(ValueError, match=r".+"):
        parse_node_id(given, root)


@given(
    given=st.text(st.characters(codec=None))
    | st.lists(st.sampled_from(["..", ".", "/", "tests", "outside", "\\", "//"])).map("".join)
    | st.lists(st.sampled_from(["project", "tests", "outside", "inside", "up", "around"])).map("/".join)
)
def test_whatever_is_taken_lies_inside_the_root_at_every_step_and_no_token_begins_with_an_option(
    root: Path, given: str
) -> None:
    try:
        target = parse_path(given, root)
    except ValueError:
        return

    assert target.path.exists()
    for place in (target.path, *target.path.parents[: len(target.path.parts) - len(root.parts)]):
        assert place.resolve().is_relative_to(root), place
    assert target.argument.startswith("/")


@pytest.mark.parametrize(
    ("wide", "narrow"),
    [
        (".", "tests/test_a.py::t"),
        ("tests", "tests/deep"),
        ("tests", "tests/deep/test_b.py::t"),
        ("tests/test_a.py", "tests/test_a.py::T::t[1]"),
        ("tests/test_a.py::T", "tests/test_a.py::T::t"),
        ("tests/test_a.py::t", "tests/test_a.py::t[1]"),
    ],
)
def test_a_target_covers_what_running_it_runs_and_not_the_other_way_round(root: Path, wide: str, narrow: str) -> None:
    one, other = parse_node_id(wide, root), parse_node_id(narrow, root)

    assert one.covers(other)
    assert not other.covers(one)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("tests/test_a.py::t", "tests/test_a.py::test_two"),
        ("tests/test_a.py::t", "tests/deep/test_b.py::t"),
        ("tests/deep", "tests/test_a.py"),
        ("tests/test_a.py::t[1]", "tests/test_a.py::t[12]"),
    ],
)
def test_a_common_beginning_of_two_names_covers_nothing(root: Path, one: str, other: str) -> None:
    first, second = parse_node_id(one, root), parse_node_id(other, root)

    assert not first.covers(second)
    assert not second.covers(first)
