"""Pages to look at, and a parser's view of one."""

import json
from dataclasses import dataclass, field, replace
from html.parser import HTMLParser
from typing import Any

from pytest_mcp.api.errors import RunEnvironment
from pytest_mcp.api.requests import ExecuteTests
from pytest_mcp.investigation import page
from pytest_mcp.investigation.answer import Findings
from pytest_mcp.investigation.base import AtBase
from pytest_mcp.investigation.order import Order
from pytest_mcp.investigation.outcome import Outcome
from pytest_mcp.investigation.repetitions import Alone, Seeds
from pytest_mcp.investigation.result import InvestigateResult, Polluter, Suspect
from pytest_mcp.page import document, frame
from pytest_mcp.page.content import Content, PageOrigin
from pytest_mcp.page.document import Document
from pytest_mcp.report import report
from pytest_mcp.run.events import Event
from pytest_mcp.run.run import Run
from tests.support.invented.records import execution, green, one_test, phase, raised, session, skipped, uncollected

ORIGIN = PageOrigin("shop", command="pytest-mcp run", again="pytest-mcp run", commit="a" * 40)
CREATED = "2026-01-02 03:04 UTC"
# Each would become markup, a script or another attribute if it were not escaped.
HOSTILE = (
    "<script>document.title='owned'</script>",
    "</script><script>document.title='owned'</script>",
    "<img src=x onerror=\"document.title='owned'\">",
    '" onmouseover="document.title=\'owned\'" x="',
    "'><svg onload=document.title='owned'>",
    "<!--<script>",
    "]]><style>*{display:none}</style>",
    "javascript:document.title='owned'",
    "${document.title='owned'} $data {{7*7}} &lt;b&gt; &#60;",
    "\u202egnp.exe\u2028\x00\x1b[31m\ud800",
)
DIFFERENCE = "AssertionError: assert 'one' == 'two'\n  \n  - two\n  ? ^^\n  + one\n  ?  ^^"


def content_of(run: Run[ExecuteTests], **changes: Any) -> Content:
    """With these changes to what the run reports."""
    return Content(replace(report.execution_report(run, None), **changes))


def document_of(shown: Content, most: int = frame.MAX_BYTES) -> Document:
    return document.run_document(shown, ORIGIN, created=CREATED, most=most)


def rendered(shown: Content, plain: str = "") -> str:
    return frame.file(document_of(shown, frame.room(plain)), plain)


def investigated(text: str = "test_x", runs: int = 3) -> tuple[Findings, InvestigateResult]:
    """Everything that an investigation can find, with this text at every place that a project decides."""
    polluter, node_id = f"tests/test_a.py::{text}", f"tests/test_b.py::{text}"
    told = raised(f"Error: {text}", (f"src/{text}.py:3", text, text), node_id=node_id, sections=[[text, text]])
    run = execution(session(one_test(node_id, told), selected=1, exit_status=1), code=1)
    answer = InvestigateResult(
        kind="order_dependent",
        confidence=f"high: passed in 3 of 3 runs alone, failed each time after {text}",
        evidence=["alone: PPP (a failure rate up to 64 % is still possible)", f"cause: {text}"],
        first_difference=[],
        broken_by=None,
        suspects=[Suspect(file=f"src/{text}.py", line=3, function=text, score=score) for score in (0.71, 0.5)],
        polluter=Polluter(node_ids=[polluter], effect="fails_after", rerun={"node_ids": [polluter, node_id]}),
        notices=[text],
        rerun={"node_ids": [polluter, node_id]},
    )
    failure = report.execution_report(run, None).failures[0]
    seen = tuple(Outcome("P", seconds=(number + 2) / 10) for number in range(runs))
    findings = Findings(
        node_id,
        Alone(seen, (Seeds(None),) * runs, runs),
        order=Order(outcome=Outcome("F", failure=failure)),
        base=AtBase(text, (Outcome("?", seconds=0.1),)),
        environment=RunEnvironment(text, text, [], text, text, None),
    )
    return findings, answer


def rendered_investigation(findings: Findings, result: InvestigateResult, plain: str = "") -> str:
    shown = page.page_of(findings, result, ORIGIN, created=CREATED, most=frame.room(plain))
    return frame.file(shown, plain)


def failing(number: int, cause: str = "ValueError: no {}", file: str = "tests/test_{}.py") -> list[Event]:
    node_id = f"{file.format(number % 20)}::test_{number}"
    told = raised(cause.format(number), (f"src/shop/m{number}.py:3", "f", "raise"), node_id=node_id)
    return one_test(node_id, told)


def passing_run() -> Run[ExecuteTests]:
    return execution(green("tests/test_a.py::test_one", "tests/test_a.py::test_two"))


