"""One row per tool: its texts, its hints, its request, its result and its handler.

What a client sees in `tools/list` is derived from these rows. How it is sent over MCP is decided in `server/app.py`.
"""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from pytest_mcp import engine
from pytest_mcp.api import did_you_mean, targets
from pytest_mcp.api.errors import Fault, InvalidParams
from pytest_mcp.api.requests import Arguments, DiscoverTests, ExecuteTests, ExplainEnvironment
from pytest_mcp.api.results import DiscoverResult, ExecuteResult, ExplainResult, Shape
from pytest_mcp.config.model import Bounds, Config
from pytest_mcp.investigation.result import InvestigateFailure, InvestigateResult
from pytest_mcp.proof.result import CheckChange, CheckResult
from pytest_mcp.run.run import Project

if TYPE_CHECKING:
    from pytest_mcp.investigation.answer import Findings
    from pytest_mcp.proof.findings import ProofFindings

INSTRUCTIONS = """\
Runs this project's pytest tests, in the project's own Python, instead of a shell.

discover_tests lists tests with their node ids. It imports the test modules but runs no test.
execute_tests runs the whole suite, or the tests that you choose with node_ids, path, markers, keywords or
changed. Use failfast while you fix one thing.

Read verdict first: only "passed" means that all selected tests ran and none failed. Failing tests are a
normal result: tests shows one failure of each cause (up to twenty), failure_groups counts
failures with the same cause, and rerun has the arguments that run the failures again. collection_errors are files
that could not be imported. A JSON-RPC error means that the run did not start or did not finish; its
message says why and what to do. You can pass node ids from answers back unchanged.

Call explain_environment when no usable Python is found, when tests or modules are missing, or when the
results seem to come from other code. Call investigate_failure before you call a failure flaky, old or
unrelated."""

# What pydantic says of a parameter, in the words of all other faults.
_WORDS = {
    "string_type": "must be a string",
    "bool_type": "must be true or false",
    "missing": "is required",
    "string_pattern_mismatch": "must be a file name with letters, digits and _*?.-[] only; a folder goes into path",
}

# What is known of a call; what of it is sent, with the settings that limit it.
Handler = Callable[[Any, Project], Awaitable[Any]]
MakeAnswer = Callable[[Any, Any, Config], Shape]


async def _investigate(request: InvestigateFailure, project: Project) -> "Findings":
    # No other call needs it, and it takes time to load.
    from pytest_mcp.investigation.investigate import investigate  # noqa: PLC0415

    return await investigate(request, project)


def _answer_of_findings(findings: "Findings", _request: Arguments, _config: Config) -> InvestigateResult:
    from pytest_mcp.investigation.answer import answer_of  # noqa: PLC0415 - few calls need it

    return answer_of(findings)


async def _check(request: CheckChange, project: Project) -> "ProofFindings":
    from pytest_mcp.proof.check import check  # noqa: PLC0415 - few calls need it

    return await check(request, project)


def _answer_of_proof(findings: "ProofFindings", _request: Arguments, _config: Config) -> CheckResult:
    from pytest_mcp.proof.answer import proof_answer  # noqa: PLC0415 - few calls need it

    return proof_answer(findings)


@dataclass(frozen=True)
class Tool:
    name: str
    title: str
    description: str
    request: type[Arguments]
    result: type[Shape]
    handler: Handler
    answer: MakeAnswer = lambda answer, _request, _config: answer
    # Tests are the project's own code and can do anything, each time something else.
    runs_tests: bool = False
    # It starts nothing and changes no file.
    only_reads: bool = False
    # Whether it takes a core for long enough to wait for one.
    takes_cores: bool = True
    # So many levels of objects have their keys in the output schema; below them an object is just an object.
    spelled_out: int = 2

    def accept(self, arguments: dict[str, Any], bounds: Bounds) -> Arguments:
        """The validated request; raises InvalidParams with everything that is wrong with the arguments."""
        try:
            return self.request.model_validate(arguments, context=bounds)
        except ValidationError as error:
            faults = []
            for number, details in enumerate(error.errors(include_url=False)):
                field = ".".join(str(part) for part in details["loc"])
                message = self._message(details, suggests=number < did_you_mean.MAX_ASKED)
                faults.append(Fault(field, message, details["type"], details["input"]))
            raise InvalidParams(faults) from error

    def _message(self, details: ErrorDetails, *, suggests: bool) -> str:
        match details["type"]:
            case "extra_forbidden":
                known = list(self.request.model_fields)
                near = did_you_mean.nearest(str(details["loc"][-1]), known)
                meant = f"did you mean {near}? It takes" if near else "it takes"
                return f"is not a parameter of {self.name}; {meant} {', '.join(known)}"
            case "literal_error":
                return f"must be {details['ctx']['expected']}"
            case "value_error":
                # Our own words, without what pydantic puts in front of them.
                return targets.explained(details["ctx"]["error"], suggests=suggests)
        return _WORDS.get(details["type"]) or details["msg"]

    @property
    def input_schema(self) -> dict[str, Any]:
        schema: dict[str, Any] = _plain(self.request.model_json_schema())
        return schema

    @property
    def answer_schema(self) -> dict[str, Any]:
        """With every key's description, for docs/tools.md."""
        return self.result.model_json_schema(mode="serialization")

    @property
    def output_schema(self) -> dict[str, Any]:
        """What a client checks answers with: types and required keys, in few bytes."""
        whole = self.answer_schema
        return _compact(whole, whole.get("$defs", {}), self.spelled_out)


