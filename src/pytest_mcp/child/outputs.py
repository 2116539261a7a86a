"""What an exception carries of others: the output of a process that failed, the body of an HTTP response.

Its message rarely says why the process failed; the last lines of what it printed do.
"""

from __future__ import annotations

from contextlib import suppress
from typing import Any, Iterator

# Of each, from the end.
MAX_LINES = 8
MAX_LINE = 300
# Exceptions that one was raised from.
MAX_CHAIN = 10


def output_lines(error: BaseException | None) -> list[str]:
    with suppress(Exception):
        return [line for name, text in outputs(error) for line in last_lines(name, text)]
    return []


def outputs(error: BaseException | None) -> Iterator[tuple[str, Any]]:
    for _ in range(MAX_CHAIN):
        if error is None:
            return
        if any(kind.__module__ == "subprocess" for kind in type(error).__mro__):
            yield "stdout", getattr(error, "output", None)
            yield "stderr", getattr(error, "stderr", None)
        # As requests and httpx keep a body that was read; to read one here could wait for a network.
        yield "response", getattr(getattr(error, "response", None), "__dict__", {}).get("_content")
        error = error.__cause__ or error.__context__


def last_lines(name: str, text: object) -> list[str]:
    if isinstance(text, bytes):
        text = text.decode("utf-8", "backslashreplace")
    lines = [line for line in text.splitlines() if line.strip()] if isinstance(text, str) else []
    more = ["%s| [%d more lines above]" % (name, len(lines) - MAX_LINES)] if len(lines) > MAX_LINES else []
    return more + ["%s| %s" % (name, line[:MAX_LINE]) for line in lines[-MAX_LINES:]]