def mixed_run() -> Run[ExecuteTests]:
    """Every outcome, a file that could not be collected, a comparison, captured output and a cause of three tests."""
    alike = [
        one_test(
            f"tests/test_a.py::test_alike[{each}]",
            raised(
                "KeyError: 'pen'",
                ("src/shop/cart.py:3", "find", "return prices[name]"),
                node_id=f"tests/test_a.py::test_alike[{each}]",
            ),
            duration=each / 10,
        )
        for each in (1, 2, 3)
    ]
    compared = raised(
        DIFFERENCE,
        ("tests/test_a.py:9", "test_compared", "assert one() == 'two'"),
        node_id="tests/test_a.py::test_compared",
        sections=[["Captured stdout call", "printed by the test\n"]],
    )
    broken = phase(
        "tests/test_b.py::test_setup", when="setup", message="OSError: no disk", traceback="E   OSError: no disk"
    )
    events = session(
        one_test("tests/test_a.py::test_fine"),
        *alike,
        one_test("tests/test_a.py::test_compared", compared),
        one_test("tests/test_b.py::test_setup", broken),
        one_test("tests/test_b.py::test_skipped", skipped("tests/test_b.py::test_skipped", "not today")),
        uncollected(
            "tests/test_c.py", error_type="ImportError", message="no shop", line=2, traceback="E   ImportError"
        ),
        selected=7,
        exit_status=1,
    )
    return execution(events, code=1)


def empty_run() -> Run[ExecuteTests]:
    return execution(session(selected=0, exit_status=5), code=5)


def incomplete_run() -> Run[ExecuteTests]:
    return execution(session(one_test("tests/test_a.py::test_one"), selected=3))


def huge_run(tests: int = 10_000, failures: int = 500, text: str = "") -> Run[ExecuteTests]:
    fine = [
        one_test(f"tests/unit/test_module_{n % 200}.py::TestClass::test_case[{n}]") for n in range(tests - failures)
    ]
    bad = [failing(n, "ValueError: no {}" + text) for n in range(failures)]
    return execution(session(*fine, *bad, selected=tests, exit_status=1), code=1)


def hostile_run() -> Run[ExecuteTests]:
    """Whatever a test can choose holds markup: names, parameters, messages, statements, values, output, files."""
    tests = []
    for number, text in enumerate(HOSTILE):
        node_id = f"tests/test_{text}.py::test_x[{text}]"
        told = raised(
            f"Error{number}: {text}\n  - {text}\n  + {text}",
            (f"src/{text}.py:3", text, text),
            node_id=node_id,
            sections=[[text, text]],
        )
        tests.append(one_test(node_id, told))
    bad = uncollected(HOSTILE[0], error_type=HOSTILE[2], message=HOSTILE[3], traceback=HOSTILE[1])
    skips = one_test("tests/test_s.py::test_s", skipped("tests/test_s.py::test_s", HOSTILE[1]))
    return execution(session(*tests, skips, bad, selected=len(tests) + 1, exit_status=1), code=1)


@dataclass
class Seen(HTMLParser):
    """What a parser finds in a page."""

    page: str
    # Each start tag with the names of its attributes.
    tags: list[tuple[str, tuple[str, ...]]] = field(default_factory=list)
    values: list[tuple[str, str]] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    # The content of scripts and styles, with the type of the element.
    raw: list[tuple[str, str | None, str]] = field(default_factory=list)

    def __post_init__(self) -> None:
        HTMLParser.__init__(self, convert_charrefs=True)
        self._open: tuple[str, str | None] | None = None
        self.feed(self.page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, tuple(name for name, _ in attrs)))
        self.values += [(name, value or "") for name, value in attrs]
        self._open = (tag, dict(attrs).get("type")) if tag in ("script", "style") else None
        if self._open:
            self.raw.append((*self._open, ""))

    def handle_endtag(self, _tag: str) -> None:
        self._open = None

    def handle_data(self, data: str) -> None:
        if self._open:
            tag, kind, before = self.raw[-1]
            self.raw[-1] = (tag, kind, before + data)
        else:
            self.texts.append(data)

    @property
    def data(self) -> dict[str, Any]:
        (text,) = [text for tag, kind, text in self.raw if kind == "application/json"]
        parsed: dict[str, Any] = json.loads(text)
        return parsed

    def blocks(self, section: str) -> dict[str, Any]:
        """What stands in this section, by its kind; empty if the page has none of this name."""
        return {kind: value for name, _, blocks in self.data["sections"] if name == section for kind, value in blocks}

    @property
    def policy(self) -> str:
        (policy,) = [value for name, value in self.values if name == "content" and "default-src" in value]
        return policy

    def has_text(self, text: str) -> bool:
        """Whether the page's data has it."""
        return any(text in each for each in texts_in(self.data))


def texts_in(value: Any) -> list[str]:
    if isinstance(value, dict):
        return [text for pair in value.items() for text in texts_in(pair)]
    if isinstance(value, list | tuple):
        return [text for each in value for text in texts_in(each)]
    return [value] if isinstance(value, str) else []
