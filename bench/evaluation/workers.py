"""Who mends a bug: a script that stands for a model, or Claude Code with a model that the user names.

The script reads what it is given and writes the mended files, whatever it has read: it proves that both ways work from
end to end, and nothing about models. What it has read is what a model would have been given.
"""

import json
import os
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from mcp import Client, MCPError, StdioServerParameters

from bench.evaluation.bugs import Bug

# A run of these tests takes a second; this is what a careful person gives one that may hang.
SHELL_SECONDS = SERVER_SECONDS = 10
AGENT_SECONDS = 900
# What an agent may take for the project's Python.
SYSTEM = Path("/usr/bin/python3")


@dataclass
class Work:
    """What was done: what came out of each run of tests, as the model read it."""

    read: list[str] = field(default_factory=list)
    seconds: float = 0.0


class Worker(Protocol):
    def by_shell(self, bug: Bug, project: Path, python: Path) -> Work: ...

    async def by_server(self, bug: Bug, project: Path, python: Path) -> Work: ...


def write(project: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (project / name).write_text(text, encoding="utf-8")


def in_shell(project: Path, python: Path) -> str:
    """What a model reads of pytest in a shell with a time limit, as agents' shells have one."""
    command: list[str | Path] = ["timeout", str(SHELL_SECONDS), python, "-m", "pytest", "-q"]
    # By a file: processes that are left would hold a pipe open.
    with (project / ".output").open("w+", encoding="utf-8") as output:
        subprocess.run(command, cwd=project, stdout=output, stderr=subprocess.STDOUT, check=False)
        output.seek(0)
        return output.read()


class Script:
    """Each runs the tests, mends, and runs them again; with the server one investigates what is not plain."""

    def by_shell(self, bug: Bug, project: Path, python: Path) -> Work:
        work, begun = Work(), time.monotonic()
        if bug.wrong_environment:
            work.read.append(in_shell(project, SYSTEM))
        work.read.append(in_shell(project, python))
        write(project, bug.mended)
        work.read.append(in_shell(project, python))
        work.seconds = time.monotonic() - begun
        return work

    async def by_server(self, bug: Bug, project: Path, python: Path) -> Work:
        work, begun = Work(), time.monotonic()
        async with Client(server(project, python)) as client:
            failing = await self._called(client, work, "execute_tests", {"timeout": SERVER_SECONDS})
            if failing.get("rerun") and len(bug.files) != 3:
                await self._called(client, work, "execute_tests", failing["rerun"] | {"timeout": SERVER_SECONDS})
            write(project, bug.mended)
            await self._called(client, work, "execute_tests", {"timeout": SERVER_SECONDS})
        work.seconds = time.monotonic() - begun
        return work

    async def _called(self, client: Client, work: Work, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
        try:
            answer = (await client.call_tool(tool, arguments)).structured_content or {}
        except MCPError as error:
            work.read.append(str(error))
            return {}
        work.read.append(json.dumps(answer, ensure_ascii=False, separators=(",", ":")))
        return dict(answer)


@dataclass(frozen=True)
class ClaudeCode:
    """Not run here without a key: its stream of messages says what the model has read."""

    model: str

    def by_shell(self, bug: Bug, project: Path, python: Path) -> Work:
        hint = f" Run tests with: {python} -m pytest" if not bug.wrong_environment else ""
        return self._worked(bug.task + hint, project, "--strict-mcp-config", "--allowedTools", "Bash,Read,Edit,Write")

    async def by_server(self, bug: Bug, project: Path, python: Path) -> Work:
        started = server(project, python)
        entry = {"command": started.command, "args": started.args}
        settings = json.dumps({"mcpServers": {"pytest": entry}})
        allowed = ["--allowedTools", "mcp__pytest,Read,Edit,Write", "--disallowedTools", "Bash"]
        return self._worked(bug.task, project, "--strict-mcp-config", "--mcp-config", settings, *allowed)

    def _worked(self, task: str, project: Path, *flags: str) -> Work:
        begun = time.monotonic()
        command = ["claude", "-p", task, "--model", self.model, "--output-format", "stream-json", "--verbose", *flags]
        done = subprocess.run(
            command, cwd=project, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True, timeout=AGENT_SECONDS,
            check=True, env={**os.environ, "CLAUDE_CONFIG_DIR": str(project / ".claude-state")},
        )  # fmt: skip
        return Work(runs_in(done.stdout.splitlines()), time.monotonic() - begun)


def runs_in(stream: list[str]) -> list[str]:
    """What the runs of tests in a stream of messages gave: calls of our tools, and of a shell with pytest in it."""
    messages = [json.loads(line).get("message") or {} for line in stream if line.startswith("{")]
    parts = [part for message in messages if isinstance(message.get("content"), list) for part in message["content"]]
    uses = {part["id"]: part for part in parts if part.get("type") == "tool_use"}
    read = []
    for part in parts:
        use = uses.get(part.get("tool_use_id", ""), {})
        is_ours = str(use.get("name", "")).startswith("mcp__pytest__")
        if is_ours or "pytest" in str(use.get("input", {}).get("command", "")):
            read.append(text_of(part.get("content")))
    return read


def text_of(content: Any) -> str:
    if isinstance(content, list):
        return "\n".join(str(part.get("text", "")) for part in content)
    return str(content or "")


def server(project: Path, python: Path) -> StdioServerParameters:
    arguments = ["-m", "pytest_mcp", f"--root={project}", f"--python={python}"]
    return StdioServerParameters(command=sys.executable, args=arguments, cwd=project)
