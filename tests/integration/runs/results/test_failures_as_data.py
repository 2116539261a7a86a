"""What an answer shows of real failures, on the oldest and the newest pytest: the way to them, texts and values."""

from typing import Any

import pytest

from tests.support.workbench import Workbench

SHOP = '''import json

class ShopError(Exception):
    pass

def load(text, strict=True):
    """A docstring that nobody needs in a traceback."""
    try:
        return json.loads(text)
    except ValueError as error:
        raise ShopError(
            f"cannot load {text}") from error

def price(name, table):
    return table[name]["price"]

def endless(depth):
    return endless(depth + 1)
'''
TESTS = """import pytest, shop

@pytest.mark.parametrize(
    "name, table",
    [
        ("pen", {"pencil": {"price": 1}}),
    ],
)
def test_price(name, table):
    assert shop.price(name, table) == 1

def test_load(tmp_path):
    shop.load("{")

def test_hidden():
    __tracebackhide__ = True
    helper()

def helper():
    __tracebackhide__ = True
    assert 1 == 2

def test_without_traceback():
    pytest.fail("no pens today", pytrace=False)

def test_endless():
    shop.endless(0)
"""
VALUES = """import json

def parse(text):
    limit = 3
    words = text.split(",")
    return json.loads(words[limit])

def test_parse():
    outer = "unseen"
    parse("1,2,3,{")

def test_compared():
    many = [f"{n}" for n in range(40)]
    assert many == []

def test_crowded():
    v01 = v02 = v03 = v04 = v05 = v06 = v07 = v08 = v09 = v10 = v11 = v12 = 1
    v13 = v14 = v15 = v16 = v17 = v18 = v19 = v20 = v21 = v22 = v23 = 2
    raise KeyError
"""
COMPARISONS = """
def test_list():
    assert list(range(100, 140)) == [*range(100, 110), 333, *range(111, 130), 555, *range(131, 140)]

def test_dict():
    assert {"same": "x" * 40, "name": "y" * 400} == {"same": "x" * 40, "name": "z" * 400}

def test_text():
    assert "a" * 60 + "b" == "a" * 60 + "c"

def test_lines():
    left = [f"line {n}" for n in range(60)]
    right = [*left[:30], "other", *left[31:]]
    assert "\\n".join(left) == "\\n".join(right)

def test_caught_and_passed():
    try:
        assert [1] == [2]
    except AssertionError:
        pass
"""


async def shown(bench: Workbench, **asked: Any) -> dict[str, tuple[str, list[str]]]:
    """Message and traceback of each failed test."""
    answer = await bench.execute(detail="tests", **asked)
    return {
        test["node_id"].rpartition("::")[2].partition("[")[0]: (test["message"], test["traceback"].split("\n"))
        for test in answer["tests"]
        if test["outcome"] == "failed"
    }


@pytest.mark.parametrize("options", ["", "-n 2"], ids=["alone", "xdist"])
async def test_a_failure_is_shown_by_its_frames_statements_values_and_text(
    every_bench: Workbench, options: str
) -> None:
    every_bench.write({"shop.py": SHOP, "test_shop.py": TESTS, "pytest.ini": f"[pytest]\naddopts = {options}\n"})

    failed = await shown(every_bench)

    assert failed["test_price"] == (
        "KeyError: 'pen'",
        [
            "test_shop.py:10: in test_price",
            "    assert shop.price(name, table) == 1",
            "shop.py:15: in price",
            '    return table[name]["price"]',
            "    name = 'pen', table = {'pencil': {'price': 1}}",
        ],
    )
    message, lines = failed["test_load"]
    assert message == "shop.ShopError: cannot load {"
    assert lines[:2] == ["shop.py:9: in load", "    return json.loads(text)"]
    assert any(line.startswith("... ") and line.endswith("/json") for line in lines)
    assert any(line.startswith("E   json.decoder.JSONDecodeError: ") for line in lines)
    assert lines[lines.index("raised from the above:") + 1 :] == [
        "test_shop.py:13: in test_load",
        '    shop.load("{")',
        "shop.py:11: in load",
        '    raise ShopError(f"cannot load {text}") from error',
        "    text = '{', strict = True",
    ]
    assert failed["test_without_traceback"][0] == "Failed: no pens today"
    assert sum(line == "shop.py:18: in endless" for line in failed["test_endless"][1]) == 1


@pytest.mark.parametrize("options", ["", "-n 1"], ids=["alone", "xdist"])
async def test_local_variables_of_the_innermost_frame_of_the_project_are_shown_when_they_are_asked_for(
    every_bench: Workbench, options: str
) -> None:
    every_bench.write({"test_a.py": VALUES, "pytest.ini": f"[pytest]\naddopts = {options}\n"})

    without, asked = await shown(every_bench), await shown(every_bench, locals=True)

    _, lines = asked["test_parse"]
    frame = lines.index("test_a.py:6: in parse")
    assert lines[frame + 1 : frame + 5] == [
        "    return json.loads(words[limit])",
        "    limit = 3",
        "    text = '1,2,3,{'",
        "    words = ['1', '2', '3', '{']",
    ]
    assert [line for line in lines if "unseen" in line or line.startswith("    idx")] == []
    (many,) = (line for line in asked["test_compared"][1] if line.startswith("    many = "))
    assert many.startswith("    many = ['0', '1', '2', '3'")
    assert len(many) <= 124
    assert asked["test_crowded"][1][-2:] == ["    v20 = 2", "    [3 more variables]"]
    assert [
        line for _, lines in without.values() for line in lines if "limit = " in line or "v20 = 2" in line[:12]
    ] == []