TOOLS = (
    Tool(
        name="discover_tests",
        title="Discover tests",
        description="List this project's pytest tests with node id, file and line, without running them"
        " (their modules are imported). Files that cannot be imported are in collection_errors.",
        request=DiscoverTests,
        result=DiscoverResult,
        handler=engine.discover,
    ),
    Tool(
        name="execute_tests",
        title="Run tests",
        description="Run this project's pytest tests: all, or those chosen. Returns verdict, counts, each"
        " failure's cause and traceback. Failing tests and files that cannot be collected are results; a run that was"
        " interrupted or broke is an error.",
        request=ExecuteTests,
        result=ExecuteResult,
        handler=engine.execute,
        answer=engine.answer,
        runs_tests=True,
    ),
    Tool(
        name="explain_environment",
        title="Explain the environment",
        description="Tell whether this project's tests can run, with which Python and pytest, and if not, what to do"
        " (next_step). Collects the tests (their modules are imported), runs none.",
        request=ExplainEnvironment,
        result=ExplainResult,
        handler=engine.explain,
        takes_cores=False,
        spelled_out=1,
    ),
    Tool(
        name="investigate_failure",
        title="Investigate a failure",
        description="Find out why a test fails: always, sometimes, only after or without other tests, already at a"
        " base; since which commit, which call went wrong first, which functions to suspect. Runs it many times.",
        request=InvestigateFailure,
        result=InvestigateResult,
        handler=_investigate,
        answer=_answer_of_findings,
        runs_tests=True,
        spelled_out=1,
    ),
    Tool(
        name="check_change",
        title="Check a change",
        description="Tell whether the tests prove this change: new tests fail at the base, no test was weakened, edits"
        " of the changed lines (mutants) make tests fail. Call it before you say that it is done.",
        request=CheckChange,
        result=CheckResult,
        handler=_check,
        answer=_answer_of_proof,
        runs_tests=True,
        spelled_out=1,
    ),
)

BY_NAME = {tool.name: tool for tool in TOOLS}


def offered(config: Config) -> tuple[Tool, ...]:
    """The tools of a server with these settings."""
    return TOOLS if config.history is None else (*TOOLS, test_history())


def named(name: str, tools: Mapping[str, Tool]) -> Tool:
    """The tool of this name; raises InvalidParams if there is none."""
    if name in tools:
        return tools[name]
    known = " or ".join(tools)
    raise InvalidParams([Fault("name", f"there is no such tool; call {known}", "unknown_tool", name)])


@cache
def test_history() -> Tool:
    # Who records no runs does not load it.
    from pytest_mcp.history import questions  # noqa: PLC0415
    from pytest_mcp.history.request_and_result import HistoryResult, TestHistory  # noqa: PLC0415

    return Tool(
        name="test_history",
        title="Ask recorded runs",
        description="Tell from recorded runs which tests are flaky, have become slower or fail now and since which"
        " commit, or how one test did. Runs nothing.",
        request=TestHistory,
        result=HistoryResult,
        handler=questions.answer,
        only_reads=True,
        takes_cores=False,
    )


# For pytest, it is not a test.
test_history.__test__ = False  # type: ignore[attr-defined]


def _plain(schema: Any) -> Any:
    """pydantic's schema without what an agent need not read: titles, and null, which only means unset."""
    if isinstance(schema, list):
        return [_plain(entry) for entry in schema]
    if not isinstance(schema, dict):
        return schema
    plain = {
        key: {name: _plain(value) for name, value in entry.items()} if key == "properties" else _plain(entry)
        for key, entry in schema.items()
        if key != "title" and not (key == "default" and entry is None)
    }
    choices = [choice for choice in plain.pop("anyOf", []) if choice != {"type": "null"}]
    return (choices[0] if len(choices) == 1 else {"anyOf": choices} if choices else {}) | plain


def _compact(schema: dict[str, Any], shapes: dict[str, Any], levels: int) -> dict[str, Any]:
    """References are replaced by what they refer to. What may be null, or absent, is not spelled out."""
    if "$ref" in schema:
        return _compact(shapes[schema["$ref"].rpartition("/")[2]], shapes, levels)
    if "anyOf" in schema:
        # Not a list of types: clients that know a single type would drop it.
        return {"anyOf": [_compact(choice, shapes, 0) for choice in schema["anyOf"]]}
    if "items" in schema:
        return {"type": "array", "items": _compact(schema["items"], shapes, levels)}
    if "properties" not in schema or not levels:
        return {key: schema[key] for key in ("type", "enum") if key in schema}
    required = schema["required"]
    # What is there only if asked for is then not null, which comes last in its schema.
    keys = {
        name: _compact(entry, shapes, levels - 1)
        if name in required
        else _compact(entry.get("anyOf", [entry])[0], shapes, 0)
        for name, entry in schema["properties"].items()
    }
    return {"type": "object", "properties": keys, "required": required}


def with_notices(result: Shape, notices: list[str]) -> Shape:
    answer: Any = result  # every answer has this key
    return result.model_copy(update={"notices": [*answer.notices, *notices]}) if notices else result


def dump(result: BaseModel) -> dict[str, Any]:
    """The answer as it is sent: every key, in the model's order."""
    return result.model_dump(mode="json", by_alias=True)
