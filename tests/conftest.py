import os
import signal
from pathlib import Path

import pytest
from hypothesis import settings

from pytest_mcp.python import query
from scripts.environments import ENVIRONMENTS
from tests.support.projects.managed import Home, empty_home, home_with_managers
from tests.support.waiting import PATIENCE
from tests.support.workbench import GENERATIONS, NEWEST, PYTESTS, Workbench

# The machine is shared and slow at times; how long an example takes proves nothing here.
# Every run tries the same examples, and those that ever failed stand beside their tests: who changed nothing sees
# nothing new fail. `make fuzz` tries fresh ones.
settings.register_profile("project", deadline=None, max_examples=30, derandomize=True)
settings.register_profile("fresh", deadline=None, max_examples=300, print_blob=True)
settings.load_profile("project")

# A background shell starts its jobs with these ignored, and every process inherits that. Tests send them to servers and
# expect what a terminal would show; those about ignored signals ignore them themselves.
for number in (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGTERM):
    if signal.getsignal(number) is signal.SIG_IGN:
        signal.signal(number, signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL)
signal.pthread_sigmask(signal.SIG_SETMASK, ())


# Tests run side by side, and many have a call that waits for something: none waits for the cores that another test has.
# Those of the sharing itself have folders of their own.
os.environ["PYTEST_MCP_NO_SHARE"] = "1"

# They count in /proc what is left of a run. Elsewhere only test_portable.py can see that, by `ps`.
NEEDS_PROC = ("tests/hostile/", "tests/parity/", "tests/integration/runs/parallel/test_spare.py")


def pytest_configure(config: pytest.Config) -> None:
    """Without the environments nearly every test would fail, each for a reason that does not name them."""
    if config.option.markexpr == "not external" and not ENVIRONMENTS[NEWEST].is_complete:
        raise pytest.UsageError("The environments of the tests are missing: run `make environments` first.")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    if Path("/proc/self").exists():
        return
    for item in items:
        if item.nodeid.startswith(NEEDS_PROC) and item.path.name != "test_portable.py":
            item.add_marker(pytest.mark.skip(reason="counts in /proc what is left of a run"))


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
def bench(tmp_path: Path) -> Workbench:
    """An empty project, with the newest pytest."""
    root = tmp_path / "project"
    root.mkdir()
    return Workbench(root)


@pytest.fixture(params=PYTESTS)
def every_bench(bench: Workbench, request: pytest.FixtureRequest) -> Workbench:
    """The same project, once with the oldest pytest and once with the newest."""
    return bench.using(request.param)


@pytest.fixture(params=GENERATIONS)
def generation_bench(bench: Workbench, request: pytest.FixtureRequest) -> Workbench:
    """The same project, once for each generation of pytest."""
    return bench.using(request.param)


@pytest.fixture(scope="session")
def _managers(tmp_path_factory: pytest.TempPathFactory) -> Home:
    return home_with_managers(tmp_path_factory.mktemp("managed") / "home")


@pytest.fixture
def _patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """A busy machine makes no program a silent one."""
    monkeypatch.setattr(query, "QUESTION_SECONDS", PATIENCE)


@pytest.fixture
def managed_home(_managers: Home, _patient: None) -> Home:
    """The home of a user who has every manager. It is shared; each test has a project of its own."""
    return _managers


@pytest.fixture
def home(tmp_path: Path, _patient: None) -> Home:
    """The home of a user who has no manager yet."""
    return empty_home(tmp_path / "home")
