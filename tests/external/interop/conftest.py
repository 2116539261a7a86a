import pytest

from tests.external.interop.answers import Answer, comparable
from tests.external.interop.drivers import Way, driven


@pytest.fixture(scope="session")
def expected(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Answer]:
    """What the newest SDK gets, by step: all others are held against it."""
    root = tmp_path_factory.mktemp("expected")
    return comparable(driven(Way("python_2.py", "stdio", "modern"), root), root)
