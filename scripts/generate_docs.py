"""Write the generated files: docs/tools.md, the snapshots of the first answers to a client, and the manifests.

They come from the real server's answers, its models and `packaging/about.toml`. `--check` writes nothing and fails if
a file is out of date.
A changed schema is a changed promise to clients; it shows in the diff of the snapshot.
"""

import asyncio
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

# Python puts only the folder of a script on its path; `scripts` is a package of the folder above.
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from mcp.shared.memory import create_client_server_memory_streams
from mcp.shared.message import SessionMessage
from mcp_types import JSONRPCRequest, JSONRPCResponse
from mcp_types.version import KNOWN_PROTOCOL_VERSIONS, MODERN_PROTOCOL_VERSIONS

from pytest_mcp.api.parameters import Flag
from pytest_mcp.api.requests import Arguments
from pytest_mcp.config.model import Options, configure
from pytest_mcp.server.app import create
from pytest_mcp.tools import TOOLS, test_history
from scripts.manifests import manifests

ROOT = Path(__file__).resolve().parent.parent
REFERENCE = ROOT / "docs" / "tools.md"
SNAPSHOT = ROOT / "src" / "pytest_mcp" / "server" / "snapshot.json"
HISTORY_SNAPSHOT = SNAPSHOT.with_name("snapshot_history.json")
TOOLS_BY_NAME = {tool.name: tool for tool in (*TOOLS, test_history())}

INTRODUCTION = """\
# The tools

Generated from the models in `src/pytest_mcp` by `make docs`.

Only `about` of `test_history` and one of `node_id` and `node_ids` of `investigate_failure` are required; `null` means
the same as leaving a parameter out. Unknown parameters are refused. A number in a string (`"60"`), a number without a
fraction (`60.0`) and one string for a list are taken as meant; every other value of a wrong type is refused.
Every key of an answer is always present, in this order, unless it says when it is there. It is described where it
comes first. One without a type is a string; `?` stands for "or `null`".
"""

Schema = dict[str, Any]
# Results by method; then by protocol version, then by era.
Answers = dict[str, Schema]
Eras = dict[str, dict[str, Answers]]


def main(arguments: list[str]) -> int:
    wanted = generated(asyncio.run(answers(None)), asyncio.run(answers("history.db")))
    drifted = [path for path, content in wanted.items() if not is_file_with(path, content)]
    if "--check" in arguments:
        if drifted:
            names = ", ".join(str(path.relative_to(ROOT)) for path in drifted)
            print(f"Out of date: {names}; run `make docs` and read the difference.", file=sys.stderr)
        return 1 if drifted else 0
    for path in drifted:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(wanted[path], encoding="utf-8")
        print(f"wrote {path.relative_to(ROOT)}")
    return 0


async def answers(history: str | None) -> Eras:
    """The first answers to clients of every version. A client of any version may use a handshake."""
    return {
        "handshake": {version: await with_handshake(version, history) for version in KNOWN_PROTOCOL_VERSIONS},
        "stateless": {version: await without_handshake(version, history) for version in MODERN_PROTOCOL_VERSIONS},
    }


async def with_handshake(version: str, history: str | None) -> Answers:
    return await asked(history, initialize(version), ("ping", {}), ("tools/list", {}))


async def without_handshake(version: str, history: str | None) -> Answers:
    prefix = "io.modelcontextprotocol/"
    params = {"_meta": {f"{prefix}protocolVersion": version, f"{prefix}clientCapabilities": {}}}
    return await asked(history, ("server/discover", params), ("tools/list", params))


def initialize(version: str) -> tuple[str, Schema]:
    client = {"name": "generator", "version": "1"}
    return "initialize", {"protocolVersion": version, "capabilities": {}, "clientInfo": client}


async def asked(history: str | None, *requests: tuple[str, Schema]) -> Answers:
    """The server's results by method, for one client that sends these requests one after the other."""
    config = configure(Options(root=str(ROOT), max_runs=1, history=history), {})
    server = create(config)
    results: Answers = {}
    async with create_client_server_memory_streams() as ((heard, said), served), asyncio.TaskGroup() as tasks:
        tasks.create_task(server.run(*served, server.create_initialization_options()))
        for method, params in requests:
            await said.send(SessionMessage(JSONRPCRequest(jsonrpc="2.0", id=method, method=method, params=params)))
            answer = await heard.receive()
            assert isinstance(answer, SessionMessage)
            assert isinstance(answer.message, JSONRPCResponse)
            results[method] = answer.message.result
        await said.aclose()
    return results


def snapshot(eras: Eras) -> Schema:
    """Every answer. A value that is the same wherever its key occurs is moved to `shared` and replaced by null."""
    results = [result for versions in eras.values() for told in versions.values() for result in told.values()]
    values = {key: [result[key] for result in results if key in result] for result in results for key in result}
    # The eras of the SDK write the keys of a schema in different orders, which mean the same.
    shared = {key: said[0] for key, said in values.items() if all(value == said[0] for value in said)}

    def shortened(told: Answers) -> Answers:
        return {
            method: {key: None if key in shared else value for key, value in result.items()}
            for method, result in told.items()
        }

    return {"shared": shared} | {
        era: {version: shortened(told) for version, told in versions.items()} for era, versions in eras.items()
    }


