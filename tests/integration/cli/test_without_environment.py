"""Projects without an environment of their own, as in containers: the Python on PATH is named, and can be chosen.

The advice is followed in the folder where the command was typed.
"""

import shlex

import pytest

from tests.support.commands.preloaded import typed
from tests.support.commands.terminals import environment_of
from tests.support.workbench import Workbench


def test_run_names_the_python_on_path_that_has_pytest_and_takes_it_by_its_name(bench: Workbench) -> None:
    bench.write({"setup.cfg": "", "test_a.py": "def test_fine(): pass\n"})
    # An image puts its environment on PATH and activates nothing.
    image = bench.python.parent
    variables = environment_of(bench, PATH=f"{image}:/usr/bin:/bin")

    advised = typed("run", "-x", "test_a.py", cwd=bench.root, env=variables)
    examined = typed("doctor", cwd=bench.root, env=variables)
    words = shlex.split(examined.stdout.splitlines()[-1])[2:]
    investigated = typed("investigate", "test_a.py::test_fine", cwd=bench.root, env=variables)
    done = typed("run", "--python", "python3", cwd=bench.root, env=variables)

    assert advised.returncode == 4
    assert f"fix: pytest-mcp run --python {image}/python3 test_a.py --failfast" in advised.stderr.splitlines()
    assert examined.stdout.splitlines()[-1] == f"Next: pytest-mcp --python {image}/python3 setup"
    followed = typed(*words, "--yes", "claude-code", cwd=bench.root, env=variables)
    again = typed("doctor", cwd=bench.root, env=variables)
    with_python = f"fix: pytest-mcp investigate --python {image}/python3 test_a.py::test_fine"
    assert with_python in investigated.stderr.splitlines()
    assert (followed.returncode, again.returncode, done.returncode) == (0, 0, 0)
    assert f"starting the server with --python {image}/python3, as clients do ...\n" in again.stdout
    assert again.stdout.splitlines()[-1].startswith("Ready: 1 test, ")
    assert done.stdout.splitlines()[-1].startswith("passed: 1 passed")


def test_the_fix_that_is_typed_in_a_subfolder_goes_to_the_root_first(bench: Workbench) -> None:
    bench.write({"setup.cfg": "", "tests/unit/test_a.py": "def test_fine(): pass\n"})
    here = bench.root / "tests" / "unit"
    variables = environment_of(bench, PATH="/nowhere")

    ran, examined = typed("run", cwd=here, env=variables), typed("doctor", cwd=here, env=variables)
    answered = typed("run", "--json", cwd=here, env=variables)

    line = ran.stderr.splitlines()[-1].removeprefix("fix: ")
    assert line.startswith(f"cd {bench.root} && python3 -m venv .venv && ")
    assert examined.stdout.splitlines()[-1] == f"Next: {line}"
    assert line not in answered.stdout
    assert line.removeprefix(f"cd {bench.root} && ") in answered.stdout


@pytest.mark.parametrize("command", ["run", "discover"])
def test_the_fix_of_a_result_goes_to_the_root_first_too(bench: Workbench, command: str) -> None:
    bench.write({"src/till/__init__.py": "", "setup.py": "", "tests/test_a.py": "import till\n"})
    settings = [f"--python={bench.python}", command]

    done = typed(*settings, cwd=bench.root / "tests", env=environment_of(bench))

    fix = next(line for line in (done.stdout + done.stderr).splitlines() if line.startswith("note: fix: "))
    assert fix.startswith(f"note: fix: cd {bench.root} && ")
    assert fix.endswith("/python -m pip install -e .")
