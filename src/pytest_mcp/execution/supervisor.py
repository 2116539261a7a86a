"""One per run, between the server and the child, so that nothing outlives either of them.

Run as a script in the server's Python (`-I -S`: standard library only), never imported by the server.
Its argument is the run's folder, which it removes in the end. Its stdin carries one JSON line that says
what to start; after that nothing, and its end is the order to stop: a server that is gone, however it
went, closes it. Its stdout carries one JSON line at the end: how the child ended, why, the head and tail
of what it printed and how much is missing between them, how many strays there were.

An order without a time limit is for a child that is started ahead of its job. It waits for the end of a
pipe that carries nothing, which comes with a second line that has the limit. If it ends before that,
there is nothing to tell.

It is a session of its own, so that a test that kills its process group does not reach it. On Linux it
is a child subreaper: daemons, double forks and new sessions all come back to it and are ended here.
Elsewhere it ends the process group and what `ps` has shown to descend from the child.

On Linux it is two processes. The first only waits for the second, which does all of this, and ends what is
left if somebody kills that one: even when the server is killed at the same moment, somebody is there.
Whoever has been stopped is continued when its parent dies.
"""

import contextlib
import json
import os
import selectors
import shutil
import signal
import subprocess
import sys
import time
from typing import Any, TypeAlias

# Nothing but the standard library is on the path; our own package lies beside it, last.
sys.path.append(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))

from pytest_mcp.execution import process_tree, signals, watcher
from pytest_mcp.execution.captured_output import Output
from pytest_mcp.execution.time_budget import ABORT_SECONDS, DRAIN_SECONDS, GRACE_SECONDS, HELPER_SECONDS, SWEEP_SECONDS

# Whoever prints one character at a time need not be read one at a time: each look costs the child its core.
OUTPUT_PAUSE_SECONDS = 0.02
LITTLE_OUTPUT = 4096
# How often a growing report is measured against its limit.
MEASURE_SECONDS = 0.2
# A process in uninterruptible sleep dies late; between two looks there is this pause.
SWEEP_PAUSE_SECONDS = 0.005
CHUNK = 65536

Child: TypeAlias = "subprocess.Popen[bytes]"


class Control:
    """The server's orders, as far as they have come. Two may come in one piece."""

    def __init__(self) -> None:
        self.received = bytearray()

    def read(self) -> bool:
        """Take what there is, or wait for it; False at the end."""
        chunk = os.read(0, CHUNK)
        self.received += chunk
        return bool(chunk)

    def order(self) -> Any:
        """The next whole line, or None."""
        line, newline, rest = self.received.partition(b"\n")
        if not newline:
            return None
        self.received = rest
        return json.loads(line)


