"""What a driver told, without what differs from run to run: timings, the disk, and the folder of the project."""

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

# In the order in which they are applied.
VARYING = {
    r'"(duration|free_bytes)":[\d.e-]+': r'"\1":0',
    r"\b\d+\.\d+s\b": "0s",
    # pytest fills its lines up.
    r"=+": "=",
}

Answer = dict[str, Any]


def comparable(told: Mapping[str, Answer], root: Path) -> dict[str, Answer]:
    """By step; the same for every client that hands on what the server said."""
    return {step: _answer(said, root) for step, said in told.items()}


def check(told: Mapping[str, Answer], root: Path, expected: Mapping[str, Answer]) -> None:
    """Every step has the expected answer, and progress was told while it was made."""
    assert comparable(told, root) == {step: expected[step] for step in told}
    notes = told["followed"]["notes"]
    done = [progress for progress, _, _ in notes]
    assert done
    assert done == sorted(set(done))
    assert {total for _, total, _ in notes} == {3}


def same(text: str, root: Path) -> str:
    for pattern, placeholder in VARYING.items():
        text = re.sub(pattern, placeholder, text)
    return text.replace(str(root), "ROOT")


def _answer(said: Answer, root: Path) -> Answer:
    if "error" in said:
        return {"error": _error(said["error"], root)}
    if "cancelled" in said:
        return {"cancelled": said["cancelled"]}
    structured = json.dumps(said["structured"], ensure_ascii=False, separators=(",", ":"))
    return {
        "text": same(said["text"], root),
        "structured": same(structured, root),
        "is_error": said["is_error"],
    }


def _error(error: Answer, root: Path) -> Answer:
    # The first TypeScript SDK puts words of its own before the server's.
    message = error["message"].removeprefix(f"MCP error {error['code']}: ")
    if error["data"].get("error_type") == "timeout":
        # How far a run had come by then is a matter of luck.
        return {"code": error["code"], "message": message.partition("\n")[0], "keys": list(error["data"])}
    data = json.dumps(error["data"], ensure_ascii=False)
    return {"code": error["code"], "message": same(message, root), "data": same(data, root)}
