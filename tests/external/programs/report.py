"""Write docs/clients.md from the records. Pure, except `write`.

What was seen is in the records. The tests in `tests/external/interop` check what is said about libraries.
"""

from collections.abc import Callable
from pathlib import Path

from bench.report import NOTHING, table
from scripts.environments import ENVIRONMENTS, INTEROP
from scripts.npm import PACKAGES
from tests.external.programs.programs import PROGRAMS, Program
from tests.external.programs.records import FILE as RECORDS
from tests.external.programs.records import Entries, Entry, Seen, Wait
from tests.external.programs.trials import SIZES

FILE = RECORDS.with_suffix(".md")

HEAD = """\
# Clients

What clients do with this server's answers, seen with the real programs; only the model was replaced.
Written by `make clients` from `clients.json`; `python -m tests.external.programs --render` writes it again.

## Programs
"""
FOLLOWS = """\
## What follows from it

- `structuredContent` and the text of `content` hold the same object, because some programs show the model the one and
  some the other. The message of an error is enough to act on, because most programs show little else.
- JSON-RPC errors work with all four programs. Do not use `--errors result` with Gemini CLI: it validates the error
  against the schema of a result, and shows the model that it does not match instead of the error.
- For OpenAI's Agents SDK and LangChain use `--errors result`. The first shows the model one fixed sentence for every
  JSON-RPC error; the second raises it, which ends the agent's run.
- An answer of the default size (`max_tokens` 4,000, or 8,000 for a discovery) is shown whole by all four. opencode
  shows nothing of an answer that is too large for it: it cuts between lines, and an answer is one line.
- Codex with current models, and Claude Code with tools that do not set `anthropic/alwaysLoad`, show the model a search
  for tools instead of the tools. Both show the instructions at once.
- Without a person to ask, as on a build server, the tools need permission in advance: `--allowedTools=mcp__pytest`
  in Claude Code, `default_tools_approval_mode = "approve"` in the server's entry for Codex, `--approval-mode=yolo` in
  Gemini CLI. Codex runs `discover_tests` anyway, because only `execute_tests` has the hint that it may be destructive.
- Codex does not pass on `VIRTUAL_ENV`: there, the project's environment is found by its folder, or named by `--python`.
- The default time limit of a run, 240 s, is shorter than the others wait, so the results so far still arrive. opencode
  gives up after a minute without progress, and progress is sent when a test ends. So its entry needs a larger
  `timeout`; `pytest-mcp setup` writes one.
"""
METHOD = f"""\
## How it was seen

- Each program comes from npm, in the version above. It is started once for each set of calls, without a terminal, in a
  folder with a few tests and with its own home folder. A local server replaces the model's API: it requests one call
  after the other, and the next request of the program contains what a model is shown.
- A script between the program and our server copies every line and marks the two channels of a result.
- The calls: a passing test, a failing one, lists of {", ".join(map(str, SIZES))} tests, and an error of each kind: a
  parameter that breaks a rule, a test that does not exist, no pytest in the environment, a timeout, a crash. Then the
  errors again with `--errors result`.
- How long a program waits was measured with a test that never ends, without progress, then with progress every second
  (`python -m tests.external.programs --patience SECONDS`).
- The table of libraries is checked by the tests in `tests/external/interop` (`make test` and `make interop`).
"""

REMARKS = """\
Over HTTP this holds for the newer protocol. In the older one a call is cancelled by a separate message, and a server
without sessions cannot know whose call it means; only a client that disconnects ends its run
([http.md](http.md#cancelling)). OpenAI's Agents SDK has a timeout of 5 s for a call
(`client_session_timeout_seconds`)."""

Fact = tuple[str, Callable[[Program, Entry], str]]


def write(entries: Entries, file: Path = FILE) -> None:
    file.write_text(document(entries), encoding="utf-8")


def document(entries: Entries) -> str:
    return "\n".join([HEAD, programs(entries), "\n## Libraries\n", libraries(), "", FOLLOWS, METHOD])


def programs(entries: Entries) -> str:
    seen = [(PROGRAMS[name], entries[name]) for name in PROGRAMS if name in entries]
    head = ["", *(program.title for program, _ in seen)]
    return table(head, [[what, *(tell(program, entry) for program, entry in seen)] for what, tell in FACTS])


