"""How each row is measured: in come a new folder and a number of rounds, out come figures.

Names, goals and sizes of the rows are in `rows`.
"""

import os
from collections.abc import Iterable, Sequence
from pathlib import Path

from bench import kernel
from bench.projects import Suite
from bench.results import Figure, Measurement
from bench.rounds import Rounds, Sample, Spread, race
from bench.servers import Server
from bench.shell import Shell
from scripts.environments import ENVIRONMENTS, Environment

OURS, PYTEST, MINIMAL = "this server", "pytest", "minimal server"
BARE, WITH_XDIST = ENVIRONMENTS["demo"], ENVIRONMENTS["pytest-9"]
ONE, ONE_FAILING = Suite(1), Suite(1, failing=True)


def warm(
    folder: Path, suite: Suite, rounds: int, *, environment: Environment = BARE, discovers: bool = False
) -> Measurement:
    """One server for all rounds. Its spare is ready before every sample."""
    shell = Shell(environment.python, suite.write(folder))
    flags = ["--collect-only"] if discovers else []
    with Server.ours(shell.python, shell.project) as server:
        server.handshake()
        variants: dict[str, Sample] = {
            OURS: lambda: server.discover(suite) if discovers else server.execute(suite),
            PYTEST: lambda: shell.run(suite, *flags),
        }
        return compared(race(variants, rounds=rounds, before=lambda: kernel.wait_for_rest(server.pid)), PYTEST)


def parallel(folder: Path, suite: Suite, rounds: int, *, flags: Sequence[str]) -> Measurement:
    """Two workers, against pytest with these flags."""
    shell = Shell(WITH_XDIST.python, suite.write(folder))
    with Server.ours(shell.python, shell.project) as server:
        server.handshake()
        variants: dict[str, Sample] = {
            OURS: lambda: server.execute(suite, workers=2),
            PYTEST: lambda: shell.run(suite, *flags),
        }
        return compared(race(variants, rounds=rounds, before=lambda: kernel.wait_for_rest(server.pid)), PYTEST)


def first_call(folder: Path, rounds: int, *, at_once: bool = False) -> Measurement:
    """A new server for every sample."""
    shell = Shell(BARE.python, ONE.write(folder))

    def sample() -> float:
        with Server.ours(shell.python, shell.project) as server:
            if at_once:
                return server.execute_at_once(ONE)
            server.handshake()
            server.finish_loading()
            return server.execute(ONE)

    return compared(race({OURS: sample, PYTEST: lambda: shell.run(ONE)}, rounds=rounds), PYTEST)


def start(folder: Path, rounds: int) -> Measurement:
    """The time until the tools are listed, which is when the user of a client can start."""
    project = ONE.write(folder)

    def ours() -> float:
        with Server.ours(BARE.python, project) as server:
            return server.handshake()

    def minimal() -> float:
        with Server.minimal(project) as server:
            return server.handshake()

    return compared(race({OURS: ours, MINIMAL: minimal}, rounds=rounds), MINIMAL)


def compared(rounds: Rounds, against: str) -> Measurement:
    figures = tuple(Figure(name, "s", rounds.count, rounds.spread(name)) for name in (OURS, against))
    return Measurement(figures, rounds.ratio(OURS, against))


def memory_after(folder: Path, few: int, many: int, rounds: int) -> Measurement:
    """A new server for every round: its memory when idle, after a few calls and after many."""
    project = ONE_FAILING.write(folder)
    early, late = [], []
    for _ in range(rounds):
        with Server.ours(BARE.python, project) as server:
            server.handshake()
            early.append(resident_after(server, few))
            late.append(resident_after(server, many - few))
    figures = (megabytes(f"after {few:,} calls", early), megabytes(f"after {many:,} calls", late))
    growth = Spread.of([after - before for before, after in zip(early, late, strict=True)])
    return Measurement(figures, growth)


def resident_after(server: Server, calls: int) -> float:
    """Call both tools in turn, each as soon as the last one is answered."""
    for number in range(calls):
        if number % 2:
            server.discover(ONE_FAILING)
        else:
            server.execute(ONE_FAILING)
    kernel.wait_for_rest(server.pid)
    return kernel.megabytes(server.pid, "VmRSS")


def idle(folder: Path, rounds: int) -> Measurement:
    project = ONE_FAILING.write(folder)
    fresh, used, below = [], [], []
    for _ in range(rounds):
        with Server.ours(BARE.python, project) as server:
            server.handshake()
            server.finish_loading()
            fresh.append(kernel.megabytes(server.pid, "VmRSS"))
            used.append(resident_after(server, 1))
            below.append(kernel.megabytes_below(server.pid))
    words = {
        "server before its first call": fresh,
        "server after a call": used,
        "its spare and the supervisor of that": below,
    }
    return Measurement(tuple(megabytes(name, values) for name, values in words.items()))


def growth(folder: Path, sizes: Iterable[int], rounds: int) -> Measurement:
    """Time and memory of large suites, each with its own server, compared with pytest in a shell."""
    figures: list[Figure] = []
    for size in sizes:
        suite = Suite(size)
        shell = Shell(BARE.python, suite.write(folder / str(size)))
        figures += grown(shell, suite, rounds, discovers=True)
        figures += grown(shell, suite, rounds, discovers=False)
    return Measurement(tuple(figures))


def grown(shell: Shell, suite: Suite, rounds: int, *, discovers: bool) -> list[Figure]:
    peaks: dict[str, list[float]] = {"server": [], "its child": [], PYTEST: []}

    def ours() -> float:
        with Server.ours(shell.python, shell.project) as server:
            server.handshake()
            server.finish_loading()
            with kernel.watched(server.pid) as seen:
                seconds = server.discover(suite) if discovers else server.execute(suite)
        peaks["server"].append(seen.server)
        peaks["its child"].append(seen.child)
        return seconds

    def theirs() -> float:
        # This process has no other descendants at that time.
        with kernel.watched(os.getpid()) as seen:
            seconds = shell.run(suite, *(["--collect-only"] if discovers else []))
        peaks[PYTEST].append(seen.child)
        return seconds

    done = race({OURS: ours, PYTEST: theirs}, rounds=rounds, warm_up=lambda: shell.run(suite, "--collect-only"))
    action = "discovered" if discovers else "run"
    times = sized(done, suite.tests, prefix=f"{action}: time, ")
    return [*times, *(megabytes(f"{action}: peak of {name}", seen, suite.tests) for name, seen in peaks.items())]


def sized(rounds: Rounds, size: int, *, prefix: str = "") -> list[Figure]:
    ratios = {name: rounds.ratio(name, PYTEST) for name in rounds.seconds if name != PYTEST}
    return [
        Figure(prefix + name, "s", rounds.count, rounds.spread(name), size, ratios.get(name)) for name in rounds.seconds
    ]


def megabytes(of: str, values: list[float], size: int | None = None) -> Figure:
    return Figure(of, "MB", len(values), Spread.of(values), size)
