"""`base` on `execute_tests`: which failures are new, which are old, and what was mended."""

from tests.support.runs.at_base import commit
from tests.support.workbench import Workbench

INVALID_PARAMS = -32602
TESTS = """
    import shop
    STATE = []
    def test_leaks(): STATE.append(1)
    def test_new(): assert shop.new() == 1
    def test_old(): assert shop.old() == 1
    def test_changed(): assert shop.changed() == 1
    def test_other_way(): assert shop.other_way() == 1
    def test_mended(): assert shop.mended() == 1
    def test_polluted(): assert not STATE
    def test_fine(): pass
"""
SHOP = """
    import part
    def new(): return {new}
    def old(): return 2
    def changed(): return {changed}
    def other_way(): return {other_way}
    def mended(): return {mended}
"""
PART = "def a(): return 2\ndef b(): return 2\n"


def shop(new: int, changed: int, other_way: str, mended: int) -> dict[str, str]:
    return {"shop.py": SHOP.format(new=new, changed=changed, other_way=other_way, mended=mended)}


def change(bench: Workbench) -> None:
    bench.write({"test_it.py": TESTS, "part.py": PART, **shop(1, 2, "part.a()", 2)})
    commit(bench)
    bench.write({**shop(2, 3, "part.b()", 1), "test_added.py": "def test_added(): assert 0\n"})


async def test_each_failure_is_new_old_or_changed_and_what_was_mended_is_told(bench: Workbench) -> None:
    change(bench)

    answer = await bench.execute(base="HEAD", timeout=600)

    base = answer["base"]
    assert answer["verdict"] == "failed"
    assert base["ref"].startswith("HEAD")
    assert {name: sorted(base[name]["node_ids"]) for name in ("new", "old", "changed", "mended")} == {
        "new": ["test_added.py::test_added", "test_it.py::test_new"],
        "old": ["test_it.py::test_old"],
        "changed": ["test_it.py::test_changed", "test_it.py::test_other_way"],
        "mended": ["test_it.py::test_mended"],
    }
    assert [notice for notice in answer["notices"] if "they pass without the other tests" in notice]


async def test_without_it_the_answer_has_no_such_key_and_a_ref_that_is_none_is_refused(bench: Workbench) -> None:
    bench.write({"test_it.py": "def test_it(): open('ran', 'w')\n"})
    commit(bench)

    refused = await bench.refused("execute_tests", base="nowhere")

    assert (refused.code, refused.data["field"]) == (INVALID_PARAMS, "base")
    assert not (bench.root / "ran").exists()
    assert "base" not in await bench.execute()


async def test_few_tokens_leave_counts(bench: Workbench) -> None:
    bench.write({"test_it.py": "import pytest\n"})
    commit(bench)
    name = "x" * 60
    lines = ["import pytest", f"@pytest.mark.parametrize('{name}', range(60))", f"def test_{name}({name}): assert 0"]
    bench.write({"test_it.py": "\n".join(lines)})

    answer = await bench.execute(base="HEAD", max_tokens=500, timeout=600)

    assert answer["base"]["new"]["count"] == 60
    assert len(answer["base"]["new"]["node_ids"]) < 20


async def test_a_test_that_an_untracked_file_breaks_is_not_old(bench: Workbench) -> None:
    bench.write({"test_it.py": "import os\ndef test_it(): assert not os.path.exists('data.json')\n"})
    commit(bench)
    bench.write({"data.json": "{}"})

    answer = await bench.execute(base="HEAD", timeout=600)

    assert [answer["base"][name]["count"] for name in ("new", "old", "changed")] == [0, 0, 0]
    assert [notice for notice in answer["notices"] if "do not fail there without data.json" in notice]


async def test_a_test_that_fails_only_in_a_copy_was_not_mended(bench: Workbench) -> None:
    checks = "def test_name(): assert ROOT.name == {name!r}\ndef test_made(): assert (ROOT / 'node_modules').exists()\n"
    source = "import pathlib\nimport shop\nROOT = pathlib.Path(__file__).parent\n" + checks.format(name=bench.root.name)
    bench.write({"test_it.py": source + "def test_mended(): assert shop.A\n", "shop.py": "A = 0\n"})
    commit(bench)
    bench.write({"shop.py": "A = 1\n", "node_modules/made.js": ""})

    answer = await bench.execute(base="HEAD", timeout=600)

    assert answer["base"]["mended"] == {"count": 1, "node_ids": ["test_it.py::test_mended"]}
