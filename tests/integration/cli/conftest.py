from pathlib import Path

import pytest

from tests.support.commands.desk import Desk


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    desk = Desk(tmp_path / "home", tmp_path / "shop")
    desk.home.mkdir()
    desk.project.mkdir()
    return desk
