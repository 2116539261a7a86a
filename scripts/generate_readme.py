"""Write the parts of README.md that can be derived: the parameters, and the figures that were measured.

Each part stands between two comments that name it. `--check` writes nothing and fails when a part is not what the
models and the results of `make bench` and `make tokens` say.
"""

import re
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

# Started as a file, a script finds only its own folder, and the scripts are a package of the one above.
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from bench import results as measured
from bench.tokens import results as counted
from pytest_mcp.tools import TOOLS

README = Path(__file__).resolve().parent.parent / "README.md"

SPEED = {
    "one-test": "one test, server warm",
    "plugins": "the same with xdist, cov, anyio, hypothesis and django installed",
    "first-call": "one test, first call after the start",
    "many-tests": "10,000 passing tests",
    "discovery": "discovery of 10,000 tests",
}
COST = {
    "passing": "200 passing tests",
    "one-failing": "1 failing test",
    "mixed": "200 passing tests, 4 failures of different causes, 3 skips",
    "one-fixture": "200 errors of one broken fixture",
    "deep": "100 deep failures of one cause, each after 200 printed lines",
    "noisy": "500 failures of 12 causes",
}


def main(arguments: list[str]) -> int:
    text = README.read_text(encoding="utf-8")
    fresh = filled(text)
    if "--check" in arguments:
        if fresh != text:
            print("Not what was measured and declared: README.md; run `make docs`.", file=sys.stderr)
        return 1 if fresh != text else 0
    if fresh != text:
        README.write_text(fresh, encoding="utf-8")
        print("wrote README.md")
    return 0


def filled(text: str) -> str:
    for name, write in PARTS.items():
        begin, end = f"<!-- generated: {name} -->\n", "<!-- end -->\n"
        pattern = re.compile(f"{re.escape(begin)}.*?{re.escape(end)}", re.DOTALL)
        text, count = pattern.subn(lambda _: f"{begin}{write()}{end}", text)  # noqa: B023 - used at once
        if count != 1:
            raise SystemExit(f"README.md must have one part {name!r} between {begin.strip()} and {end.strip()}")
    return text


def parameters() -> str:
    """Each parameter once, with the tools that take it."""
    takers: dict[str, list[str]] = {}
    words: dict[str, str] = {}
    for tool in TOOLS:
        for name, schema in tool.input_schema["properties"].items():
            takers.setdefault(name, []).append(tool.name.partition("_")[0])
            words[name] = schema["description"]
    return table(("parameter", "of", "what it says"), [(f"`{n}`", ", ".join(takers[n]), words[n]) for n in words])


def speed() -> str:
    kept = measured.load()
    rows = [(what, *_times(kept[name])) for name, what in SPEED.items()]
    start = kept["start"].measurement.figures
    rows.append(("start to `tools/list`, against a minimal server of the SDK", *_pair(start)))
    return table(("what", "this server", "`python -m pytest -q`", "ratio"), rows)


def cost() -> str:
    kept = counted.load()
    rows = [
        (what, f"{kept[name].answer:,}", *(f"{kept[name].printed[way]:,}" for way in ("pytest", "pytest -q")))
        for name, what in COST.items()
    ]
    return table(("tokens of", "the answer", "`pytest`", "`pytest -q`"), rows)


def _times(entry: measured.Entry) -> tuple[str, str, str]:
    assert entry.measurement.result is not None
    own, shell, _ = _pair(entry.measurement.figures)
    return own, shell, f"{entry.measurement.result.median:.2f}"


def _pair(figures: Sequence[measured.Figure]) -> tuple[str, str, str]:
    own, other = figures[0].spread.median, figures[1].spread.median
    return f"{own:.2f} s", f"{other:.2f} s", f"{own / other:.2f}"


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "".join(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in line)} |\n" for line in lines)


PARTS: Mapping[str, Callable[[], str]] = {"parameters": parameters, "speed": speed, "cost": cost}


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
