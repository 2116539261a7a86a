from pathlib import Path

import pytest

from pytest_mcp.python import user_dirs


@pytest.mark.parametrize("kind", ["config", "cache", "data"])
def test_a_variable_names_another_folder_unless_it_is_empty(kind: user_dirs.FolderKind) -> None:
    variable = f"XDG_{kind.upper()}_HOME"

    assert user_dirs.folder(kind, {"HOME": "/home/x", variable: "~/elsewhere"}) == Path("/home/x/elsewhere")
    assert user_dirs.folder(kind, {"HOME": "/home/x", variable: ""}) == user_dirs.folder(kind, {"HOME": "/home/x"})


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("~", "/home/x"),
        ("~/envs", "/home/x/envs"),
        ("$HOME/envs", "/home/x/envs"),
        ("${SPACE}/envs", "/mnt/envs"),
        ("$UNKNOWN/envs", "$UNKNOWN/envs"),
        ("envs/~", "envs/~"),
        ("/a$", "/a$"),
    ],
)
def test_a_path_is_read_as_a_person_writes_it(written: str, meant: str) -> None:
    assert user_dirs.expanded(written, {"HOME": "/home/x", "SPACE": "/mnt"}) == Path(meant)
