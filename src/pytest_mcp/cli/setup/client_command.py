"""The command with which a client changes the user's own settings itself.

Only where nothing else is lost. Not for files of projects: `gemini mcp add` was seen to empty one in a folder that is
not trusted. Not `codex mcp add`, which drops comments and keys that it does not know from entries of others.
"""

import json
from pathlib import Path

import anyio

from pytest_mcp.cli.setup.clients import Client
from pytest_mcp.cli.setup.plan import Plan
from pytest_mcp.cli.setup.settings_file import Change, real
from pytest_mcp.process import process
from pytest_mcp.process.job import Launch, SpawnError
from pytest_mcp.text import in_line

# By client and whether to remove. Words in capitals are replaced, ARGS by any number of words.
COMMANDS = {
    ("claude-code", False): "claude mcp add-json --scope user NAME ENTRY",
    ("claude-code", True): "claude mcp remove --scope user NAME",
    ("gemini", False): "gemini mcp add --scope user --timeout TIMEOUT NAME PROGRAM -- ARGS",
    ("gemini", True): "gemini mcp remove --scope user NAME",
    ("vscode", False): "code --add-mcp NAMED_ENTRY",
}
# They take a second or two to start, on a busy machine several.
MOST_SECONDS = 60


def words(client: Client, plan: Plan, change: Change) -> list[str]:
    """None for an entry that is only renewed: the command would be given what others have added to it.

    A repository must not decide which program runs, so one inside the project is not taken.
    """
    template, name, entry = COMMANDS.get((client.name, plan.remove), ""), change.keys[-1], change.new or {}
    path = plan.found(template.partition(" ")[0])
    is_meant = plan.level(client) == "user" and (change.old is None) != plan.remove
    if not is_meant or path is None or (plan.root and real(Path(path)).is_relative_to(real(plan.root))):
        return []
    values = {"NAME": name, "ENTRY": json.dumps(entry), "NAMED_ENTRY": json.dumps({"name": name, **entry})}
    values |= {"PROGRAM": entry.get("command", "PROGRAM"), "TIMEOUT": str(entry.get("timeout"))}
    found = [values.get(word, word) for word in template.removesuffix(" ARGS").split()]
    # One on HTTP has no program.
    return [] if "PROGRAM" in found else [*found, *(entry["args"] if "ARGS" in template else [])]


def run(command: list[str], plan: Plan) -> str | None:
    """What went wrong, if anything did."""
    program, environment = plan.found(command[0]) or "", {**plan.machine.environment, "NO_COLOR": "1"}
    launch = Launch((program, *command[1:]), plan.root or Path.home(), environment)
    try:
        ended = anyio.run(lambda: process.ask(launch, time_limit=MOST_SECONDS, kept_output=4096))
    except SpawnError as error:
        return in_line(str(error))
    said = (ended.stderr or ended.stdout).strip().partition("\n")[0]
    return None if ended.code == 0 else in_line(said or "it failed")
