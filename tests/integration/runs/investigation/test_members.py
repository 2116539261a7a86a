"""`investigate_failure` at the root of a monorepo, about a test of one member."""

from tests.support.workbench import Workbench, call, succeeded

SETTINGS = "[tool.pytest.ini_options]\npythonpath = ['src']\ntestpaths = ['tests']\n"


def member(bench: Workbench, name: str) -> None:
    folder = f"packages/{name}"
    bench.write(
        {
            f"{folder}/pyproject.toml": SETTINGS,
            f"{folder}/src/pkg_{name}/__init__.py": "def twice(x):\n    return x + 2\n",
            f"{folder}/examples/test_example.py": "def test_outside_of_testpaths(): pass\n",
            f"{folder}/tests/test_0.py": "def test_first(): pass\n",
            f"{folder}/tests/test_{name}.py": f"import pkg_{name}\n"
            f"def test_before(): assert pkg_{name}.twice(2) == 4\n"
            f"def test_twice(): assert pkg_{name}.twice(3) == 6\n",
        }
    )
    (bench.root / folder / ".venv").symlink_to(bench.python.parents[1])


async def test_a_member_is_traced_and_ordered_with_its_own_tests_settings_and_python(bench: Workbench) -> None:
    bench.write({"pyproject.toml": "[tool.ruff]\n"})
    for name in "ab":
        member(bench, name)
    own_pythons = bench.config._replace(python=None)
    asked = {"node_id": "packages/b/tests/test_b.py::test_twice", "runs": 2}

    found = succeeded(await call("investigate_failure", asked, own_pythons))

    assert [(each["file"], each["function"]) for each in found["suspects"]] == [
        ("packages/b/src/pkg_b/__init__.py", "twice")
    ]
    tried = [line for line in found["evidence"] if line.startswith("after ")]
    assert tried == [
        "after the earlier test in its file: fails",
        "after all 2 earlier tests in the suite: fails",
    ]
