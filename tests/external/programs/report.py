"""The table of docs/clients.md about what agent programs do, from the records."""

from collections.abc import Callable, Sequence

from bench.report import NOTHING, table
from tests.external.programs.programs import PROGRAMS, Program
from tests.external.programs.records import Entries, Entry, Seen, Wait
from tests.external.programs.trials import SIZES

Fact = tuple[str, Callable[[Program, Entry], str]]


def programs(entries: Entries) -> str:
    seen = [(PROGRAMS[name], entries[name]) for name in PROGRAMS if name in entries]
    head = ["", *(program.title for program, _ in seen)]
    return table(head, [[what, *(tell(program, entry) for program, entry in seen)] for what, tell in FACTS])


def errors(calls: dict[str, Seen]) -> str:
    """The same for every kind of error, or each kind with what is shown of it."""
    kinds = {name: ", ".join(seen.parts) or "nothing of it" for name, seen in calls.items() if seen.code is not None}
    said = set(kinds.values())
    return said.pop() if len(said) == 1 else "; ".join(f"{name}: {parts}" for name, parts in kinds.items())


def sizes(_: Program, entry: Entry) -> str:
    lists = [entry.calls[f"{count} tests"] for count in SIZES]
    whole = max((seen.said for seen in lists if seen.shown >= seen.said), default=0)
    cut = [seen for seen in lists if seen.shown < seen.said]
    beyond = f"; {cut[0].shown:,} of {cut[0].said:,}" if cut else ""
    return f"{whole:,}{beyond}"


def code(names: Sequence[str]) -> str:
    return ", ".join(f"`{name}`" for name in names) or "nothing"


def patience(waited: Wait | None) -> str:
    if waited is None:
        return NOTHING
    return f"more than {waited.tried} s" if waited.seconds is None else f"{waited.seconds} s"


FACTS: tuple[Fact, ...] = (
    ("version, seen on", lambda _, entry: f"{entry.version}, {entry.date}"),
    (
        "protocol it asks for",
        lambda _, entry: f"{entry.protocol}, with{'out' * (entry.opening == 'server/discover')} a handshake",
    ),
    ("shows of a result", lambda _, entry: code(entry.calls["passed"].parts)),
    ("shows of a JSON-RPC error", lambda _, entry: errors(entry.calls)),
    ("with `--errors result`", lambda _, entry: errors(entry.calls_with_results)),
    ("characters shown: whole; of a larger answer", sizes),
    ("waits for an answer, without progress", lambda _, entry: patience(entry.silent)),
    ("waits for an answer, with progress", lambda _, entry: patience(entry.talking)),
    ("its setting for that", lambda program, _: f"`{program.setting}`"),
    ("shows the tools", lambda _, entry: "after a search" if entry.hides_tools else "at once"),
    ("runs without permission, if nobody can be asked", lambda _, entry: code(entry.runs_unasked)),
    ("passes on its environment variables", lambda _, entry: "yes" if entry.hands_on_variables else "no"),
)
