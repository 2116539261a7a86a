from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_mcp.api.results import CollectionError
from pytest_mcp.report import collection_errors
from tests.support.invented import records
from tests.support.workbench import Workbench

IMPORT_FAILED = """\
ImportError while importing test module '/project/tests/test_x.py'.
Hint: make sure your test modules/packages have valid Python names.
Traceback:
/usr/lib/python3.11/importlib/__init__.py:126: in import_module
    return _bootstrap._gcd_import(name[level:], package, level)
tests/test_x.py:2: in <module>
    import helper
helper.py:7: in <module>
    import nothing_here
E   ModuleNotFoundError: No module named 'nothing_here'"""

SYNTAX = """\
.venv/lib/python3.11/site-packages/_pytest/python.py:493: in importtestmodule
    mod = import_path(
/usr/lib/python3.11/ast.py:50: in parse
    return compile(source, filename, mode, flags)
E     File "/project/tests/test_x.py", line 4
E       def broken(:
E                  ^
E   SyntaxError: invalid syntax"""


CONFTEST = """\
Traceback (most recent call last):
  File "/env/lib/python3.11/site-packages/_pytest/pathlib.py", line 640, in import_path
    importlib.import_module(module_name)
    ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
  File "<frozen importlib._bootstrap>", line 690, in _load_unlocked
  File "/project/tests/conftest.py", line 3, in <module>
    import nope
{raised}
"""


def error(file: str = "tests/test_x.py", **told: Any) -> CollectionError:
    usual: dict[str, Any] = {"error_type": "ImportError", "message": "no x", "line": 1, "traceback": None, "also": 0}
    return CollectionError(file=file, **usual | told)


def remaining(traceback: str | None) -> str | None:
    return collection_errors.without_machinery(error(traceback=traceback)).traceback


def test_of_a_failed_import_the_projects_frames_stay() -> None:
    assert remaining(IMPORT_FAILED) == "\n".join(IMPORT_FAILED.split("\n")[5:])


def test_of_a_conftest_that_python_reports_the_projects_frames_stay_too() -> None:
    raised = "ModuleNotFoundError: No module named 'nope'"
    told = {"error_type": "ModuleNotFoundError", "message": "No module named 'nope'"}
    broken = error("tests/conftest.py", traceback=CONFTEST.format(raised=raised), **told)
    syntax = CONFTEST.format(raised='  File "/project/a.py", line 4\n    def broken(:\nSyntaxError: invalid syntax')

    assert collection_errors.without_machinery(broken).traceback == "tests/conftest.py:3: in <module>\n    import nope"
    assert (collection_errors.without_machinery(error("tests/conftest.py", traceback=syntax)).traceback or "").split(
        "\n"
    )[2:] == ['E     File "/project/a.py", line 4', "E       def broken(:", "E   SyntaxError: invalid syntax"]


def test_of_a_syntax_error_the_line_that_could_not_be_read_stays() -> None:
    assert remaining(SYNTAX) == "\n".join(SYNTAX.split("\n")[4:])


@pytest.mark.parametrize("file", ["tests/test_x.py", "tests/test_y.py"])
def test_a_syntax_error_repeats_its_place_only_where_that_is_another_file(file: str) -> None:
    told = error(file, error_type="SyntaxError", message="invalid syntax (test_x.py, line 4)", line=4, traceback=SYNTAX)

    short = collection_errors.without_machinery(told)

    assert short.traceback is not None
    is_said = 'File "/project/tests/test_x.py", line 4' in short.traceback
    assert is_said == (short.message == "invalid syntax (test_x.py, line 4)") == (file != "tests/test_x.py")
    assert "def broken(:" in short.traceback


@pytest.mark.parametrize(
    "traceback", ["could not be collected", "E   ValueError: no", "Error in fixture\nsecond line", "mismatch:\nx"]
)
def test_where_there_are_no_frames_nothing_is_left_out(traceback: str) -> None:
    assert remaining(traceback) == traceback


@pytest.mark.parametrize(
    "traceback",
    [None, "", "E   ImportError: no x", "E   shop.errors.ImportError: no x", "E   no x\nE   ImportError: no x"],
)
def test_what_the_other_keys_say_is_not_said_again(traceback: str | None) -> None:
    assert remaining(traceback) is None


