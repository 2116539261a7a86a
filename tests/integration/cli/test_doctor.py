"""`pytest-mcp doctor` as a person types it: the real command, the real server, and the mistakes that people make."""

import json
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from pytest_mcp.tools import TOOLS
from tests.support.captured import captured
from tests.support.commands.preloaded import typed
from tests.support.waiting import PATIENCE, processes_in, until
from tests.support.workbench import NEWEST, Workbench, python_of

PYTHON = f"--python={python_of(NEWEST)}"
FINE = "def test_fine(): pass\n"
HANGING = "import pathlib, time\npathlib.Path('begun').touch()\ntime.sleep(1000)\n"


def command(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "pytest_mcp", *arguments]


def environment(**more: str) -> dict[str, str]:
    return {"PATH": "/usr/bin:/bin", "HOME": "/nowhere", "LANG": "C.UTF-8", **more}


def doctor(root: Path, *arguments: str, **more: str) -> "subprocess.CompletedProcess[str]":
    """Options stand before the command, its own behind it."""
    own = [argument for argument in arguments if argument == "--json"]
    options = [argument for argument in arguments if argument != "--json"]
    return typed(*options, "doctor", *own, cwd=root, env=environment(**more))


def told(root: Path, *arguments: str, **more: str) -> Any:
    return json.loads(doctor(root, *arguments, "--json", **more).stdout)


def closing(done: "subprocess.CompletedProcess[str]") -> list[str]:
    """The last lines of a report that nothing has disturbed, not even a traceback."""
    assert done.stderr == ""
    assert "Traceback" not in done.stdout
    return done.stdout.splitlines()[-2:]


@pytest.fixture
def project(bench: Workbench) -> Workbench:
    bench.write({"pyproject.toml": "[tool.pytest.ini_options]\nmarkers = ['slow']\n", "tests/test_fine.py": FINE})
    return bench


def test_a_project_that_is_ready_ends_with_zero_and_one_line_that_says_so(project: Workbench) -> None:
    done = doctor(project.root, PYTHON)

    assert done.returncode == 0
    version = ".".join(map(str, sys.version_info[:2]))
    assert closing(done) == ["", f"Ready: 1 test, Python {version}, pytest 9.2"]
    assert all(f"✓ {label} " in done.stdout for label in ("server", "protocol", "tools", "interpreter", "pytest"))
    assert "✗" not in done.stdout
    assert "\x1b" not in done.stdout
    doing = [line for line in done.stdout.splitlines() if line.endswith("...")]
    assert doing == ["starting the server ...", "collecting the tests ..."]


def test_an_entry_that_cannot_start_the_server_is_shown_with_the_command_that_renews_it(project: Workbench) -> None:
    entry = {"command": "/gone/pytest-mcp", "args": []}
    project.write({".mcp.json": json.dumps({"mcpServers": {"pytest": entry}})})

    broken = doctor(project.root, PYTHON)
    typed("setup", "claude-code", "--yes", cwd=project.root, env=environment())
    renewed = doctor(project.root, PYTHON)

    assert "✗ Claude Code       .mcp.json: /gone/pytest-mcp does not exist or cannot be executed\n" in broken.stdout
    assert "renew it: pytest-mcp setup claude-code\n" in broken.stdout
    assert "✓ Claude Code       .mcp.json\n" in renewed.stdout
    assert (broken.returncode, renewed.returncode) == (0, 0)


def test_json_is_the_tools_answer_the_handshake_and_the_clients(project: Workbench) -> None:
    answer = told(project.root, PYTHON)

    handshake = answer.pop("handshake")
    assert answer.pop("clients") == []
    (explain,) = [tool for tool in TOOLS if tool.name == "explain_environment"]
    assert list(answer) == list(explain.output_schema["required"])
    assert (answer["ready"], answer["tests"]["count"], answer["config"]["markers"]) == (True, 1, ["slow"])
    assert handshake["server"] == "pytest-mcp"
    assert handshake["tools"] == [tool.name for tool in TOOLS]
    assert (handshake["stderr"], handshake["seconds"] > 0) == ("", True)


