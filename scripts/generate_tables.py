"""Write the tables that stand in documents: what was measured, the operator's settings, the limits, the clients.

Each table is between two comments that name it. `--check` writes nothing and fails if a table differs from the code, or
from the saved results of `make bench`, `make tokens` and `make clients`.
"""

import json
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path, PurePosixPath
from statistics import median

# Python puts only the folder of a script on its path; `scripts` is a package of the folder above.
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from bench import results as measured
from bench.tokens import results as counted
from bench.tokens.real import results as bugs
from bench.tokens.real.evidence import Share
from pytest_mcp.cli.setup.clients import CLIENTS
from pytest_mcp.cli.setup.entries import entry, server_name
from pytest_mcp.cli.setup.plan import Machine, Plan
from pytest_mcp.config.model import DEFAULT_TIMEOUT, MAX_REPLY_BYTES
from pytest_mcp.config.options import SETTINGS
from pytest_mcp.process import start
from pytest_mcp.report import budget
from pytest_mcp.run import command, ledger
from pytest_mcp.server import http_guard as guard
from pytest_mcp.server import http_server, incoming, tasks
from scripts import readme_parts
from tests.external.programs import records, report

ROOT = Path(__file__).resolve().parent.parent
KIB, MIB = 1024, 1024 * 1024

SPEED = {
    "one-test": "one test, server warm",
    "plugins": "the same with xdist, cov, anyio, hypothesis and django installed",
    "first-call": "one test, first call after the start",
    "many-tests": "10,000 passing tests",
    "discovery": "discovery of 10,000 tests",
}
COST = {
    "passing": "200 passing tests",
    "one-failing": "1 failing test",
    "mixed": "200 passing tests, 4 failures of different causes, 3 skips",
    "one-fixture": "200 errors of one broken fixture",
    "deep": "100 deep failures of one cause, each after 200 printed lines",
    "noisy": "500 failures of 12 causes",
}


# The same with the rows in which pytest's own output is smaller.
CONSTRUCTED = {"one-passing": "1 passing test", "missing-id": "a node id that does not exist"} | COST

PARALLEL = {"workers": "with two workers", "shards": "in two shards at once, with their merge"}
# Shards of each size of suite that the estimate is made for.
ESTIMATED = {100_000: (1, 10), 1_000_000: (10, 100)}
# The size of suite that the costs of one test are taken from, and how long tests take themselves, in seconds.
MEASURED_SIZE = 100_000
OWN_SECONDS = (0.0, 0.05)


def main(arguments: list[str]) -> int:
    stale = [name for name in PARTS if filled(name) != (ROOT / name).read_text(encoding="utf-8")]
    if "--check" in arguments:
        for name in stale:
            print(f"Out of date: {name}; run `make docs`.", file=sys.stderr)
        return 1 if stale else 0
    for name in stale:
        (ROOT / name).write_text(filled(name), encoding="utf-8")
        print(f"wrote {name}")
    return 0


def filled(name: str, text: str | None = None) -> str:
    """The document, or this text of it, with new tables."""
    text = text or (ROOT / name).read_text(encoding="utf-8")
    for part, write in PARTS[name].items():
        text = _replaced(text, part, write(), name)
    return text


def _replaced(text: str, part: str, content: str, name: str) -> str:
    begin, end = f"<!-- generated: {part} -->\n", "<!-- end -->\n"
    pattern = re.compile(f"{re.escape(begin)}.*?{re.escape(end)}", re.DOTALL)
    text, count = pattern.subn(lambda _: f"{begin}{content}{end}", text)
    if count != 1:
        raise SystemExit(f"{name} must have one part {part!r} between {begin.strip()} and {end.strip()}")
    return text


def headline() -> str:
    """The figures of the README, each next to the shell's."""
    warm = measured.load()["one-test"].measurement.figures
    own, shell, _ = _pair(warm)
    fixture = counted.load()["one-fixture"]
    rows = [
        ("one test, warm server", own, shell),
        (f"{COST['one-fixture']}, in tokens", f"{fixture.answer:,}", f"{fixture.printed['pytest -q']:,}"),
        (
            "processes left after a hang",
            *(str(readme_parts.kept_row("hang", way)["left"]) for way in ("server", "shell")),
        ),
    ]
    return table(("measured", "pytest-mcp", "`pytest -q` in a shell"), rows)


def speed() -> str:
    kept = measured.load()
    rows = [(what, *_times(kept[name])) for name, what in SPEED.items()]
    start = kept["start"].measurement.figures
    rows.append(("start to `tools/list`, against a minimal server of the SDK", *_pair(start)))
    return table(("what", "this server", "`python -m pytest -q`", "ratio"), rows)