def test_of_a_text_of_several_lines_the_lines_that_the_message_lacks_stay() -> None:
    assert remaining("a.py:1: in <module>\nE   no y\nE   ImportError: no x") == "a.py:1: in <module>\nE   no y"


def test_only_the_traceback_is_told_in_fewer_words() -> None:
    whole = error(traceback=IMPORT_FAILED)

    assert collection_errors.without_machinery(whole).model_copy(update={"traceback": IMPORT_FAILED}) == whole


def test_what_pytest_says_of_a_real_file_keeps_its_cause(every_bench: Workbench) -> None:
    every_bench.write(
        {
            "helper.py": "import nothing_here",
            "test_import.py": "import helper",
            "test_syntax.py": "def broken(:\n    pass",
            "test_raise.py": "raise ValueError('no\\n- list')",
        }
    )
    printed = every_bench.shell("-p", "no:cacheprovider").stdout
    told = {
        name: printed.partition(f"ERROR collecting {name} ")[2].partition("\n")[2].partition("\n____")[0]
        for name in ("test_import.py", "test_syntax.py", "test_raise.py")
    }

    kept = {name: remaining(text.partition("\n====")[0]) or "" for name, text in told.items()}

    assert kept["test_import.py"].startswith("test_import.py:1: in <module>")
    assert kept["test_import.py"].endswith("E   ModuleNotFoundError: No module named 'nothing_here'")
    assert "SyntaxError: invalid syntax" in kept["test_syntax.py"]
    assert "def broken(:" in kept["test_syntax.py"]
    assert kept["test_raise.py"] == (
        "test_raise.py:1: in <module>\n    raise ValueError('no\\n- list')\nE   ValueError: no\nE   - list"
    )
    assert not any("importlib" in text or "site-packages" in text for text in kept.values())


def causes(errors: list[CollectionError]) -> list[tuple[str, int]]:
    """The first file of each, and how many more it has."""
    *_, last = collection_errors.ever_more(errors)
    return [(one.file, one.also) for one in last]


def test_hundreds_of_files_with_one_cause_are_told_once_with_how_many() -> None:
    errors = [error(f"tests/test_{number}.py") for number in range(300)]

    assert causes(errors) == [("tests/test_0.py", 299)]


def test_files_with_causes_of_their_own_stay_apart() -> None:
    errors = [error("a.py"), error("b.py", message="no y"), error("c.py", error_type="ValueError")]

    assert causes(errors) == [("a.py", 0), ("b.py", 0), ("c.py", 0)]


def test_causes_that_differ_in_a_number_stay_apart() -> None:
    errors = [
        error(f"tests/test_{n}.py", error_type="ModuleNotFoundError", message=f"No module named 'ink_{n}'")
        for n in range(120)
    ]

    assert len(causes(errors)) == 120


FRAME = "tests/test_{}.py:2: in <module>\n    import shop"


@pytest.mark.parametrize(
    ("kind", "traceback"),
    [
        pytest.param(
            "ValueError", f"{FRAME}\nshop.py:4: in <module>\nE   ValueError: no", id="one place of the source"
        ),
        pytest.param(
            "SyntaxError", f'{FRAME}\nE     File "/project/shop.py", line 4\nE   SyntaxError: no', id="syntax"
        ),
        pytest.param(
            "ImproperlyConfigured", f"{FRAME}\n/x/site-packages/django/conf.py:9: in __getattr__", id="a library"
        ),
        pytest.param("KeyError", f"{FRAME}\n/usr/lib/python3.12/os.py:9: in __getitem__", id="a missing setting"),
    ],
)
def test_one_place_that_several_files_lead_to_is_one_cause(kind: str, traceback: str) -> None:
    errors = [
        error(f"tests/test_{n}.py", error_type=kind, message="no", traceback=traceback.format(n)) for n in range(3)
    ]

    assert causes(errors) == [("tests/test_0.py", 2)]


