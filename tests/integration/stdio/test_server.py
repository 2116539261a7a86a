"""Calls, answers and errors on the server itself, with the SDK's client in memory."""

from tests.support.workbench import Workbench, call

FINE = "def test_fine(): pass\n"


async def test_discovery_refuses_the_parameters_that_only_running_has(bench: Workbench) -> None:
    failure = await bench.refused("discover_tests", verbosity=1, node_ids=["x"])

    assert {fault["field"] for fault in failure.data["validation_errors"]} == {"verbosity", "node_ids"}


async def test_an_environment_without_pytest_is_rejected_and_the_next_one_is_used(bench: Workbench) -> None:
    bench.write({"test_fine.py": FINE})
    (bench.root / ".venv").symlink_to(bench.using("no-pytest").python.parent.parent)
    active = bench.python.parent.parent
    config = bench.config._replace(python=None, environment={"VIRTUAL_ENV": str(active)})

    answer = await call("execute_tests", {}, config)

    assert isinstance(answer, dict)
    assert answer["verdict"] == "passed"