def constructed() -> str:
    """Sorted, with the worst row for us first."""
    ways = ("pytest -q", "pytest -q --tb=short")
    results = counted.load()
    kept = {what: results[name] for name, what in CONSTRUCTED.items()}
    ratios = {what: entry.answer / entry.printed[ways[0]] for what, entry in kept.items()}
    rows = [
        (what, f"{kept[what].answer:,}", *(f"{kept[what].printed[way]:,}" for way in ways), f"{ratios[what]:.3g}")
        for what in sorted(ratios, key=lambda what: -ratios[what])
    ]
    return table(("tokens of", "the answer", *(f"`{way}`" for way in ways), "answer : `pytest -q`"), rows)


def real_bugs() -> str:
    entries = list(bugs.load().mutants.values())
    libraries = len({entry.library for entry in entries})
    rows = []
    for way in entries[0].others:
        theirs = [entry.others[way] for entry in entries]
        ratios = [entry.tokens / other.tokens for entry, other in zip(entries, theirs, strict=True)]
        total = sum(entry.tokens for entry in entries) / sum(other.tokens for other in theirs)
        whole = _percent([other.evidence for other in theirs])
        rows.append((f"`{way}`", *(f"{each:.2f}" for each in (total, median(ratios), min(ratios), max(ratios))), whole))
    rows.append(("this server", *("1.00",) * 4, _percent([entry.evidence for entry in entries])))
    head = (f"{len(entries)} bugs in {libraries} libraries, ours against", "all together", "median", "best", "worst")
    return table((*head, "`E` lines whole"), rows)


def _percent(shares: Sequence[Share]) -> str:
    """Rounded down: 100 % means all."""
    return f"{100 * sum(share.whole for share in shares) // sum(share.lines for share in shares)} %"


def estimate() -> str:
    """What one test costs, and what suites that were not measured would cost from that."""
    collecting, running, memory = _unit_costs(measured.load()["growth"])
    costs = [
        ("collecting a test, in every shard", f"{collecting * 1000:.2f} ms"),
        ("running a test that does nothing, in one shard", f"{running * 1000:.2f} ms"),
        ("memory of a collected test, in every shard", f"{memory * 1000:.1f} kB"),
    ]
    rows = []
    for tests, count in [(tests, count) for tests, counts in ESTIMATED.items() for count in counts]:
        times = [_span(tests * collecting + tests / count * (running + own)) for own in OWN_SECONDS]
        rows.append((f"{tests:,}", f"{count:,}", *times, f"{tests * memory / 1000:.1f} GB"))
    times_of = [f"time, if each takes {own * 1000:.0f} ms" for own in OWN_SECONDS]
    head = ("tests", "shards", *times_of, "memory of each shard, at least")
    return table(("measured", ""), costs) + "\n" + table(head, rows)


def _unit_costs(entry: measured.Entry) -> tuple[float, float, float]:
    """Seconds to collect a test and to run it, and megabytes that it takes."""
    figures = {figure.of: figure.spread.median for figure in entry.measurement.figures if figure.size == MEASURED_SIZE}
    collecting = figures["discovered: time, this server"]
    running = figures["run: time, this server"] - collecting
    return collecting / MEASURED_SIZE, running / MEASURED_SIZE, figures["discovered: peak of its child"] / MEASURED_SIZE


def _span(seconds: float) -> str:
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"


def parallel() -> str:
    kept = measured.load()
    rows = [(what, *_times(kept[name])) for name, what in PARALLEL.items() if name in kept]
    return table(("400 tests of 50 ms", "so", "`python -m pytest -q`", "ratio"), rows)


def _times(entry: measured.Entry) -> tuple[str, str, str]:
    assert entry.measurement.result is not None
    own, shell, _ = _pair(entry.measurement.figures)
    return own, shell, f"{entry.measurement.result.median:.2f}"


def _pair(figures: Sequence[measured.Figure]) -> tuple[str, str, str]:
    own, other = figures[0].spread.median, figures[1].spread.median
    return f"{own:.2f} s", f"{other:.2f} s", f"{own / other:.2f}"


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "".join(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in line)} |\n" for line in lines)


def settings() -> str:
    rows = []
    for setting in SETTINGS:
        options = setting.argparse_options
        value = options.get("metavar") or "|".join(options.get("choices", ()))
        invocation = f"{setting.flag} {f'[{value}]' if options.get('nargs') == '?' else value}".strip()
        help_text = setting.help % {"default": setting.default, "const": options.get("const")}
        rows.append((f"`{invocation}`", help_text))
    return table(("option", "what it does"), rows)


