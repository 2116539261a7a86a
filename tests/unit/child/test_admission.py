"""The parts of `child/admission.py` and `child/bytecode.py` that need no run."""

from pathlib import Path

import pytest

from tests.support.child import ours

admission, bytecode = ours("admission"), ours("bytecode")


@pytest.mark.parametrize(
    ("patterns", "matching"),
    [
        (["test_*.py"], ["/p/test_a.py", "/p/tests/test_b.py"]),
        (["*_test.py", "check*"], ["/p/a_test.py"]),
        (["tests/*.py"], ["/p/tests/test_b.py", "/p/tests/help.py"]),
        ([], []),
    ],
)
def test_a_pattern_with_a_slash_is_for_the_end_of_a_path_and_any_other_for_the_name(
    patterns: list[str], matching: list[str]
) -> None:
    paths = ["/p/test_a.py", "/p/a_test.py", "/p/tests/test_b.py", "/p/tests/help.py"]

    assert [path for path in paths if admission.matches(path, patterns)] == matching


def test_no_call_can_name_a_file_that_a_link_leads_to_outside_the_root(tmp_path: Path) -> None:
    root, outside = tmp_path / "root", tmp_path / "outside"
    for folder in (root / "own", root / "a::b", outside):
        folder.mkdir(parents=True)
    (root / "in").symlink_to("own")
    (root / "out").symlink_to(outside)
    names = ["own/t.py", "in/t.py", "a::b/t.py", "out/t.py"]

    assert [name for name in names if admission.is_out_of_reach(str(root / name), str(root))] == names[2:]
    assert not admission.is_out_of_reach(str(outside / "t.py"), str(root))


@pytest.mark.parametrize("folder", [".git", "node_modules", "__pycache__", "env"])
def test_folders_without_source_code_that_people_edit_are_not_walked(tmp_path: Path, folder: str) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / folder).mkdir()
    (tmp_path / "env").mkdir(exist_ok=True)
    (tmp_path / "env" / "pyvenv.cfg").touch()

    assert [Path(each).name for each in bytecode.folders_below(str(tmp_path))] == [tmp_path.name, "src"]
