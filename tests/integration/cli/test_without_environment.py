"""Projects without an environment of their own, as in containers: the Python on PATH is named, and can be chosen."""

from tests.support.commands.preloaded import typed
from tests.support.commands.terminals import environment_of
from tests.support.workbench import Workbench


def test_run_names_the_python_on_path_that_has_pytest_and_takes_it_by_its_name(bench: Workbench) -> None:
    bench.write({"setup.cfg": "", "test_a.py": "def test_fine(): pass\n"})
    # An image puts its environment on PATH and activates nothing.
    image = bench.python.parent
    variables = environment_of(bench, PATH=f"{image}:/usr/bin:/bin")

    advised = typed("run", cwd=bench.root, env=variables)
    done = typed("run", "--python", "python3", cwd=bench.root, env=variables)

    assert advised.returncode == 4
    assert f"fix: start pytest-mcp with --python {image}/python3" in advised.stderr.splitlines()
    assert done.returncode == 0
    assert done.stdout.splitlines()[-1].startswith("passed: 1 passed")
