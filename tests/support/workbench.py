"""A small project to try things on: written by a test, run by the real server in a real environment."""

import os
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import mcp_types as types
from jsonschema import Draft202012Validator
from mcp import Client, MCPError

from pytest_mcp.config.model import Config, Options, configure
from pytest_mcp.server.app import create
from pytest_mcp.tools import Tool, offered
from scripts.environments import ENVIRONMENTS, MATRIX
from tests.support.captured import captured
from tests.support.projects.project_files import write_files

# Most tests about pytest run on the oldest and the newest. How outcomes are counted and reported differs from one
# generation to the next, so it is tested on all of them. `make matrix` names others for both.
_NAMED = os.environ.get("PYTEST_MCP_TEST_ENVIRONMENTS")
PYTESTS = ("pytest-7.0", "pytest-9") if _NAMED is None else tuple(_NAMED.split(","))
GENERATIONS = ("pytest-7.0", "pytest-8.4", "pytest-9") if _NAMED is None else PYTESTS
NEWEST = PYTESTS[-1]


def python_of(environment: str) -> Path:
    """Of an environment of `make test` or `make matrix`."""
    return (ENVIRONMENTS | MATRIX)[environment].python


@dataclass(frozen=True)
class Failure:
    """What a call was answered with, when that was a JSON-RPC error."""

    code: int
    message: str
    data: dict[str, Any]


@dataclass(frozen=True)
class Workbench:
    root: Path
    environment: str = NEWEST

    @property
    def python(self) -> Path:
        return python_of(self.environment)

    @property
    def config(self) -> Config:
        return configure(
            Options(root=str(self.root), python=str(self.python), timeout=60, max_runs=4, max_workers=4, no_share=True),
            # What a shell would hand down, without the traces of the pytest that runs this suite.
            {"PATH": "/usr/bin:/bin", "HOME": str(self.root.parent), "LANG": "C.UTF-8"},
        )

    def using(self, environment: str) -> "Workbench":
        return replace(self, environment=environment)

    def write(self, files: Mapping[str, str | bytes]) -> None:
        write_files(self.root, files)

    def shell(self, *arguments: str) -> "subprocess.CompletedProcess[str]":
        """What a person would have typed with the environment active: the oracle."""
        prefix, environment = self.python.parent.parent, self.config.environment
        path = os.pathsep.join([str(prefix / "bin"), environment.get("PATH", os.defpath)])
        return captured(
            [self.python, "-m", "pytest", *arguments],
            cwd=self.root,
            env={**environment, "PATH": path, "VIRTUAL_ENV": str(prefix)},
        )

    async def execute(self, **arguments: Any) -> dict[str, Any]:
        return succeeded(await call("execute_tests", arguments, self.config))

    async def discover(self, **arguments: Any) -> dict[str, Any]:
        return succeeded(await call("discover_tests", arguments, self.config))

    async def explain(self) -> dict[str, Any]:
        return succeeded(await call("explain_environment", {}, self.config))

    async def investigate(self, **arguments: Any) -> dict[str, Any]:
        return succeeded(await call("investigate_failure", arguments, self.config))

    async def check(self, **arguments: Any) -> dict[str, Any]:
        return succeeded(await call("check_change", arguments, self.config))

    async def refused(self, tool: str, **arguments: Any) -> Failure:
        """The error that this call is answered with; a result would be a failure of the test."""
        answer = await call(tool, arguments, self.config)
        assert isinstance(answer, Failure), f"expected an error, got {answer}"
        return answer


def succeeded(answer: dict[str, Any] | Failure) -> dict[str, Any]:
    assert not isinstance(answer, Failure), answer
    return answer


async def call(tool: str, arguments: dict[str, Any], config: Config) -> dict[str, Any] | Failure:
    """One call through the SDK's own client. The answer is valid for the output schema."""
    request = types.CallToolRequest(params=types.CallToolRequestParams(name=tool, arguments=arguments))
    async with Client(create(config)) as client:
        try:
            result = await client.session.send_request(request, types.CallToolResult)
        except MCPError as error:
            return Failure(error.code, error.message, error.data)
    assert isinstance(result.structured_content, dict)
    (offer,) = (each for each in offered(config) if each.name == tool)
    _validator(offer).validate(result.structured_content)
    return result.structured_content


@cache
def _validator(tool: Tool) -> Draft202012Validator:
    """Compiled once: `Client.call_tool` would list the tools and compile their schemas for each client."""
    schema = tool.output_schema
    Draft202012Validator.check_schema(schema)
    return Draft202012Validator(schema)
