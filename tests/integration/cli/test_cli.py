"""What a person types, and what comes back: text and exit codes of the real command."""

import json
import subprocess
import sys
from pathlib import Path

import anyio
import pytest

from pytest_mcp import __version__
from pytest_mcp.cli import commands
from pytest_mcp.cli.main import COMMANDS
from tests.support import workbench
from tests.support.commands import preloaded
from tests.support.projects.checkouts import new_checkout
from tests.support.workbench import Workbench


def typed(*arguments: str, cwd: Path, **environment: str) -> "subprocess.CompletedProcess[str]":
    return preloaded.typed(*arguments, cwd=cwd, env={"PATH": "/usr/bin:/bin", "HOME": "/nowhere", **environment})


@pytest.fixture
def project(bench: Workbench) -> Workbench:
    bench.write({"tests/test_fine.py": "def test_fine(): pass\n"})
    return bench


def test_call_prints_the_reply_and_exits_with_zero_for_a_result(project: Workbench) -> None:
    done = typed(f"--python={project.python}", "call", "execute_tests", '{"path": "tests"}', cwd=project.root)

    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout)["verdict"] == "passed"


def test_call_exits_with_one_for_an_error_and_prints_it(project: Workbench) -> None:
    refused = typed("call", "execute_tests", '{"path": "nowhere"}', cwd=project.root)
    as_result = typed("--errors=result", "call", "execute_tests", '{"path": "nowhere"}', cwd=project.root)

    assert refused.returncode == as_result.returncode == 1
    assert json.loads(refused.stdout)["code"] == -32602
    assert json.loads(as_result.stdout) == json.loads(refused.stdout)


@pytest.mark.parametrize(
    ("tool", "arguments"), [("discover_tests", {"detail": "tests"}), ("discover_tests", {"path": 1})]
)
def test_call_prints_what_a_client_gets(project: Workbench, tool: str, arguments: dict[str, object]) -> None:
    """Called in this process without MCP, so it is compared with a server and the SDK's client."""
    printed = typed(f"--python={project.python}", "call", tool, json.dumps(arguments), cwd=project.root).stdout

    reply = anyio.run(workbench.call, tool, arguments, project.config)

    told = vars(reply) if isinstance(reply, workbench.Failure) else reply
    assert printed == json.dumps(told, ensure_ascii=False, indent=2) + "\n"


@pytest.mark.parametrize(
    "arguments",
    [
        ("call",),
        ("call", "execute_tests", "{not json"),
        ("call", "execute_tests", "[1]"),
        ("--root=/no/such/folder", "call", "execute_tests"),
        ("--timeout=0",),
        ("--errors=other",),
        ("--log-level=loud",),
        ("--http=nowhere:nowhere",),
        ("--no-such-option",),
    ],
)
def test_misuse_exits_with_two_and_one_clear_sentence(project: Workbench, arguments: tuple[str, ...]) -> None:
    done = typed(*arguments, cwd=project.root)

    assert (done.returncode, done.stdout) == (2, "")
    assert "Traceback" not in done.stderr
    assert "pytest-mcp" in done.stderr.splitlines()[-1]


def test_a_call_is_made_on_stdio_whatever_is_served_otherwise(project: Workbench) -> None:
    settings = {"PYTEST_MCP_HTTP": "0.0.0.0:0", "PYTEST_MCP_ALLOWED_HOSTS": "name", "PYTEST_MCP_TOKEN": "x" * 20}

    done = typed(f"--python={project.python}", "call", "discover_tests", cwd=project.root, **settings)

    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout)["count"] == 1


def test_version_and_help_speak_without_a_project() -> None:
    version = typed("--version", cwd=Path("/"))
    usage = typed("--help", cwd=Path("/"))

    assert version.stdout == f"pytest-mcp {__version__}\n"
    assert usage.returncode == 0
    assert "--python" in usage.stdout


def test_help_begins_with_the_commands_in_one_line_each() -> None:
    lines = typed("--help", cwd=Path("/")).stdout.splitlines()

    listed = lines[: lines.index("options:")]
    assert [line.split()[0] for line in listed if line.startswith("  ")] == list(COMMANDS)
    assert max(map(len, lines)) <= 79


def test_an_entry_of_a_client_may_still_have_a_flag_that_is_gone(project: Workbench) -> None:
    done = typed(f"--python={project.python}", "--history-map", "call", "discover_tests", cwd=project.root)

    assert (done.returncode, done.stderr) == (0, "")


def test_every_command_has_its_module_and_every_module_its_command() -> None:
    assert sorted(COMMANDS) == sorted(path.stem for path in Path(commands.__path__[0]).glob("[!_]*.py"))


def test_a_history_that_is_not_there_is_refused_and_not_created(tmp_path: Path) -> None:
    done = typed("--history=typo.db", "history", "flaky", cwd=tmp_path)

    assert done.returncode != 0
    assert done.stdout == ""
    assert f"There is no history at {tmp_path}/typo.db: check the path" in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_what_a_run_writes_is_no_change(tmp_path: Path) -> None:
    checkout = new_checkout(tmp_path / "project")
    for name in ("out.xml", "page.html"):
        (checkout.top / name).touch()

    files = ["--junitxml=out.xml", "--html=page.html"]
    done = typed(f"--python={sys.executable}", "run", "--changed", *files, cwd=checkout.top)

    assert "no file, so no test was selected" in done.stdout


def test_a_root_that_may_not_be_read_is_refused_in_one_sentence(tmp_path: Path) -> None:
    """With `setpriv`, since root may read everything."""
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o000)
    command = ["setpriv", "--inh-caps=-all", "--bounding-set=-all", sys.executable, "-m", "pytest_mcp"]

    done = subprocess.run([*command, f"--root={closed}", "run"], capture_output=True, text=True, check=False)

    assert (done.returncode, done.stderr) == (
        4,
        f"pytest-mcp: The project root {closed} cannot be read: permission denied.\n",
    )


def test_an_answer_that_finds_no_room_is_told_and_is_no_failed_test(project: Workbench) -> None:
    with Path("/dev/full").open("w", encoding="utf-8") as full:
        done = subprocess.run(
            [sys.executable, "-m", "pytest_mcp", f"--python={project.python}", "run"],
            cwd=project.root,
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )

    assert (done.returncode, done.stderr) == (
        3,
        "pytest-mcp: the answer could not be written: No space left on device\n",
    )


def test_settings_of_a_server_on_http_do_not_reach_what_a_command_writes_or_starts(project: Workbench) -> None:
    project.write({"tests/test_bad.py": "def test_bad(): assert 0\n"})
    typed_before = (f"--python={project.python}", "--http")

    again = typed(*typed_before, "--log-level=error", "run", cwd=project.root).stdout
    entry = typed(*typed_before, "--log-level=error", "setup", "--print", "claude-code", cwd=project.root).stdout

    assert "--http" not in again + entry
    assert "--log-level=error" in again
    assert "--log-level=error" in entry
