"""`make recording`: record docs/demo.svg, the film in the README: an agent finds and fixes a bug through the tools.

The calls are made by a scripted client, to a real server on stdio, in a copy of examples/shop. What the film shows of
an answer comes from that answer, shortened so that it can be read.
"""

import asyncio
import json
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from mcp import Client, StdioServerParameters

from scripts.demo import FAULTY_FILE, copy_example, fix, prepare_environment
from scripts.terminal_svg import Line, Span, draw

ROOT = Path(__file__).resolve().parent.parent
TARGET = ROOT / "docs" / "demo.svg"
TITLE = "An agent finds and fixes a bug: execute_tests fails with the cause, one line is edited, execute_tests passes"
TASK = "Find out why the tests fail, and fix it."
COLUMNS = 106
# The first column has what happens, the second the key of an answer.
LABEL, KEY = 7, 11
COUNTS = ("failed", "errors", "passed", "skipped")
# How long people need to read an answer, and how long the last one stays.
SECONDS_A_LINE = 0.55
SECONDS_AT_LEAST = 1.2
LAST_SECONDS = 6.0
# A call takes as long as it took, but so long that it can be seen.
LEAST_CALL = 0.8

Answer = dict[str, Any]


class Film:
    def __init__(self) -> None:
        self.lines: list[Line] = []
        self.now = 0.0

    def show(self, label: str, *rows: tuple[Span, ...]) -> None:
        """What happens now, after an empty line."""
        before = [] if not self.lines else [Line((), self.now)]
        labels = [label, *[""] * (len(rows) - 1)]
        told = [
            Line((Span(f"{label:{LABEL}}", "faint"), *row), self.now) for label, row in zip(labels, rows, strict=True)
        ]
        self.lines += [*before, *told]

    def answer(self, rows: list[tuple[Span, ...]], *, took: float) -> None:
        # The first answer is there from the beginning, so that the first frame says something.
        self.now += max(took, LEAST_CALL) if self.now else 0.0
        self.lines += [Line((Span(" " * LABEL), *row), self.now) for row in rows]
        self.wait(len(rows))

    def wait(self, lines: int) -> None:
        self.now += max(SECONDS_AT_LEAST, SECONDS_A_LINE * lines)


def main() -> int:
    prepare_environment()
    with tempfile.TemporaryDirectory(prefix="pytest-mcp-recording-") as folder:
        film = asyncio.run(record(copy_example(Path(folder))))
    picture = draw(film.lines, columns=COLUMNS, seconds=film.now + LAST_SECONDS, title=TITLE)
    TARGET.write_text(picture, encoding="utf-8")
    print(f"{TARGET.relative_to(ROOT)}: {len(film.lines)} lines, {len(picture) // 1024} KB")
    return 0


async def record(project: Path) -> Film:
    film = Film()
    film.show("task", (Span(TASK, bold=True),))
    server = StdioServerParameters(command=sys.executable, args=["-m", "pytest_mcp"], cwd=project)
    async with Client(server) as client:
        failed = await call(film, client, {})
        film.show("edit", *edited(fix(project / FAULTY_FILE)))
        film.wait(3)
        await call(film, client, failed["rerun"])
        last = await call(film, client, {})
    if (failed["verdict"], last["verdict"]) != ("failed", "passed"):
        raise SystemExit("The example did not fail and then pass; nothing was written.")
    return film


async def call(film: Film, client: Client, arguments: Answer) -> Answer:
    film.show("call", (Span("execute_tests ", "blue", bold=True), Span(shortened(arguments))))
    began = asyncio.get_running_loop().time()
    result = await client.call_tool("execute_tests", arguments)
    took = asyncio.get_running_loop().time() - began
    assert isinstance(result.structured_content, dict)
    film.answer(list(shown(result.structured_content)), took=took)
    return result.structured_content


def shortened(arguments: Answer) -> str:
    """Of several ids the first, so that they fit into a line."""
    if len(arguments.get("node_ids", ())) < 2:
        return json.dumps(arguments)
    first, *others = arguments["node_ids"]
    return f'{{"node_ids": ["{first}", … {len(others)} more]}}'


def shown(answer: Answer) -> Iterator[tuple[Span, ...]]:
    colour = "green" if answer["verdict"] == "passed" else "red"
    yield key("verdict"), Span(answer["verdict"], colour, bold=True)
    counts = {name: answer["summary"][name] for name in COUNTS}
    told = ", ".join(f"{number} {name}" for name, number in counts.items() if number)
    yield key("summary"), Span(f"{told} in {answer['summary']['duration']:.2f} s")
    for group in answer["failure_groups"]:
        yield key("cause"), Span(group["message"], "red")
        yield key(""), Span(f"{group['count']} tests, {group['location']}")
        traceback = answer["tests"][group["example"]]["traceback"].splitlines()
        for number, line in enumerate(traceback):
            yield key("" if number else "traceback"), Span(line, "text" if line.startswith(" ") else "faint")


def key(name: str) -> Span:
    return Span(f"{name:{KEY}}", "yellow")


def edited(difference: list[str]) -> list[tuple[Span, ...]]:
    """The file and the lines that differ, without the head of the difference."""
    colours = {"-": "red", "+": "green"}
    changed = [line for line in difference[2:] if line[0] in colours]
    return [(Span(FAULTY_FILE, bold=True),), *((Span(f"{line[0]} {line[1:]}", colours[line[0]]),) for line in changed)]


if __name__ == "__main__":
    sys.exit(main())
