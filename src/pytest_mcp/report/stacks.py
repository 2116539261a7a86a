"""Where a run was when it was interrupted or crashed: the project's frames in what the child reported or printed."""

import re
from collections.abc import Sequence

from pytest_mcp.api.requests import Request
from pytest_mcp.report import places
from pytest_mcp.run.run import Run
from pytest_mcp.text import in_line

# A frame as Python prints it, or faulthandler.
_FRAME = re.compile(r'^ *File "([^"\n]+)", line (\d+),? in ([\w<>.]+)', re.MULTILINE)
# The same with its statement, also behind the mark of pytest's internal errors.
_FRAME_AND_STATEMENT = re.compile(
    r'^((?:INTERNALERROR> )?)  File "([^"\n]+)", line \d+,? in .*\n(?:\1    .*\n)*', re.MULTILINE
)
_TRACEBACK = "Traceback (most recent call last):\n"
# What faulthandler prints when a process that did not heed the interruption is ended, innermost frames first.
_ABORTED = re.compile(r"^Fatal Python error: Aborted\n", re.MULTILINE)
_THREAD = re.compile(r"^(?:Current t|T)hread 0x.*\n", re.MULTILINE)
# What starts pytest here.
_LAUNCHER = "/pytest_mcp/child/"
# How many frames are shown of the code that was interrupted: the outermost, which is the test's own, and the innermost.
MAX_FRAMES_SHOWN = 8


def stuck_at(run: Run[Request]) -> list[str]:
    """Where a run was that was interrupted: the frames of the project in its main thread, the innermost last."""
    ledger = run.ledger
    if ledger.interrupted is not None and ledger.interrupted.stack:
        return of_the_project(ledger.interrupted.stack)
    if run.exit.reason not in ("timeout", "interrupted"):
        return []
    if ledger.escaped is not None and ledger.escaped.error_type == "KeyboardInterrupt":
        return of_the_project(_frames(run, ledger.escaped.traceback))
    _, *dumped = _ABORTED.split(run.exit.stderr)
    threads = _THREAD.split(dumped[-1]) if dumped else []
    main = next((stack for stack in threads if any(_is_runner(path) for path, *_ in _FRAME.findall(stack))), "")
    return of_the_project(_frames(run, main)[::-1])


def own_frames(run: Run[Request], text: str) -> list[str]:
    """The frames of the project in a traceback as Python prints it, the innermost last."""
    return [frame for frame in _frames(run, text) if not places.is_foreign(frame)]


def of_the_project(frames: Sequence[str]) -> list[str]:
    """All of them if none is of the project."""
    return [frame for frame in frames if not places.is_foreign(frame)] or [*frames]


def stack_lines(frames: Sequence[str]) -> list[str]:
    hidden = len(frames) - MAX_FRAMES_SHOWN
    if hidden > 0:
        frames = [frames[0], f"... {hidden} more", *frames[hidden + 1 :]]
    return [f"stack| {frame}" for frame in frames]


def last_words(traceback: str) -> str:
    """What a traceback as Python prints it ends with, in one line."""
    lines = traceback.strip().splitlines() or [""]
    frames = [index for index, line in enumerate(lines) if _FRAME.match(line)]
    words = [line for line in lines[frames[-1] :] if not line.startswith("  ")] if frames else []
    return in_line(" ".join(words) or lines[-1].strip())


def without_stack(stderr: str) -> str:
    """Without what Python prints last of a process that is ended: the message has the frames that matter."""
    printed, _, last = stderr.rpartition(_TRACEBACK)
    return _ABORTED.split(printed if last.rstrip().endswith("\nKeyboardInterrupt") else stderr)[0]


def without_runner(printed: str) -> str:
    """Stacks of a crash have sixty lines of pytest above those of the test."""
    return _FRAME_AND_STATEMENT.sub(lambda frame: "" if _is_runner(frame.group(2)) else frame.group(), printed)


def _frames(run: Run[Request], text: str) -> list[str]:
    """All frames but those of pytest, in their order."""
    root = f"{run.environment.root}/"
    return [
        in_line(f"{path.removeprefix(root)}:{line}: in {function}")
        for path, line, function in _FRAME.findall(text)
        if not _is_runner(path)
    ]


def _is_runner(path: str) -> bool:
    return places.is_runner(path) or _LAUNCHER in path
