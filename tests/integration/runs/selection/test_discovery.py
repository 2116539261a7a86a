"""What discover_tests says of a project, and that it writes nothing there but bytecode."""

from pathlib import Path

from tests.support.workbench import Workbench

FINE = "def test_fine(): pass\n"


async def test_each_test_has_its_module_class_function_file_and_the_line_of_its_def(every_bench: Workbench) -> None:
    every_bench.write(
        {
            "tests/test_user.py": """
            import pytest

            def test_plain(): pass

            @pytest.mark.parametrize(
                "value",
                [1],
            )
            @pytest.mark.skip
            def test_decorated(value): pass

            class TestAuth:
                class TestLogin:
                    async def helper(self): pass

                    def test_password(self): pass
            """
        }
    )

    answer = await every_bench.discover()

    assert list(answer) == ["count", "notices", "collection_errors", "tests", "files", "omitted"]
    assert answer["count"] == 3
    keys = ["node_id", "module", "class", "function", "file", "line"]
    assert [list(test) for test in answer["tests"]] == [keys] * 3
    assert {(test["module"], test["file"]) for test in answer["tests"]} == {("tests.test_user", "tests/test_user.py")}
    assert [(test["node_id"][20:], test["class"], test["function"], test["line"]) for test in answer["tests"]] == [
        ("test_plain", None, "test_plain", 3),
        ("test_decorated[1]", None, "test_decorated", 10),
        ("TestAuth::TestLogin::test_password", "TestAuth::TestLogin", "test_password", 16),
    ]


async def test_files_that_cannot_be_collected_stand_beside_the_tests_that_can(every_bench: Workbench) -> None:
    every_bench.write(
        {
            "test_fine.py": FINE,
            "test_import.py": "import os\nfrom os import not_there\n",
            "test_syntax.py": "def test_one():\n    return (\n",
            "test_null.py": b"x = 1\0\n",
            "test_encoding.py": b"x = '\xff\xfe'\n",
            "test_cookie.py": b"# -*- coding: nowhere -*-\n",
            "test_raises.py": "import os\n\nraise RuntimeError('at import\\nof this file')\n",
        }
    )

    answer = await every_bench.discover()

    assert answer["count"] == 1
    errors = {error["file"]: error for error in answer["collection_errors"]}
    assert {name: error["error_type"] for name, error in errors.items()} == {
        **dict.fromkeys(("test_encoding.py", "test_cookie.py"), "SyntaxError"),
        "test_import.py": "ImportError",
        "test_null.py": errors["test_null.py"]["error_type"],
        "test_raises.py": "RuntimeError",
        "test_syntax.py": "SyntaxError",
    }
    assert errors["test_null.py"]["error_type"] in ("SyntaxError", "ValueError")
    assert errors["test_import.py"]["line"] == 2
    assert errors["test_import.py"]["message"].startswith("cannot import name 'not_there' from 'os'")
    assert errors["test_syntax.py"]["line"] == 2
    assert errors["test_raises.py"]["line"] == 3
    assert errors["test_raises.py"]["message"] == "at import\nof this file"
    assert errors["test_raises.py"]["traceback"].startswith("test_raises.py:3: in <module>\n    raise RuntimeError(")
    assert "E       return (" in errors["test_syntax.py"]["traceback"].split("\n")
    assert {error["also"] for error in errors.values()} == {0}
    assert answer["notices"] == ["6 file(s) could not be collected; their tests are not counted."]


def everything_below(root: Path) -> set[str]:
    """Without bytecode."""
    return {str(path.relative_to(root)) for path in root.rglob("*") if "__pycache__" not in path.parts}


async def test_no_cache_of_pytest_is_written_even_where_addopts_ask_for_it(every_bench: Workbench) -> None:
    every_bench.write(
        {
            "pytest.ini": "[pytest]\naddopts = --ff --lf\n",
            "conftest.py": "import helper\n",
            "helper.py": "",
            "tests/test_fine.py": FINE,
        }
    )
    before = everything_below(every_bench.root)

    answer = await every_bench.discover()

    assert answer["count"] == 1
    assert everything_below(every_bench.root) == before
