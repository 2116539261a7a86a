from pathlib import Path

import pytest

PROJECT = '[project]\nname = "thing"\nversion = "1"\nrequires-python = ">=3.8"\n'


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """The folder of a project without a manager."""
    folder = (tmp_path / "project").resolve()
    folder.mkdir()
    (folder / "pyproject.toml").write_text(PROJECT, encoding="utf-8")
    return folder
