"""One process per run, between the server and the child, so that nothing outlives either of them.

Run as a script in the server's Python (`-I -S`: standard library only), never imported by the server.
Its argument is the run's folder, which it removes at the end. It reads orders from stdin and writes one answer to
stdout; `supervisor_protocol` has both. The end of stdin is the order to stop: it comes also when the server is killed.

A child that is started ahead of its job has no time limit at first. It waits for the end of a pipe that carries
nothing, which comes with the second order. If the child ends before that, there is no answer.

It is a session of its own, so that a test that kills its process group does not reach it. On Linux it is a child
subreaper: daemons, double forks and new sessions all become its children and are ended here. Elsewhere it ends the
process group and what `ps` has shown to descend from the child.

On Linux it is two processes. The first only waits for the second, which does all of this, and ends what is left if
the second is killed: so one is there even when the server is killed at the same moment. A stopped process is
continued when its parent dies.
"""

import contextlib
import os
import resource
import signal
import subprocess
import sys
import time
from types import FrameType
from typing import IO, TypeAlias

# Only the standard library is on the path; our own package comes last.
sys.path.append(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))

from pytest_mcp.process import process_tree, removal, signals
from pytest_mcp.process import supervisor_protocol as protocol
from pytest_mcp.process.supervisor_input import Control, Input
from pytest_mcp.process.supervisor_protocol import Answer, Ended, Reason, Start

# How often a growing report is measured against its limit.
MEASURE_SECONDS = 0.2
# A process in uninterruptible sleep dies late; the pause between two attempts to kill it.
PAUSE_SECONDS = 0.005
# By how much a child may raise its memory limit, to report a test that has used up its memory. Describing one failure
# takes a part of it, with the longest texts.
MEMORY_TO_REPORT = 16 * 1024**2

Child: TypeAlias = "subprocess.Popen[bytes]"
# Signals and their moments; None is the end of the patience.
Steps: TypeAlias = list[tuple[float, int | None]]


