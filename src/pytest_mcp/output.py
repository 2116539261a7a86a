"""What the commands say to a person or a script: answers on standard output, complaints on standard error."""

import os
import sys

# The exit code of a mistake in typing, as argparse has it.
MISUSE = 2


def show(text: str) -> None:
    """Print, also to a reader that has seen enough: `pytest-mcp call … | head` is no mistake."""
    try:
        print(text, flush=True)
    except BrokenPipeError:
        # Python flushes once more on its way out, which must find somebody to take it.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def complain(sentence: str) -> None:
    print(f"pytest-mcp: {sentence}", file=sys.stderr)
