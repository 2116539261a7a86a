"""Failures as pytest prints them."""

from tests.support.workbench import Workbench

FAILING = """
    import json

    def test_compares():
        left = [{"id": number, "name": "pen"} for number in range(30)]
        right = [dict(row) for row in left]
        right[17] = {"id": 17, "name": "ink"}
        assert left == right

    def test_compares_with_words():
        left = {f"key {number}": number for number in range(30)}
        assert left == dict(left, **{"key 17": 0}), "the stock is wrong"

    def test_prints():
        print("\\n".join(f"line {number}" for number in range(200)))
        json.loads("{")

    def test_chains():
        try:
            json.loads("{")
        except ValueError as error:
            raise RuntimeError("no order") from error
"""


def failure(bench: Workbench, name: str) -> str:
    """What pytest itself prints of this failure."""
    bench.write({"test_it.py": FAILING})
    printed = bench.shell("-vv", "-p", "no:cacheprovider", f"test_it.py::{name}").stdout
    return printed.partition(f"_ {name} _")[2].partition("\n")[2].partition("\n====")[0]


def marked(lines: list[str], *, margin: str = "E         ") -> str:
    return "\n".join(["E       AssertionError: assert a == b", *(f"{margin}{line}" for line in lines)])
