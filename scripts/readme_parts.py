"""Parts of the README: what a model reads with and without this server, as `make evaluation WRITE=1` has recorded it,
and the entry for a client.
"""

import base64
import json
from pathlib import Path
from typing import Any
from urllib.parse import quote

ROOT = Path(__file__).resolve().parent.parent
EVALUATED = ROOT / "bench" / "evaluation" / "results.json"
SHOWN = 6
_VS_CODE = "https://insiders.vscode.dev/redirect/mcp/install?name=pytest&config="


def kept_row(bug: str, way: str) -> dict[str, Any]:
    rows: list[dict[str, Any]] = json.loads(EVALUATED.read_text(encoding="utf-8"))["rows"]
    return next(row for row in rows if (row["bug"], row["way"]) == (bug, way))


def contrast() -> str:
    """What a model reads first of forty failures with one cause: the last lines of pytest, and our answer."""
    shell, server = (kept_row("forty failures", way)["first"] for way in ("shell", "server"))
    lines, answer = shell.strip().splitlines(), json.loads(server)
    (group,) = answer["failure_groups"]
    example = answer["tests"][group["example"]]
    frames = example["traceback"].splitlines()
    own = [
        f"verdict: {answer['verdict']}; {answer['summary']['errors']} errors",
        f"{group['count']} times {group['message']}",
        f"example: {example['node_id']}",
        *(f"  {line.strip()}" for line in frames[:2]),
        f"rerun: {json.dumps(answer['rerun'])}",
    ]
    shown = {
        f"`pytest -q`, after {len(lines) - SHOWN} other lines": lines[-SHOWN:],
        "`execute_tests`, fields of its answer": own[:SHOWN],
    }
    blocks = (f"{title}\n\n```text\n{chr(10).join(each)}\n```\n" for title, each in shown.items())
    return "\n".join(blocks) + "\nRecorded by `make evaluation`, with a script as the model.\n"


def entry() -> str:
    """The entry that most clients take, and the same as buttons of two."""
    servers = json.loads((ROOT / "packaging" / "mcp.json").read_text(encoding="utf-8"))
    (server,) = servers["mcpServers"].values()
    here = {**server, "args": ["--root", "${workspaceFolder}"]}
    config = json.dumps(here, separators=(",", ":"))
    coded = quote(base64.b64encode(config.encode()), safe="")
    buttons = {
        "Add to VS Code": f"{_VS_CODE}{quote(config, safe='')}",
        "Add to Cursor": f"https://cursor.com/en/install-mcp?name=pytest&config={coded}",
    }
    shown = " · ".join(f"[{title}]({address})" for title, address in buttons.items())
    return f"```json\n{json.dumps(servers)}\n```\n\n{shown}\n"