def test_a_history_that_cannot_be_opened_is_not_ready(project: Workbench) -> None:
    project.write({"history.db": "no database"})

    done = doctor(project.root, PYTHON, f"--history={project.root}/history.db")

    assert done.returncode == 1
    assert f"{project.root}/history.db" in done.stdout
    assert closing(done)[1].startswith("Next: Correct --history")


def test_a_broken_environment_is_named_with_what_is_wrong(project: Workbench) -> None:
    python = project.root / ".venv" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.symlink_to("/nowhere/python")

    done = doctor(project.root)

    assert done.returncode == 1
    assert f"{python} (.venv in the project root): does not exist" in done.stdout
    assert closing(done)[1].startswith("Next: mv .venv .venv-broken && python3 -m venv ")


def test_a_folder_that_is_no_project_is_not_told_to_become_one(tmp_path: Path) -> None:
    done = doctor(tmp_path)

    assert done.returncode == 1
    assert "has no project file" in done.stdout
    assert closing(done)[1] == "Next: cd into the project's folder, or name it with --root."


def newly_started(root: Path, *arguments: str, **more: str) -> "subprocess.CompletedProcess[str]":
    """With variables that Python reads when it starts."""
    return captured(command(PYTHON, "doctor", *arguments), cwd=root, env=environment(**more), timeout=PATIENCE)


def startup_code(folder: Path, source: str) -> dict[str, str]:
    """Code that every Python runs first; here only that of the server, which is started without the word doctor."""
    folder.mkdir()
    (folder / "sitecustomize.py").write_text(f"import sys\nif 'doctor' not in sys.orig_argv:\n    {source}\n")
    return {"PYTHONPATH": str(folder)}


def test_a_server_that_does_not_start_is_told_in_its_own_words(project: Workbench, tmp_path: Path) -> None:
    broken = startup_code(
        tmp_path / "startup", "sys.stderr.write('no such library'); sys.stderr.flush(); import os; os._exit(1)"
    )

    done = newly_started(project.root, **broken)
    answer = json.loads(newly_started(project.root, "--json", **broken).stdout)

    assert done.returncode == 1
    assert "no such library" in done.stdout
    assert closing(done)[0].startswith("Not ready: the server exited")
    assert (answer["ready"], answer["handshake"]["protocol"]) == (False, None)
    assert answer["handshake"]["stderr"] == "no such library"


def test_a_server_whose_start_prints_on_the_wire_is_no_traceback(project: Workbench, tmp_path: Path) -> None:
    chatty = startup_code(tmp_path / "startup", "print('welcome', flush=True)")

    done = newly_started(project.root, **chatty)

    assert done.returncode == 0
    assert closing(done)[1].startswith("Ready: 1 test")


def test_without_unicode_there_are_letters_instead_of_signs(project: Workbench) -> None:
    project.write({"tests/test_ä.py": "import nowhere_to_be_found\n"})

    done = doctor(project.root, PYTHON, PYTHONIOENCODING="ascii")

    assert done.stdout.isascii()
    assert "+ server" in done.stdout
    assert "x not collected" in done.stdout


async def test_an_interruption_ends_it_quietly_and_all_that_it_started(project: Workbench) -> None:
    project.write({"conftest.py": HANGING})
    process = subprocess.Popen(
        command(PYTHON, "doctor"),
        cwd=project.root,
        env=environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    await until((project.root / "begun").exists)

    process.send_signal(signal.SIGINT)
    stdout, stderr = process.communicate(timeout=PATIENCE)

    assert (process.returncode, stderr) == (-signal.SIGINT, "")
    assert "Handshake" in stdout
    await until(lambda: not processes_in(project.root))


@pytest.mark.parametrize(
    "arguments", [("doctor", "more"), ("doctor", "--no-such"), ("--root=/no/such/folder", "doctor")]
)
def test_misuse_exits_with_two(project: Workbench, arguments: tuple[str, ...]) -> None:
    done = typed(*arguments, cwd=project.root, env=environment())

    assert (done.returncode, done.stdout) == (2, "")
    assert "Traceback" not in done.stderr