@pytest.mark.parametrize(
    ("kind", "traceback"),
    [
        pytest.param("TypeError", FRAME, id="the same words"),
        pytest.param(
            "JSONDecodeError", f"{FRAME}\n/usr/lib/python3.12/json/decoder.py:9: in decode", id="Python's own library"
        ),
        pytest.param("SyntaxError", 'E     File "/project/tests/test_{}.py", line 4\nE   SyntaxError: no', id="syntax"),
        pytest.param("SyntaxError", None, id="syntax, of which the place alone is known"),
    ],
)
def test_the_same_words_of_two_files_are_two_causes(kind: str, traceback: str | None) -> None:
    errors = [
        error(f"tests/test_{n}.py", error_type=kind, message="no", traceback=traceback and traceback.format(n))
        for n in range(2)
    ]

    assert len(causes(errors)) == 2


def test_causes_without_an_entry_of_their_own_share_one_that_says_so() -> None:
    errors = [error(f"tests/test_{n}.py", message=f"no x{n % 9}") for n in range(12)]

    first, second, *_ = collection_errors.ever_more(errors)

    assert [(one.file, one.message, one.also) for one in first] == [
        ("tests/test_0.py", "9 causes, the first: no x0", 11)
    ]
    assert [(one.file, one.message, one.also) for one in second] == [
        ("tests/test_0.py", "no x0", 1),
        ("tests/test_1.py", "8 more causes, the first: no x1", 9),
    ]


WORDS = ["no a", "no b", "at 1", "at 2", "no a" * 200]


@given(st.lists(st.builds(error, message=st.sampled_from(WORDS)), min_size=1, max_size=20))
def test_no_cause_is_lost(errors: list[CollectionError]) -> None:
    *_, last = collection_errors.ever_more(errors)

    assert [one.message for one in last] == list(dict.fromkeys(one.message for one in errors))


@given(st.lists(st.builds(error, error_type=st.sampled_from("EF"), message=st.sampled_from(WORDS)), max_size=20))
def test_each_step_tells_more_and_all_count_every_file(errors: list[CollectionError]) -> None:
    steps = list(collection_errors.ever_more(errors))

    assert [len(step) for step in steps] == sorted(len(step) for step in steps)
    assert all(sum(1 + one.also for one in step) == len(errors) for step in steps)
    assert [len(step) for step in steps[:1]] == [1] * bool(errors)


def test_an_error_that_came_as_text_alone_is_told_in_fewer_words_too() -> None:
    whole = collection_errors.collection_error(records.uncollected("tests/test_x.py", traceback=IMPORT_FAILED))

    assert collection_errors.without_machinery(whole).model_dump() == {
        "file": "tests/test_x.py",
        "error_type": "ModuleNotFoundError",
        "message": "No module named 'nothing_here'",
        "line": 2,
        "traceback": "\n".join(IMPORT_FAILED.split("\n")[5:-1]),
        "also": 0,
    }


# --- made of what the child reports ---


def test_a_collection_error_that_is_known_whole_is_told_as_it_is() -> None:
    event = records.uncollected("a.py", error_type="ValueError", message="no", line=3, traceback="text")

    assert collection_errors.collection_error(event).model_dump() == {
        "file": "a.py",
        "error_type": "ValueError",
        "message": "no",
        "line": 3,
        "traceback": "text",
        "also": 0,
    }


@pytest.mark.parametrize(
    ("text", "error_type", "message", "line"),
    [
        pytest.param(IMPORT_FAILED, "ModuleNotFoundError", "No module named 'nothing_here'", 2, id="import"),
        pytest.param(SYNTAX, "SyntaxError", "invalid syntax", 4, id="syntax"),
        pytest.param("E   KeyboardInterrupt", "KeyboardInterrupt", "", None, id="no message"),
        pytest.param(" could not collect \n", "CollectionError", "could not collect", None, id="only text"),
    ],
)
def test_a_collection_error_that_came_as_text_alone_is_read_from_it(
    text: str, error_type: str, message: str, line: int | None
) -> None:
    error = collection_errors.collection_error(records.uncollected("tests/test_x.py", traceback=text))

    assert (error.error_type, error.message, error.line) == (error_type, message, line)
    assert error.traceback == text


def test_a_name_of_a_file_is_no_pattern() -> None:
    event = records.uncollected("tests/test_(x.py", traceback="tests/test_(x.py:5: in <module>")

    assert collection_errors.collection_error(event).line == 5