async def test_a_module_that_raises_at_import_is_shown_by_its_frames_and_not_by_its_source(
    every_bench: Workbench,
) -> None:
    shop = "import collections\n" + "# a comment\n" * 500 + "Pen = collections.namedtuple('name price', 'Pen')\n"
    every_bench.write({"shop.py": shop, "test_a.py": "import shop\n", "test_b.py": "import shop\n"})

    answer = await every_bench.execute()

    (error,) = answer["collection_errors"]
    assert (error["file"], error["error_type"], error["also"]) == ("test_a.py", "ValueError", 1)
    lines = error["traceback"].split("\n")
    assert lines[:4] == [
        "test_a.py:1: in <module>",
        "    import shop",
        "shop.py:502: in <module>",
        "    Pen = collections.namedtuple('name price', 'Pen')",
    ]
    assert "a comment" not in error["traceback"]


async def test_all_that_differs_in_a_comparison_is_shown_and_nothing_tells_to_use_an_option(
    every_bench: Workbench,
) -> None:
    every_bench.write({"test_a.py": COMPARISONS})

    failed = await shown(every_bench)

    texts = {name: "\n".join([message, *lines]) for name, (message, lines) in failed.items()}
    assert all("-v" not in text for text in texts.values()), texts
    leaves = [line for line in failed["test_list"][1] if line.startswith("E ")]
    assert leaves == ["E     [10]: 110 != 333", "E     [30]: 130 != 555"]
    assert [line for line in failed["test_dict"][1] if line.startswith("E ")] == [
        f"E     ['name'] character 1: - {'z' * 40!r} … 320 characters … {'z' * 40!r}",
        f"E     + {'y' * 40!r} … 320 characters … {'y' * 40!r}",
    ]
    assert "- …'aaaaaaaaaaaaaaac'" in texts["test_text"]
    assert "+ 'line 30'" in texts["test_lines"]
    assert "- 'other'" in texts["test_lines"]
    assert "line 50" not in texts["test_lines"]
    # Nothing else that pytest prints changes.
    caught = await every_bench.execute(keywords="caught")
    assert caught["text_output"].partition(" in")[0] == "1 passed, 4 deselected"


UNICODE = """
def name(text):
    return text.lower()

def test_none(): assert None == "gültig"
def test_member(): assert "ü" in ["ärger"]
def test_where(): assert len(name("GÜLTIG")) == 3
LONG = "ü" * 3000
def test_long(): assert None == LONG
"""


async def test_values_are_shown_in_their_own_letters(every_bench: Workbench) -> None:
    """pytest escapes them at the verbosity at which it cuts nothing."""
    every_bench.write({"test_a.py": UNICODE})

    failed = await shown(every_bench, max_tokens=20_000)

    assert failed["test_none"][0] == "AssertionError: assert None == 'gültig'"
    assert failed["test_member"][0] == "AssertionError: assert 'ü' in ['ärger']"
    assert any("name('GÜLTIG')" in line for line in failed["test_where"][1])
    assert "üüü" in failed["test_long"][0]


TRACED = """
import sys

def compare():
    try:
        assert list(range(100)) == list(range(1, 101))
    except AssertionError:
        pass

def test_traced():
    compare()  # imports what it needs
    seen = set()
    sys.settrace(lambda frame, event, argument: seen.add(frame.f_code.co_filename))
    compare()
    sys.settrace(None)
    assert "<pytest-mcp>" in seen
    assert not [file for file in seen if "pytest_mcp" in file]
"""


async def test_who_traces_a_failed_comparison_sees_no_file_of_ours(every_bench: Workbench) -> None:
    """Hypothesis explains a failure by the files of what only failing cases run."""
    every_bench.write({"test_a.py": TRACED})

    answer = await every_bench.execute()

    assert answer["verdict"] == "passed", answer


OUTPUTS = """
import subprocess, sys

def test_process():
    code = "import sys; [print('step', n, file=sys.stderr) for n in range(20)]; sys.exit(3)"
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)

class Response:
    def __init__(self): self._content = b'{"detail": "no such pen"}'

class Refused(Exception):
    response = None

def test_wrapped():
    error = Refused("404")
    error.response = Response()
    raise RuntimeError("no order") from error
"""


@pytest.mark.parametrize("options", ["", "-n 2"], ids=["alone", "xdist"])
async def test_what_a_failed_process_printed_and_a_server_answered_is_shown(
    every_bench: Workbench, options: str
) -> None:
    every_bench.write({"test_a.py": OUTPUTS, "pytest.ini": f"[pytest]\naddopts = {options}\n"})

    failed = await shown(every_bench)

    assert failed["test_process"][1][-9:] == [
        "E   stderr| [12 more lines above]",
        *(f"E   stderr| step {number}" for number in range(12, 20)),
    ]
    assert failed["test_wrapped"][1][-1] == 'E   response| {"detail": "no such pen"}'