def generated(eras: Eras, with_history: Eras) -> dict[Path, str]:
    """Every derived file with its content."""
    newest = next(reversed(with_history["stateless"].values()))
    reference = "\n".join([INTRODUCTION, *sections(newest["tools/list"]["tools"])])
    added = as_json(added_tool(eras, with_history))
    return {REFERENCE: reference, SNAPSHOT: as_json(snapshot(eras)), HISTORY_SNAPSHOT: added, **manifests()}


def added_tool(eras: Eras, with_history: Eras) -> Schema:
    """The one tool more that a server with a history has; everything else is the same."""
    added: list[Schema] = []
    for era, versions in with_history.items():
        for version, told in versions.items():
            *tools, tool = told["tools/list"]["tools"]
            assert told | {"tools/list": told["tools/list"] | {"tools": tools}} == eras[era][version]
            added.append(tool)
    assert all(tool == added[0] for tool in added)
    return added[0]


def is_file_with(path: Path, content: str) -> bool:
    return path.is_file() and path.read_text(encoding="utf-8") == content


def as_json(value: Schema) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2) + "\n"


def sections(tools: list[Schema]) -> Iterator[str]:
    """What several tools or parts of answers have alike is described where it comes first."""
    described: dict[str, Schema] = {}
    for tool in tools:
        yield section(tool, described)


def section(tool: Schema, described: dict[str, Schema]) -> str:
    answer = TOOLS_BY_NAME[tool["name"]].answer_schema
    shapes = {name: shape for name, shape in answer.get("$defs", {}).items() if described.get(name) != shape}
    hints = ", ".join(name for name, value in tool["annotations"].items() if value)
    example = code(json.dumps(tool["inputSchema"]["examples"][0]))
    parts = [
        f"## {tool['name']}",
        tool["description"],
        f"Hints: {hints}. Example: {example}",
        "Parameters:",
        parameters(tool, described),
        "The answer:\n\n" + "\n".join(f"- {key(described, *each)}" for each in answer["properties"].items()),
        *(shape_line(name, shape, described) for name, shape in shapes.items()),
    ]
    described |= shapes
    return "\n\n".join(parts) + "\n"


def parameters(tool: Schema, described: dict[str, Schema]) -> str:
    lines, same = [], []
    for name, entry in tool["inputSchema"]["properties"].items():
        if described.get(f"parameter {name}") == entry:
            same.append(code(name))
            continue
        described[f"parameter {name}"] = entry
        default = f"default {code(json.dumps(entry['default']))}" if "default" in entry else ""
        option = code_of_option(name, entry, TOOLS_BY_NAME[tool["name"]].request)
        kind = "; ".join(filter(None, [type_of(entry), limits(entry), default, option]))
        lines.append(f"- {code(name)} ({kind}): {entry['description']}")
    return "\n".join([*lines, *([f"- As above: {', '.join(same)}"] if same else [])])


def shape_line(name: str, shape: Schema, described: dict[str, Schema]) -> str:
    keys = "; ".join(key(described, *each).removesuffix(".") for each in shape["properties"].items())
    return f"{code(name)}: {' '.join(filter(None, [shape.get('description'), keys]))}."


def key(described: dict[str, Schema], name: str, entry: Schema) -> str:
    kind = type_of(entry).replace(" or null", "?")
    typed = code(name) if kind == "string" else f"{code(name)} ({kind})"
    is_known = described.get(f"key {name}") == entry
    described[f"key {name}"] = entry
    return f"{typed}: {entry['description']}" if "description" in entry and not is_known else typed


def type_of(schema: Schema) -> str:
    if "$ref" in schema:
        return code(schema["$ref"].rpartition("/")[2])
    if "anyOf" in schema:
        return " or ".join(type_of(choice) for choice in schema["anyOf"])
    if "enum" in schema:
        return ", ".join(code(json.dumps(value)) for value in schema["enum"])
    if schema["type"] == "array":
        return f"list of {type_of(schema['items'])}"
    return str(schema["type"])


def limits(schema: Schema) -> str:
    said = [
        *(between(choice, "minimum", "maximum", "") for choice in schema.get("anyOf", [schema])),
        between(schema, "minItems", "maxItems", " entries"),
        code(schema["pattern"]) if "pattern" in schema else "",
    ]
    return "; ".join(filter(None, said))


def between(schema: Schema, lowest: str, highest: str, unit: str) -> str:
    low, high = schema.get(lowest), schema.get(highest)
    if high is None:
        return ""
    return f"at most {high:,}{unit}" if low is None else f"{low:,} to {high:,}{unit}"


def code_of_option(name: str, schema: Schema, request: type[Arguments]) -> str:
    """The pytest option of a field: for each value of a boolean, or with the name in the place of a value."""
    flag = next((mark for mark in request.model_fields[name].metadata if isinstance(mark, Flag)), None)
    if flag is None:
        return ""
    if schema["type"] != "boolean":
        return code(flag.option(name.upper()) or "")
    said = {json.dumps(value): flag.option(value) for value in (True, False)}
    return ", ".join(f"{value}: {code(token)}" for value, token in said.items() if token is not None)


def code(text: str) -> str:
    return f"`{text}`"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