def bounds() -> str:
    kept = f"kept until `ttlMs`, at least {tasks.KEPT_SECONDS // 60} minutes"
    message = f"{incoming.MAX_MESSAGE_BYTES // MIB} MiB, {incoming.MAX_VALUES:,} values, {incoming.DEEPEST} levels deep"
    rows = [
        ("time of a call", f"the call's `timeout` or `--timeout` ({DEFAULT_TIMEOUT} s); at most `--max-timeout`"),
        ("runs at once", "as many as cores, and `--max-runs` of one server; [the others wait](scale.md#more-agents)"),
        ("workers of a run", "the call's `workers`; at most `--max-workers`, by default the number of cores"),
        (
            "tasks",
            f"{tasks.MAX_UNFINISHED:,} that run or wait; {kept} after their end, in {tasks.MAX_KEPT_BYTES // MIB} MiB",
        ),
        ("memory of each process of a run", "`--max-memory`, by default none"),
        ("an answer", f"the call's `max_tokens`, and `--max-reply-bytes` ({MAX_REPLY_BYTES // MIB} MiB) in any case"),
        ("a message of a client", f"{message}; a larger one is answered with -32600 and never parsed"),
        ("raw output of a run", f"{start.KEPT_OUTPUT // KIB} KiB from each end of each stream"),
        ("one text of a failing test", f"{command.LEAST_TEXT:,} to {command.MAX_TEXT:,} characters, by `max_tokens`"),
        ("all texts of a run's failures", f"{ledger.KEPT_TEXT // 10**6} million characters"),
        ("`data.partial` of an error", f"{budget.PARTIAL_BYTES // MIB} MiB"),
        ("the report file", f"{start.REPORT_LIMIT // MIB} MiB; then the run is ended"),
    ]
    return table(("what", "limit"), rows)


def http_bounds() -> str:
    body, all_bodies = guard.MAX_BODY // MIB, guard.MAX_BODIES // MIB
    often, taken = http_server.CHECK_SECONDS, f"{http_server.LEAST_TAKEN // KIB} KiB"
    rows = [
        ("headers of a request", f"{guard.MAX_HEADERS // KIB} KiB"),
        ("body of a request", f"{body} MiB, there within {guard.BODY_SECONDS} s; {all_bodies} MiB for all at once"),
        ("connections", f"{http_server.MAX_CONNECTIONS}; further ones get 503"),
        ("a connection without a whole request", f"closed after {often} to {2 * often} s"),
        ("a client that does not read", f"cut off if it reads less than {taken} in {often} s"),
    ]
    return table(("what", "limit"), rows)


# A user with one project, on Linux.
HOME = PurePosixPath("/home/you")
PLAN = Plan(
    machine=Machine("linux", HOME, {}),
    root=Path(HOME) / "shop",
    user=False,
    remove=False,
    portable=True,
    confirmed="yes",
    command=["pytest-mcp"],
    flags=(),
    limit=DEFAULT_TIMEOUT,
)


def client_files() -> str:
    rows = []
    for client in CLIENTS:
        own = str(PLAN.machine.path(client.user[-1])).replace(str(HOME), "~")
        rows.append((client.title, f"`{client.name}`", _code(client.project[-1:]), f"`{own}`"))
    return table(("client", "typed as", "file in the project", "your own file, on Linux"), rows)


def client_entries() -> str:
    """Each different entry once, with the clients that get it."""
    entries: dict[str, list[str]] = {}
    for client in CLIENTS:
        written = {server_name(client, PLAN, {}): entry(client, PLAN, {})}
        entries.setdefault(json.dumps({client.servers: written}), []).append(client.title)
    return table(("client", "what is written"), [(", ".join(names), f"`{text}`") for text, names in entries.items()])


def _code(words: Sequence[str]) -> str:
    return ", ".join(f"`{word}`" for word in words)


# document → the names of its tables, and what writes each
PARTS: Mapping[str, Mapping[str, Callable[[], str]]] = {
    "README.md": {"headline": headline, "entry": readme_parts.entry, "contrast": readme_parts.contrast},
    "docs/why.md": {"constructed": constructed, "bugs": real_bugs},
    "docs/speed.md": {"speed": speed},
    "docs/scale.md": {"parallel": parallel, "estimate": estimate},
    "docs/settings.md": {"settings": settings},
    "docs/reliability.md": {"bounds": bounds},
    "docs/http.md": {"bounds": http_bounds},
    "docs/clients.md": {
        "files": client_files,
        "entries": client_entries,
        "programs": lambda: report.programs(records.load()) + "\n",
    },
}


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
