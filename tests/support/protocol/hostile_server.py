"""A real server on real stdio, treated badly, and the one check that follows every bad treatment.

Everything of one server lies in one private folder: the project it serves, its temporary files and its
log. So what is left of a call can be found: processes that work there or were given that temporary
folder, files in it, and the server's own children, descriptors and threads.
"""

import json
import os
import shutil
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Self

import anyio

from pytest_mcp.process.run_folder import PREFIX
from tests.support.leftovers import Footprint, children, given, kill, waiting
from tests.support.projects.project_files import write_files
from tests.support.protocol.raw_client import OWN_ID, RawClient
from tests.support.waiting import PATIENCE, processes_in, until
from tests.support.workbench import NEWEST, Failure, python_of

# What an answer may take beyond the call's own time limit.
ANSWER_SECONDS = 5
# How long something may take to disappear.
GONE_SECONDS = 2
# For a busy machine: added to every limit, so that only what never comes is late.
SLACK = 10
# The limit of a call that names none.
DEFAULT_TIMEOUT = 30
PYTHON = python_of(NEWEST)

PLAIN = {"test_plain.py": "def test_plain(): pass\n"}
# A setting of the server's own that nobody else may ever see.
SECRET = "canary-7f3a9b"
MEGABYTE = 2**20
# What the server may grow by, whatever is sent to it.
GROWTH = 50 * MEGABYTE


