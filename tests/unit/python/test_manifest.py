"""A project is read by the files that its tools keep, and by nothing else."""

import os
from pathlib import Path

from pytest_mcp.python import manifest


def test_a_file_in_another_encoding_says_nothing(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_bytes(b"\xff\xfe[\x00")

    assert manifest.read_manifest(tmp_path).pyproject == {}


def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pyproject.toml")

    assert manifest.toml(tmp_path / "pyproject.toml") == {}
