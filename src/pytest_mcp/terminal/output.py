"""Output of the commands: answers on stdout, messages on stderr. What they say is decided by the commands."""

import io
import os
import sys

# argparse's exit code for a usage error.
MISUSE = 2
# pytest's exit code for a usage error, for the commands that replace it.
USAGE_ERROR = 4
# The exit code if the answer cannot be written, as on a full disk: pytest's code for an internal error.
UNWRITTEN = 3


def open_closed_streams() -> None:
    """Open /dev/null for closed stdin, stdout or stderr: the next file opened would get its descriptor and its data."""
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None:
            # os.open returns the lowest free descriptor, which is this number.
            os.set_inheritable(os.open(os.devnull, os.O_RDWR), True)
            setattr(sys, name, open(number, "w" if number else "r", encoding="utf-8", closefd=False))  # noqa: SIM115


def show(text: str) -> None:
    """Print to stdout. A reader that closes the pipe is not an error: `pytest-mcp call … | head`."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        # The encoding of stdout may not have every character.
        sys.stdout.reconfigure(errors="backslashreplace")
    try:
        print(text, flush=True)
    except OSError as error:
        # Python flushes stdout again at exit, and that must not fail.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if not isinstance(error, BrokenPipeError):
            print_message(f"the answer could not be written: {error.strerror}")
            sys.exit(UNWRITTEN)


def show_on_stderr(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def can_show(characters: str) -> bool:
    """Whether the encoding of stdout has these characters."""
    try:
        characters.encode(sys.stdout.encoding or "utf-8")
    except UnicodeEncodeError:
        return False
    return True


def print_message(sentence: str) -> None:
    print(f"pytest-mcp: {sentence}", file=sys.stderr)


def ask(question: str) -> bool:
    """Whether the user answers yes. Enter means yes, the end of the input means no."""
    try:
        return input(f"{question} [Y/n] ").strip().lower() in ("", "y", "yes")
    except EOFError:
        show("")
        return False


def can_ask() -> bool:
    return sys.stdin.isatty() and sys.stdout.isatty()