class HostileServer(RawClient):
    log: Path

    def __init__(
        self,
        base: Path,
        *flags: str,
        python: Path | None = PYTHON,
        program: Sequence[str] = ("-m", "pytest_mcp"),
        token: str | None = SECRET,
        runtime: Path | None = None,
    ) -> None:
        self.base, self.root, self.temporary = base, base / "project", base / "tmp"
        # Where it shares the cores with nobody, unless a test has another server use the same folder.
        self.runtime = base / "runtime" if runtime is None else runtime
        self.plain = PLAIN
        self.spares = 0 if "--no-spare" in flags else 3
        for folder in (self.root, self.temporary, self.runtime):
            folder.mkdir(exist_ok=True)
        chosen = [] if python is None else [f"--python={python}"]
        self.command = [
            sys.executable, *program, f"--root={self.root}", f"--timeout={DEFAULT_TIMEOUT}", *chosen, *flags,
        ]  # fmt: skip
        self.environment = {**os.environ, "TMPDIR": str(self.temporary), "PYTEST_MCP_TOKEN": token or ""}
        self.environment["XDG_RUNTIME_DIR"] = str(self.runtime)
        for name in ("VIRTUAL_ENV", "PYTEST_MCP_NO_SHARE", *([] if token else ["PYTEST_MCP_TOKEN"])):
            self.environment.pop(name, None)
        super().__init__(self.command, cwd=base, env=self.environment, log=base / "log")

    def ready(self, **plain: str) -> Self:
        """After a plain call that worked, and with the memory of what an idle server holds."""
        self.plain = {**PLAIN, **plain}
        self.greeted().answers_a_plain_call()
        within(GONE_SECONDS, lambda: not (self.leftovers() or self.folders()) and len(self.spare()) == self.spares)
        self.before = self.footprint()
        return self

    # --- calls ---------------------------------------------------------------------------------

    def answer(self, number: str, *, limit: float = PATIENCE) -> dict[str, Any] | Failure:
        reply = self.reply(number, limit=limit)
        if "error" in reply:
            return Failure(reply["error"]["code"], reply["error"]["message"], reply["error"].get("data") or {})
        structured = reply["result"]["structuredContent"]
        assert json.loads(reply["result"]["content"][0]["text"]) == structured
        assert isinstance(structured, dict)
        return structured

    def call(self, tool: str = "execute_tests", **arguments: Any) -> dict[str, Any] | Failure:
        limit = arguments.get("timeout")
        seconds = limit if type(limit) is int and 0 < limit < DEFAULT_TIMEOUT else DEFAULT_TIMEOUT
        return self.answer(self.begin(tool, **arguments), limit=seconds + ANSWER_SECONDS + SLACK)

    def result(self, **arguments: Any) -> dict[str, Any]:
        answer = self.call(**arguments)
        assert isinstance(answer, dict), answer
        return answer

    def failure(self, error_type: str, **arguments: Any) -> Failure:
        """The error of a run that did not come to its end, with everything that such an error carries."""
        answer = self.call(**arguments)
        assert isinstance(answer, Failure), answer
        assert (answer.code, answer.data["error_type"]) == (-32000, error_type), answer.message
        assert {"stdout", "stderr", "command", "duration", "partial", "environment"} <= set(answer.data)
        return answer

    def refused(self, tool: str = "execute_tests", **arguments: Any) -> Failure:
        answer = self.call(tool, **arguments)
        assert isinstance(answer, Failure), answer
        assert answer.code == -32602, answer
        assert answer.data["validation_errors"]
        return answer

    # --- the project ---------------------------------------------------------------------------

    def project(self, files: Mapping[str, str | bytes]) -> None:
        """Nothing but these files, so that one project never meets the traces of another."""
        self.root.mkdir(exist_ok=True)
        for entry in self.root.iterdir():
            if entry.is_dir() and not entry.is_symlink():
                shutil.rmtree(entry)
            else:
                entry.unlink()
        write_files(self.root, files)

    # --- what is left --------------------------------------------------------------------------

    def everything(self) -> set[int]:
        """Every process that works in our folder or was given our temporary folder, but the server."""
        ours = {*processes_in(self.base), *given(str(self.temporary)), *children(self.process.pid)}
        return ours - {self.process.pid}

    def spare(self) -> set[int]:
        return set(waiting(self.temporary))

    def leftovers(self) -> list[int]:
        """What is there of a run, or of none: everything but what waits for the next call."""
        return sorted(self.everything() - self.spare())

    def folders(self) -> list[str]:
        """Those of runs; what waits for the next call has one too."""
        found = list(self.temporary.glob(f"{PREFIX}*"))
        # Looked for last: what is started in between is a spare.
        spare = set(waiting(self.temporary).values())
        return [entry.name for entry in found if entry not in spare]

    def footprint(self) -> Footprint:
        own = Path(f"/proc/{self.process.pid}")
        descriptors, threads = (len(list((own / name).iterdir())) for name in ("fd", "task"))
        return Footprint(descriptors, threads, len(self.leftovers()), len(self.folders()), len(self.spare()))

    def memory(self, name: str = "VmRSS") -> int:
        """Bytes of memory that the server has now, or had at most (VmHWM)."""
        status = Path(f"/proc/{self.process.pid}/status").read_text(encoding="ascii")
        return next(int(line.split()[1]) * 1024 for line in status.splitlines() if line.startswith(f"{name}:"))

    def forget_peak(self) -> int:
        """The memory that the server has now; from here on VmHWM counts again."""
        Path(f"/proc/{self.process.pid}/clear_refs").write_text("5", encoding="ascii")
        return self.memory()

    def answers_a_plain_call(self) -> None:
        self.project(self.plain)
        answer = self.result()
        assert (answer["verdict"], answer["exit_code"], answer["summary"]["total"]) == ("passed", 0, 1)
        assert answer["notices"] == []

    def assert_unharmed(self) -> None:
        """Nothing left, the next call right, and something waits for the one after it."""
        self.assert_nothing_left()
        self.answers_a_plain_call()
        self.assert_footprint(lambda look: look.fits(self.before))
        assert self.faults == []

    def assert_nothing_left(self) -> None:
        """The check after every test: alive, nothing left, nothing but JSON-RPC on the wire."""
        assert self.is_alive, self.logged()
        within(GONE_SECONDS, lambda: not (self.leftovers() or self.folders()))
        # In a project that is unusable nothing can be started ahead; the next call brings it back.
        self.assert_footprint(lambda look: look.is_no_more_than(self.before))
        assert self.faults == []
        assert [own for own, replies in self.replies.items() if is_own(own) and len(replies) > 1] == []

    def assert_footprint(self, is_right: Callable[[Footprint], bool]) -> None:
        """One look that fits is the proof; a second one could meet the next waiting child while it is being started."""
        looks: list[Footprint] = []

        def fits() -> bool:
            looks.append(self.footprint())
            return is_right(looks[-1])

        with suppress(TimeoutError):
            within(GONE_SECONDS, fits)
        assert is_right(looks[-1]), f"{looks[-1]} against {self.before}; processes {self.leftovers()}"

    def assert_gone(self) -> None:
        """After the server's own end: neither it nor anything it started is there, nor a file of a run."""
        within(GONE_SECONDS, lambda: self.process.poll() is not None)
        within(GONE_SECONDS, lambda: not self.everything())
        within(GONE_SECONDS, lambda: not self.folders())
        assert self.faults == []

    def close(self, limit: float = GONE_SECONDS) -> int:
        """After a failed test there may be something left to kill, which could hold stdout open."""
        code = self.end(limit)
        kill(self.everything())
        self.release()
        return code


# The fixture that starts servers of a test's own.
NewServer = Callable[..., HostileServer]


def is_own(identity: object) -> bool:
    return isinstance(identity, str) and identity.startswith(OWN_ID)


def within(seconds: float, condition: Callable[[], object]) -> None:
    """Wait for what must become true so soon."""

    async def wait() -> None:
        with anyio.fail_after(seconds + SLACK):
            await until(condition)

    anyio.run(wait)


def timed(action: Callable[[], Any]) -> tuple[Any, float]:
    started = time.monotonic()
    return action(), time.monotonic() - started