def opening(_: Program, entry: Entry) -> str:
    era = "without a handshake" if entry.opening == "server/discover" else "with a handshake"
    return f"{entry.protocol}, {era}"


def result(_: Program, entry: Entry) -> str:
    return ", ".join(f"`{part}`" for part in entry.calls["passed"].parts) or "nothing"


def errors(calls: dict[str, Seen]) -> str:
    """The same for every kind of error, or each kind with what is shown of it."""
    kinds = {name: ", ".join(seen.parts) or "nothing of it" for name, seen in calls.items() if seen.code is not None}
    said = set(kinds.values())
    return said.pop() if len(said) == 1 else "; ".join(f"{name}: {parts}" for name, parts in kinds.items())


def sizes(_: Program, entry: Entry) -> str:
    lists = [entry.calls[f"{count} tests"] for count in SIZES]
    whole = max((seen.said for seen in lists if seen.shown >= seen.said), default=0)
    cut = [seen for seen in lists if seen.shown < seen.said]
    beyond = f"; of {cut[0].said:,} it shows {cut[0].shown:,}" if cut else ""
    return f"{whole:,} characters are shown whole{beyond}"


def hidden(_: Program, entry: Entry) -> str:
    if entry.hides_tools:
        return "after a search"
    return "at once, because of `anthropic/alwaysLoad`" if entry.hides_bare_tools else "at once"


def unasked(_: Program, entry: Entry) -> str:
    return ", ".join(f"`{tool}`" for tool in entry.runs_unasked) or "nothing"


def patience(waited: Wait | None) -> str:
    if waited is None:
        return NOTHING
    return f"more than {waited.tried} s" if waited.seconds is None else f"{waited.seconds} s"


def yes(is_so: bool) -> str:
    return "yes" if is_so else "no"


FACTS: tuple[Fact, ...] = (
    ("version", lambda program, entry: f"`{program.package}` {entry.version}"),
    ("seen on", lambda _, entry: entry.date),
    ("protocol it asks for", opening),
    ("shows of a result", result),
    ("shows of a JSON-RPC error", lambda _, entry: errors(entry.calls)),
    ("with `--errors result`", lambda _, entry: errors(entry.calls_with_results)),
    ("large answers", sizes),
    ("waits for an answer, without progress", lambda _, entry: patience(entry.silent)),
    ("waits for an answer, with progress", lambda _, entry: patience(entry.talking)),
    ("its setting for that", lambda program, _: f"`{program.setting}`"),
    ("asks for progress", lambda _, entry: yes(entry.asks_for_progress)),
    ("shows the tools", hidden),
    ("shows the instructions", lambda _, entry: yes(entry.shows_instructions)),
    ("runs without permission, if nobody can be asked", unasked),
    ("starts the server in the project", lambda _, entry: yes(entry.works_in_project)),
    ("passes on its environment variables", lambda _, entry: yes(entry.hands_on_variables)),
)


def libraries() -> str:
    typescript = PACKAGES["interop-typescript"].version
    fastmcp, openai, langchain = (environment.packages[0].partition("==")[2] for environment in INTEROP.values())
    sdk = ["both channels", "code, message, data"]
    rows = [
        ["Python SDK, second generation", "2.x, as this server", *sdk, "yes"],
        [
            "Python SDK, first generation",
            ENVIRONMENTS["mcp-1"].packages[0].partition("==")[2],
            *sdk,
            "no: it sends nothing",
        ],
        ["TypeScript SDK, second generation", typescript("@modelcontextprotocol/client"), *sdk, "yes"],
        ["TypeScript SDK, first generation", typescript("@modelcontextprotocol/sdk"), *sdk, "on stdio"],
        ["FastMCP's client", fastmcp, *sdk, "yes"],
        ["OpenAI Agents SDK", openai, "`content`", "one fixed sentence instead", "yes"],
        ["LangChain's MCP adapters", langchain, "`content`", "raises its message", "no, like the SDK it uses"],
    ]
    head = ["library", "version", "a result", "a JSON-RPC error", "cancelling ends the run"]
    return f"{table(head, rows)}\n\n{REMARKS}"