class Supervisor:
    """One started child, until nothing of it is left."""

    def __init__(self, child: Child, control: Control, order: Start, folder: str, *, adopts: bool) -> None:
        self.child = child
        self.control = control
        self.report = os.path.join(folder, "report")
        self.report_limit = order["report_limit"]
        self.has_records = not order["redirected"]
        self.status: int | None = None
        self.reason: Reason = "exited"
        self.tree: process_tree.Tree = (process_tree.Adopted if adopts else process_tree.Listed)(child.pid)
        self.adopts = adopts
        self.killed: set[int] = set()
        # How many of them were still there when the time for killing had passed.
        self.left = 0
        self.input = Input(control, child.stdout, child.stderr, order["kept_output"])

    def wait_for_the_second_order(self) -> float | None:
        """The time limit, or None when there will be none: the server or the child is gone."""
        self.reap()
        while (order := self.control.order()) is None:
            if self.status is not None or not self.wait(None):
                self.reason = "stopped"
                self.sweep(time.monotonic() + protocol.SWEEP_SECONDS)
                return None
        assert order["kind"] == "go"
        return order["time_limit"]

    def run(self, time_limit: float) -> Ended:
        started = time.monotonic()
        self.wait_for_the_end(started + time_limit)
        ended = time.monotonic()
        is_unhurried = self.reason == "exited"
        self.sweep(protocol.end_of_killing(ended, started + time_limit if is_unhurried else ended))
        self.input.drain(protocol.DRAIN_SECONDS)
        number = -self.status if self.status is not None and self.status < 0 else None
        return {
            "kind": "ended",
            "code": self.status if number is None else None,
            "signal": None if number is None else signal_name(number),
            "reason": self.reason,
            "duration": ended - started,
            "stdout": self.input.stdout.text(),
            "stderr": self.input.stderr.text(),
            "left_out": self.input.stdout.left_out + self.input.stderr.left_out,
            "strays": len(self.killed - {self.child.pid}),
            "left": self.left,
        }

    def wait_for_the_end(self, deadline: float) -> None:
        """Until the child has ended or must be ended; after the deadline each step is harder than the one before."""
        self.reap()
        cause: Reason = "timeout"
        steps = steps_of_ending(deadline, protocol.GRACE_SECONDS)
        while self.status is None:
            if self.control.order() is not None and self.reason == "exited":
                # The only order that comes now is to interrupt. The time limit still holds.
                cause, now = "interrupted", time.monotonic()
                steps = steps_of_ending(now, min(protocol.INTERRUPT_SECONDS, deadline + protocol.GRACE_SECONDS - now))
            moment, number = steps[0]
            if time.monotonic() < moment:
                if not self.goes_on(min(moment - time.monotonic(), MEASURE_SECONDS)):
                    return
                continue
            self.reason = cause
            if number is None:
                return
            if number == signal.SIGINT and self.has_records:
                self.note_ending()
            self.tell(number)
            steps.pop(0)

    def goes_on(self, timeout: float) -> bool:
        """Wait; False if the child must be ended at once."""
        if not self.wait(timeout):
            self.reason = "stopped"
        elif self.report_is_too_large():
            self.reason = "overflow"
        else:
            self.tree.note()
            return True
        return False

    def note_ending(self) -> None:
        """Tests can swallow the signal: what the report has after this does not say how they would have ended."""
        with contextlib.suppress(OSError):
            # A test may have put anything in the place of the report.
            report = os.open(self.report, os.O_WRONLY | os.O_APPEND | os.O_NOFOLLOW | os.O_NONBLOCK)
            try:
                os.write(report, protocol.ENDING)
            finally:
                os.close(report)

    def report_is_too_large(self) -> bool:
        with contextlib.suppress(OSError):
            return os.stat(self.report).st_size > self.report_limit
        return False

    def tell(self, number: int) -> None:
        with contextlib.suppress(OSError):
            os.kill(self.child.pid, number)
            os.kill(self.child.pid, signal.SIGCONT)  # a stopped process does not handle signals

    def wait(self, timeout: float | None) -> bool:
        """Wait for anything to happen; False when the server has closed stdin."""
        if not self.input.wait(timeout):
            return False
        self.reap()
        return True

    def reap(self) -> bool:
        """Wait for every child that has ended, adopted ones too; False when there is no child left."""
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return False
            if pid == 0:
                return True
            if pid == self.child.pid:
                self.status = os.waitstatus_to_exitcode(status)
                self.child.returncode = self.status  # or Popen would wait for it again

    def sweep(self, end: float) -> None:
        """Kill everything that descends from the child, until nothing is left or this moment has come."""
        self.input.only_output()
        self.let_helpers_finish()
        while (alive := self.remainder()) is not None:
            if time.monotonic() > end:
                self.left = max(1, len(alive))
                return
            fresh = alive - self.killed
            process_tree.end_all(alive, known=self.killed)
            self.killed |= fresh
            if not fresh:
                self.input.pause(PAUSE_SECONDS)

    def remainder(self) -> set[int] | None:
        """The live descendants, None if nothing is left; the set may be empty while something waits to be reaped."""
        is_above_something = self.reap()
        if self.adopts:
            return self.tree.alive() if is_above_something else None
        return self.tree.alive() or None

    def let_helpers_finish(self) -> None:
        """A child that exited by itself may have helpers that clean up after it, as multiprocessing has."""
        end = time.monotonic() + (protocol.HELPER_SECONDS if self.reason in ("exited", "interrupted") else 0)
        while time.monotonic() < end and (self.reap() if self.adopts else self.remainder()):
            self.input.pause(PAUSE_SECONDS)


def signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"SIG{number}"


def steps_of_ending(moment: float, grace: float) -> Steps:
    abort = moment + grace
    return [(moment, signal.SIGINT), (abort, signal.SIGABRT), (abort + protocol.ABORT_SECONDS, None)]


