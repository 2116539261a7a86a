"""`pytest-mcp completion`: real shells complete our commands, flags and values with its scripts."""

import shutil
import subprocess
from pathlib import Path

import pytest

from pytest_mcp.cli.commands.completion import SHELLS
from pytest_mcp.cli.main import COMMANDS
from pytest_mcp.config.options import SETTINGS
from tests.support.commands.preloaded import typed

FISH, ZSH = shutil.which("fish"), shutil.which("zsh")
ENVIRONMENT = {"PATH": "/usr/bin:/bin", "HOME": "/nowhere", "LANG": "C.UTF-8"}
# What is typed up to the cursor, and words that are offered there.
TYPED = {
    "": {*COMMANDS},
    "inv": {"investigate"},
    "--": {setting.flag for setting in SETTINGS},
    "--errors ": {"jsonrpc", "result"},
    "run --ma": {"--markers", "--max-tokens", "--maxfail"},
    "run --tb n": {"native", "no"},
    "run --detail ": {"auto", "tests", "full"},
    "run tests/test_": {"tests/test_cart.py"},
    "setup clau": {"claude-code", "claude-desktop"},
    "call exec": {"execute_tests"},
    "completion ": {*SHELLS},
}
# Bash calls the function that `complete` names, with what is typed in variables.
IN_BASH = """
source "$0"
[[ $(complete -p pytest-mcp) =~ -F\\ ([a-z_]+) ]]
function=${BASH_REMATCH[1]}
while IFS= read -r line; do
    COMP_WORDS=(pytest-mcp $line)
    [[ -z $line || $line == *' ' ]] && COMP_WORDS+=('')
    COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
    COMPREPLY=()
    $function pytest-mcp "${COMP_WORDS[-1]}" "${COMP_WORDS[-2]}"
    echo "${COMPREPLY[*]}"
done
"""
IN_FISH = """
source $argv[1]
while read --line line
    string join -- ' ' (complete -C "pytest-mcp $line" | string split -f1 \\t)
end
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "test_cart.py").touch()
    return tmp_path


def script(shell: str, folder: Path) -> Path:
    done = typed("completion", shell, cwd=folder, env=ENVIRONMENT)
    assert (done.returncode, done.stderr) == (0, "")
    path = folder / shell
    path.write_text(done.stdout)
    return path


def offered(command: list[str], folder: Path) -> dict[str, set[str]]:
    lines = "".join(f"{line}\n" for line in TYPED)
    done = subprocess.run(
        command, cwd=folder, env=ENVIRONMENT, input=lines, capture_output=True, encoding="utf-8", check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    return {line: set(words.split()) for line, words in zip(TYPED, done.stdout.splitlines(), strict=True)}


def test_bash_completes_commands_flags_values_and_paths(project: Path) -> None:
    found = offered(["bash", "--norc", "-c", IN_BASH, str(script("bash", project))], project)

    assert {line: words - found[line] for line, words in TYPED.items() if words - found[line]} == {}
    assert found["inv"] == TYPED["inv"]


@pytest.mark.skipif(FISH is None, reason="fish is not installed")
def test_fish_completes_commands_flags_values_and_paths(project: Path) -> None:
    found = offered([str(FISH), "--no-config", "-c", IN_FISH, str(script("fish", project))], project)

    assert {line: words - found[line] for line, words in TYPED.items() if words - found[line]} == {}


@pytest.mark.skipif(ZSH is None, reason="zsh is not installed")
def test_zsh_can_parse_its_script(project: Path) -> None:
    subprocess.run([str(ZSH), "-n", script("zsh", project)], check=True)


def test_another_shell_is_refused(tmp_path: Path) -> None:
    done = typed("completion", "cmd", cwd=tmp_path, env=ENVIRONMENT)

    assert done.returncode == 2
    assert "'bash', 'zsh', 'fish'" in done.stderr