class Supervisor:
    """One started child, until nothing of it is left."""

    def __init__(self, child: Child, control: Control, order: dict[str, Any], folder: str, *, adopts: bool) -> None:
        self.child = child
        self.control = control
        self.report = os.path.join(folder, "report")
        self.report_limit: int = order["report_limit"]
        self.status: int | None = None
        self.reason = "exited"
        self.tree = process_tree.tree(child.pid, adopts=adopts)
        self.adopts = adopts
        self.killed: set[int] = set()
        # How many of them would not go.
        self.left = 0
        self.selector = selectors.DefaultSelector()
        # What cannot wait: the server's orders and the end of a child.
        self.urgent = selectors.DefaultSelector()
        self.listen(0, "control")
        self.wake_on_sigchld()
        self.outputs = {name: Output(order["kept_output"]) for name in ("stdout", "stderr")}
        for name, pipe in (("stdout", child.stdout), ("stderr", child.stderr)):
            assert pipe is not None
            os.set_blocking(pipe.fileno(), False)
            self.selector.register(pipe, selectors.EVENT_READ, name)

    def wait_for_the_order_to_go(self) -> Any:
        """The order, or None when there will be none: the server is gone, or the child is."""
        self.reap()
        while (order := self.control.order()) is None:
            if self.status is not None or not self.look(None):
                self.reason = "stopped"
                self.sweep()
                return None
        return order

    def run(self, time_limit: float) -> dict[str, Any]:
        started = time.monotonic()
        self.wait_for_the_end(started + time_limit)
        duration = time.monotonic() - started
        self.sweep()
        self.drain()
        return {
            "status": self.status,
            "reason": self.reason,
            "duration": duration,
            **{name: output.text() for name, output in self.outputs.items()},
            "left_out": sum(output.left_out for output in self.outputs.values()),
            "strays": len(self.killed - {self.child.pid}),
            "left": self.left,
        }

    def wake_on_sigchld(self) -> None:
        reader, writer = os.pipe()
        os.set_blocking(reader, False)
        os.set_blocking(writer, False)
        signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        self.listen(reader, "wake")

    def listen(self, descriptor: int, name: str) -> None:
        for selector in (self.selector, self.urgent):
            selector.register(descriptor, selectors.EVENT_READ, name)

    def wait_for_the_end(self, deadline: float) -> None:
        """Until the child is gone or must go; the steps after the deadline are a ladder."""
        self.reap()
        ladder: list[tuple[float, int | None]] = [
            (deadline, signal.SIGINT),
            (deadline + GRACE_SECONDS, signal.SIGABRT),
            (deadline + GRACE_SECONDS + ABORT_SECONDS, None),
        ]
        while self.status is None:
            moment, step = ladder[0]
            if time.monotonic() < moment:
                if not self.look(min(moment - time.monotonic(), MEASURE_SECONDS)):
                    self.reason = "stopped"
                    return
                if self.report_is_too_large():
                    self.reason = "overflow"
                    return
                self.tree.note()
                continue
            self.reason = "timeout"
            if step is None:
                return
            self.tell(step)
            ladder.pop(0)

    def report_is_too_large(self) -> bool:
        with contextlib.suppress(OSError):
            return os.stat(self.report).st_size > self.report_limit
        return False

    def tell(self, number: int) -> None:
        with contextlib.suppress(OSError):
            os.kill(self.child.pid, number)
            os.kill(self.child.pid, signal.SIGCONT)  # one that has stopped itself hears nothing

    def look(self, timeout: float | None) -> bool:
        """Wait for news; False when the server has closed the control pipe."""
        printed = 0
        for key, _ in self.selector.select(timeout):
            if key.data == "control":
                if not self.control.read():
                    return False
            elif key.data == "wake":
                os.read(key.fd, CHUNK)
            else:
                printed += self.read(key)
        if 0 < printed < LITTLE_OUTPUT:
            self.urgent.select(OUTPUT_PAUSE_SECONDS)
        self.reap()
        return True

    def read(self, key: selectors.SelectorKey) -> int:
        """Take what has been printed, and say how much."""
        try:
            chunk = os.read(key.fd, CHUNK)
        except OSError:
            return 0
        if chunk:
            self.outputs[key.data].add(chunk)
        else:
            self.selector.unregister(key.fileobj)
        return len(chunk)

    def reap(self) -> bool:
        """Collect every child that has ended, adopted ones too; False when there is none left at all."""
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return False
            if pid == 0:
                return True
            if pid == self.child.pid:
                self.status = os.waitstatus_to_exitcode(status)
                self.child.returncode = self.status  # or Popen would look for it again

    def sweep(self) -> None:
        """End everything that descends from the child."""
        for key in list(self.selector.get_map().values()):
            if key.data in ("control", "wake"):
                self.selector.unregister(key.fileobj)  # nothing they could say matters any more
        self.let_helpers_finish()
        end = time.monotonic() + SWEEP_SECONDS
        while (found := self.remainder()) is not None:
            if time.monotonic() > end:
                self.left = max(1, len(found))
                return
            fresh = found - self.killed
            process_tree.end_all(found, known=self.killed)
            self.killed |= fresh
            if not fresh:
                self.pause()

    def remainder(self) -> set[int] | None:
        """What is there of the child, None if nothing is; whatever ends is on its way until it has been reaped."""
        is_above_something = self.reap()
        if self.adopts:
            return self.tree.alive() if is_above_something else None
        return self.tree.alive() or None

    def let_helpers_finish(self) -> None:
        """A child that left by itself may have helpers that tidy up after it, as multiprocessing has."""
        end = time.monotonic() + (HELPER_SECONDS if self.reason == "exited" else 0)
        while time.monotonic() < end and (self.reap() if self.adopts else self.remainder()):
            self.pause()

    def pause(self) -> None:
        self.selector.select(SWEEP_PAUSE_SECONDS)
        self.drain_available()

    def drain_available(self) -> None:
        for key, _ in self.selector.select(0):
            if key.data in self.outputs:
                self.read(key)

    def drain(self) -> None:
        end = time.monotonic() + DRAIN_SECONDS
        while time.monotonic() < end and any(key.data in self.outputs for key in self.selector.get_map().values()):
            for key, _ in self.selector.select(end - time.monotonic()):
                self.read(key)


def start(order: dict[str, Any], go: int | None) -> Child:
    return subprocess.Popen(
        order["argv"] if go is None else [*order["argv"], str(go)],
        cwd=order["cwd"],
        env=order["env"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
        preexec_fn=die_with_the_supervisor,
        pass_fds=() if go is None else (go,),
    )


def die_with_the_supervisor() -> None:
    process_tree.ask_for_a_signal_at_the_parents_end(signal.SIGKILL)


def carry_out(order: dict[str, Any], control: Control, folder: str, *, adopts: bool) -> tuple[Any, bool]:
    """How it ended, None when it never began; and whether nothing is left of it."""
    waits = order["time_limit"] is None
    waiting, go = os.pipe() if waits else (None, None)
    try:
        child = start(order, waiting)
    except (OSError, ValueError, subprocess.SubprocessError) as error:
        return {"spawn_error": str(error), "errno": getattr(error, "errno", None)}, True
    supervisor = Supervisor(child, control, order, folder, adopts=adopts)
    if waiting is not None and go is not None:
        os.close(waiting)
        order = supervisor.wait_for_the_order_to_go()
        os.close(go)
    answer = None if order is None else supervisor.run(order["time_limit"])
    return answer, not supervisor.left


def first_order(control: Control) -> Any:
    while (order := control.order()) is None:
        if not control.read():
            return None
    return order


def supervise(folder: str) -> int:
    """The exit code: 1 when somebody else must end what is left."""
    process_tree.ask_for_a_signal_at_the_parents_end(signal.SIGCONT)
    adopts = process_tree.become_subreaper()
    control = Control()
    answer, is_clean = None, True
    try:
        order = first_order(control)
        if order is not None:
            answer, is_clean = carry_out(order, control, folder, adopts=adopts)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    with contextlib.suppress(BrokenPipeError), open(1, "wb") as server:
        if answer is not None:
            server.write(json.dumps(answer).encode() + b"\n")
    return 0 if is_clean else 1


def main(folder: str) -> int:
    signals.restore(signal.valid_signals())
    if not process_tree.become_subreaper():
        return supervise(folder)
    worker = os.fork()
    return supervise(folder) if worker == 0 else watcher.over(worker, folder)


if __name__ == "__main__":
    # The server waits for our end, and nothing is left to tidy.
    os._exit(main(sys.argv[1]))