def start(order: Start, go: int | None, folder: str) -> Child:
    with contextlib.ExitStack() as opened:
        stdin: int | IO[bytes] = subprocess.DEVNULL
        stdout: int | IO[bytes] = subprocess.PIPE
        if order["redirected"]:
            stdin = opened.enter_context(open(os.path.join(folder, "input"), "rb"))
            stdout = opened.enter_context(open(os.path.join(folder, "report"), "ab"))
        return subprocess.Popen(
            order["argv"] if go is None else [*order["argv"], str(go)],
            cwd=order["cwd"],
            env=order["env"],
            stdin=stdin,
            stdout=stdout,
            stderr=subprocess.PIPE,
            start_new_session=True,
            preexec_fn=lambda: between_fork_and_exec(order["max_memory"]),
            pass_fds=() if go is None else (go,),
        )


def between_fork_and_exec(max_memory: int | None) -> None:
    """In the child alone: it dies with the supervisor, and everything that it starts inherits its limit."""
    process_tree.ask_for_a_signal_at_the_parents_end(signal.SIGKILL)
    if max_memory is not None:
        _, hard = resource.getrlimit(resource.RLIMIT_DATA)
        most = max_memory + MEMORY_TO_REPORT
        hard = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(resource.RLIMIT_DATA, (min(max_memory, hard), hard))


def carry_out(order: Start, control: Control, folder: str, *, adopts: bool) -> tuple[Answer | None, bool]:
    """The answer, None if a spare got no second order; and whether nothing is left of the child."""
    time_limit = order["time_limit"]
    waiting, go = os.pipe() if time_limit is None else (None, None)
    try:
        child = start(order, waiting, folder)
    except (OSError, ValueError, subprocess.SubprocessError) as error:
        return {"kind": "not_started", "message": str(error), "errno": getattr(error, "errno", None)}, True
    supervisor = Supervisor(child, control, order, folder, adopts=adopts)
    if waiting is not None and go is not None:
        os.close(waiting)
        time_limit = supervisor.wait_for_the_second_order()
        os.close(go)
    answer = None if time_limit is None else supervisor.run(time_limit)
    return answer, not supervisor.left


def supervise(folder: str) -> int:
    """The exit code: 1 if the watcher must end what is left."""
    process_tree.ask_for_a_signal_at_the_parents_end(signal.SIGCONT)
    adopts = process_tree.become_subreaper()
    control = Control()
    answer, is_clean = None, True
    try:
        while (order := control.order()) is None and control.read():
            pass
        if order is not None:
            assert order["kind"] == "start"
            answer, is_clean = carry_out(order, control, folder, adopts=adopts)
    finally:
        removal.remove(folder)
    with contextlib.suppress(BrokenPipeError), open(1, "wb") as server:
        if answer is not None:
            server.write(protocol.encode(answer))
    return 0 if is_clean else 1


def watch(worker: int, folder: str) -> int:
    """Wait for the second process, and end what it leaves; the exit code is 1 if it did not end by itself."""

    def wake(_number: int, _frame: FrameType | None) -> None:
        os.kill(worker, signal.SIGCONT)

    process_tree.ask_for_a_signal_at_the_parents_end(signal.SIGCONT)
    signal.signal(signal.SIGCONT, wake)
    # So that the server's pipe ends with the worker.
    os.close(1)
    # First only wait, so that its pid stays valid for the handler; reap it after that.
    process_tree.wait_without_reaping(worker)
    signal.signal(signal.SIGCONT, signal.SIG_DFL)
    if os.waitpid(worker, 0)[1] == 0:
        return 0
    end_everything_since(worker)
    removal.remove(folder)
    return 1


def end_everything_since(worker: int) -> None:
    tree = process_tree.Adopted(worker)
    end = time.monotonic() + protocol.SWEEP_SECONDS
    while time.monotonic() < end:
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        except ChildProcessError:
            return
        process_tree.end_all(tree.alive())
        time.sleep(PAUSE_SECONDS)


def main(folder: str) -> int:
    signals.restore(signal.valid_signals())
    if not process_tree.become_subreaper():
        return supervise(folder)
    worker = os.fork()
    return supervise(folder) if worker == 0 else watch(worker, folder)


if __name__ == "__main__":
    # The server waits for our exit, and nothing is left to tidy.
    os._exit(main(sys.argv[1]))
