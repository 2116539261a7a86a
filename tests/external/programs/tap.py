"""Between a program and the server: hands on every line and keeps a copy, and the names of the variables it was given.

`tap.py LOG COMMAND...`; a script that needs nothing but the standard library. Of a result it marks both channels,
so that the one which a model is shown can be told.
"""

import json
import os
import subprocess
import sys
import threading
import time
from typing import IO, Any

MARKS = ("seen in content", "seen in structuredContent")
# A server whose client has gone ends by itself.
END_SECONDS = 10


def main(log_file: str, command: list[str]) -> None:
    with open(log_file, "a", encoding="utf-8") as log:  # noqa: PTH123  # as short as a script can be
        keep(log, variables=sorted(os.environ))
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as server:
            assert server.stdin is not None
            assert server.stdout is not None
            answers = (server.stdout, sys.stdout.buffer, log, "server")
            back = threading.Thread(target=hand_on, args=answers, daemon=True)
            back.start()
            hand_on(sys.stdin.buffer, server.stdin, log, "client")
            server.wait(END_SECONDS)
            back.join(END_SECONDS)


def hand_on(source: IO[bytes], target: IO[bytes], log: IO[str], who: str) -> None:
    for line in source:
        message = json.loads(line)
        keep(log, **{who: message})
        try:
            target.write(json.dumps(marked(message)).encode() + b"\n" if who == "server" else line)
            target.flush()
        except OSError:
            break
    if who == "client":
        target.close()


def keep(log: IO[str], **entry: Any) -> None:
    log.write(json.dumps({"at": time.time(), **entry}) + "\n")
    log.flush()


def marked(message: dict[str, Any]) -> dict[str, Any]:
    result = message.get("result", {})
    if "structuredContent" in result:
        (block,) = result["content"]
        text = json.loads(block["text"])
        for answer, mark in zip((text, result["structuredContent"]), MARKS, strict=True):
            answer.get("notices", []).append(mark)
        block["text"] = json.dumps(text, separators=(",", ":"))
    return message


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
