"""What the commands say to a person or a script: answers on standard output, complaints on standard error."""

import io
import os
import sys

# The exit code of a mistake in typing, as argparse has it.
MISUSE = 2
# And as pytest has it, for the commands that stand in its place.
USAGE_ERROR = 4
# Of an answer that could not be written, as on a full disk: pytest's code for what is not the tests' fault.
UNWRITTEN = 3


def open_closed_streams() -> None:
    """Whoever started us may have closed one; the next file that is opened would get its number and all it is sent."""
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None:
            # The lowest number that is free, which is this one.
            os.set_inheritable(os.open(os.devnull, os.O_RDWR), True)
            setattr(sys, name, open(number, "w" if number else "r", encoding="utf-8", closefd=False))  # noqa: SIM115


def show(text: str) -> None:
    """Print, also to a reader that has seen enough: `pytest-mcp call … | head` is no mistake."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        # Not everybody's standard output can say everything.
        sys.stdout.reconfigure(errors="backslashreplace")
    try:
        print(text, flush=True)
    except OSError as error:
        # Python flushes once more on its way out, which must find somebody to take it.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if not isinstance(error, BrokenPipeError):
            complain(f"the answer could not be written: {error.strerror}")
            sys.exit(UNWRITTEN)


def remark(text: str) -> None:
    """What is not the answer, but belongs to it."""
    print(text, file=sys.stderr, flush=True)


def can_show(characters: str) -> bool:
    """Whether standard output has a way to say them."""
    try:
        characters.encode(sys.stdout.encoding or "utf-8")
    except UnicodeEncodeError:
        return False
    return True


def complain(sentence: str) -> None:
    print(f"pytest-mcp: {sentence}", file=sys.stderr)


def ask(question: str) -> bool:
    """Somebody's yes; Enter is one, the end of the input is none."""
    try:
        return input(f"{question} [Y/n] ").strip().lower() in ("", "y", "yes")
    except EOFError:
        show("")
        return False


def can_ask() -> bool:
    return sys.stdin.isatty() and sys.stdout.isatty()
