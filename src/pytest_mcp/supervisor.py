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
Elsewhere it ends the process group and what `ps` still shows to descend from the child.
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
sys.path.append(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from pytest_mcp.processes import PR_SET_PDEATHSIG, become_subreaper, descendants, signal_all

# After the deadline: SIGINT, so that a summary may still be written; this long later SIGABRT, so that
# the stacks are printed; this long later the end.
GRACE_SECONDS = 2.0
ABORT_SECONDS = 0.5
# Nobody who could hold the pipes is left when they are drained; this only bounds the unexpected.
DRAIN_SECONDS = 1.0
# What the helpers of a child may take to notice that it has gone.
HELPER_SECONDS = 0.3
# Killing is repeated until nothing is left, but not for ever.
SWEEP_SECONDS = 5.0
# Whoever prints one character at a time need not be read one at a time: each look costs the child its core.
OUTPUT_PAUSE_SECONDS = 0.02
LITTLE_OUTPUT = 4096
# How often a growing report is measured against its limit.
MEASURE_SECONDS = 0.2
# A process in uninterruptible sleep dies late; between two looks there is this pause.
SWEEP_PAUSE_SECONDS = 0.005
CHUNK = 65536

Child: TypeAlias = "subprocess.Popen[bytes]"


class Output:
    """The head and the tail of a stream, and how much there was."""

    def __init__(self, kept: int) -> None:
        self.kept = kept
        self.head = bytearray()
        self.tail = bytearray()
        self.total = 0

    def add(self, chunk: bytes) -> None:
        self.total += len(chunk)
        room = self.kept - len(self.head)
        self.head += chunk[:room]
        self.tail += chunk[room:]
        del self.tail[: -self.kept]

    @property
    def left_out(self) -> int:
        return self.total - len(self.head) - len(self.tail)

    def text(self) -> str:
        head, tail = (bytes(part).decode("utf-8", "backslashreplace") for part in (self.head, self.tail))
        return head + (f"\n[... {self.left_out} bytes left out ...]\n" if self.left_out else "") + tail


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

    def __init__(self, child: Child, control: Control, order: dict[str, Any], folder: str) -> None:
        self.child = child
        self.control = control
        self.report = os.path.join(folder, "report")
        self.report_limit: int = order["report_limit"]
        self.status: int | None = None
        self.reason = "exited"
        self.killed: set[int] = set()
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
        """End everything that descends from the child.

        Stopped first, killed then: what is stopped cannot fork away from the kill.
        """
        for key in list(self.selector.get_map().values()):
            if key.data in ("control", "wake"):
                self.selector.unregister(key.fileobj)  # nothing they could say matters any more
        self.let_helpers_finish()
        end = time.monotonic() + SWEEP_SECONDS
        while self.reap() and time.monotonic() < end:
            found = descendants(os.getpid(), group=self.child.pid)
            fresh = found - self.killed
            signal_all(fresh, signal.SIGSTOP)
            signal_all(found, signal.SIGKILL)
            self.killed |= fresh
            if not fresh:
                self.selector.select(SWEEP_PAUSE_SECONDS)
                self.drain_available()

    def let_helpers_finish(self) -> None:
        """A child that left by itself may have helpers that tidy up after it, as multiprocessing has."""
        end = time.monotonic() + (HELPER_SECONDS if self.reason == "exited" else 0)
        while self.reap() and time.monotonic() < end:
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
    libc = become_subreaper()

    def die_with_the_supervisor() -> None:
        if libc is not None:
            libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)

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


def carry_out(order: dict[str, Any], control: Control, folder: str) -> dict[str, Any] | None:
    """How it ended; None when it never began."""
    waits = order["time_limit"] is None
    waiting, go = os.pipe() if waits else (None, None)
    try:
        child = start(order, waiting)
    except (OSError, ValueError, subprocess.SubprocessError) as error:
        return {"spawn_error": str(error), "errno": getattr(error, "errno", None)}
    supervisor = Supervisor(child, control, order, folder)
    if waiting is not None and go is not None:
        os.close(waiting)
        order = supervisor.wait_for_the_order_to_go()
        os.close(go)
    return None if order is None else supervisor.run(order["time_limit"])


def first_order(control: Control) -> Any:
    while (order := control.order()) is None:
        if not control.read():
            return None
    return order


def main(folder: str) -> None:
    control = Control()
    try:
        order = first_order(control)
        answer = None if order is None else carry_out(order, control, folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    with contextlib.suppress(BrokenPipeError), open(1, "wb") as server:
        if answer is not None:
            server.write(json.dumps(answer).encode() + b"\n")
    # The server waits for our end, and nothing is left to tidy.
    os._exit(0)


if __name__ == "__main__":
    main(sys.argv[1])
