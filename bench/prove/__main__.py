"""`python -m bench.prove --repos FOLDER`: check real commits and write bench/PROOF.md. Hours; needs pip."""

import argparse
import json
import statistics
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import anyio
from pydantic import TypeAdapter

from bench.prove.commits import chosen, measured
from bench.suspects.repositories import REPOSITORIES, Absent, Repository
from bench.tokens import tokenizer
from bench.tokens.cache import FOLDER
from pytest_mcp.process import process

RESULTS, FURTHER, JUDGED = (
    Path(__file__).with_name(name) for name in ("commits.json", "libraries.json", "judged.json")
)
LIBRARIES = {
    **REPOSITORIES,
    **{each.name: each for each in TypeAdapter(list[Repository]).validate_json(FURTHER.read_bytes())},
}
DOCUMENT = Path(__file__).resolve().parents[1] / "PROOF.md"
ABOUT = (
    "`make prove REPOS=FOLDER` writes this page. Real commits that change source and tests, a vacuous test planted"
    " beside each; some of the mutants once more on disk, in a fresh process, survivors first. Rules were made while"
    " *tuned* commits were read; nobody had looked at those *held out*. One judge read the survivors and what new tests"
    " show at the base (`bench/prove/judged.json`)."
)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.prove", description=__doc__)
    parser.add_argument("libraries", nargs="*", help=f"only these; of {', '.join(LIBRARIES)}")
    parser.add_argument("--repos", type=Path, help="a folder with clones of them")
    parser.add_argument("--commits", type=int, default=5, help="of each library")
    options = parser.parse_args()
    process.prepare()
    FOLDER.mkdir(exist_ok=True)
    rows = json.loads(RESULTS.read_text(encoding="utf-8")) if RESULTS.exists() else []
    for name in options.libraries or (LIBRARIES if options.repos else ()):
        measure(name, options, rows)
    DOCUMENT.write_text(document(rows), encoding="utf-8")
    return 0


def measure(name: str, options: argparse.Namespace, rows: list[dict[str, Any]]) -> None:
    """Each commit is saved as soon as it is measured."""
    repository = LIBRARIES[name]
    try:
        repository.prepare(options.repos)
    except Absent as absent:
        print(absent)
        return
    known = {row["commit"] for row in rows}
    for commit in chosen(repository, options.commits):
        if commit[:10] in known:
            continue
        row = asdict(anyio.run(measured, repository, commit))
        rows.append(row)
        RESULTS.write_text(json.dumps(rows, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
        print(name, row["commit"], row["answer"]["verdict"], row["seconds"], row["agreed"], row["wrong"], flush=True)


def document(rows: Sequence[dict[str, Any]]) -> str:
    sides = [[row for row in rows if not row["holdout"]], [row for row in rows if row["holdout"]]]
    judged = json.loads(JUDGED.read_text(encoding="utf-8"))
    cells = {
        "commits, of libraries; goal ≥ 50": [f"{len(side)}, {len({row['library'] for row in side})}" for side in sides],
        "verdict of a fork is that of a fresh process; ≥ 200 of 200": [_agreed(side) for side in sides],
        "planted vacuous tests told: pass at the base + file not importable there; all": [
            _planted(side) for side in sides
        ],
        "strong alarms about tests; 0": [str(sum(_is_alarm(row) for row in side)) for side in sides],
        "survivors read: gaps + equivalent + arid; gaps ≥ 75 %": [_read(judged, side) for side in sides],
        "whole answer in plain runs of the tests that it reaches, median / worst; ≤ 7 / ≤ 15": [
            _pair([ratio for row in side if (ratio := _ratio(row))]) for side in sides
        ],
        "whole answer in seconds, median / worst": [_pair([row["seconds"] for row in side]) for side in sides],
        "the answer in o200k tokens, median / worst; ≤ 350 / ≤ 1,500": [_pair(_tokens(side), 0) for side in sides],
        "verdicts": [_counted(row["answer"]["verdict"] for row in side) for side in sides],
    }
    lines = [
        "# Do the tests prove the change?",
        "",
        ABOUT,
        "",
        "| | tuned | held out |",
        "|---|--:|--:|",
        *(f"| {name} | {' | '.join(each)} |" for name, each in cells.items()),
        "",
        f"What new tests show at the base, judged: {judged['at_base']}",
        "",
        "Survivors that were no gaps:",
        "",
        *(
            f"- {each['where']}: {each['judged']}, {each['why']}"
            for each in judged["survivors"]
            if each["judged"] != "gap"
        ),
        "",
        "The slowest first, in plain runs:",
        "",
        "| library | commit | verdict | proving | killed | survived | not tried | in plain runs | s | wrong |",
        "|---|---|---|--:|--:|--:|--:|--:|--:|--:|",
    ]
    return "\n".join([*lines, *map(_row, sorted(rows, key=_ratio, reverse=True)), ""])


def _ratio(row: dict[str, Any]) -> float:
    return float(row["seconds"] / row["plain_seconds"]) if row["plain_seconds"] else 0.0


def _agreed(rows: Sequence[dict[str, Any]]) -> str:
    agreed = sum(row["agreed"] for row in rows)
    return f"{agreed} of {agreed + sum(len(row['wrong']) for row in rows)}"


def _planted(rows: Sequence[dict[str, Any]]) -> str:
    seen = [row["planted_seen"] for row in rows if row["planted_seen"] is not None]
    return f"{sum(seen)} + {len(seen) - sum(seen)} of {len(seen)}"


def _is_alarm(row: dict[str, Any]) -> bool:
    return bool(row["answer"]["verdict"] == "tests_weakened")


def _read(judged: dict[str, Any], rows: Sequence[dict[str, Any]]) -> str:
    commits = {row["commit"] for row in rows}
    found = Counter(each["judged"] for each in judged["survivors"] if each["commit"] in commits)
    share = f" ({found['gap'] / found.total():.0%})" if found else ""
    return f"{found['gap']} + {found['equivalent']} + {found['arid']}{share}"


def _tokens(rows: Sequence[dict[str, Any]]) -> list[int]:
    return tokenizer.count([json.dumps(row["answer"], separators=(",", ":"), ensure_ascii=False) for row in rows])


def _row(row: dict[str, Any]) -> str:
    answer, held = row["answer"], " (held out)" if row["holdout"] else ""
    counts = [answer["summary"][name] for name in ("proving", "killed", "survived", "not_tried")]
    ratio = f"{_ratio(row):.1f}" if row["plain_seconds"] else ""
    cells = [row["library"] + held, row["commit"], answer["verdict"], *counts, ratio, row["seconds"], len(row["wrong"])]
    return f"| {' | '.join(map(str, cells))} |"


def _pair(values: Sequence[float], digits: int = 1) -> str:
    return f"{statistics.median(values):,.{digits}f} / {max(values):,.{digits}f}" if values else ""


def _counted(names: Any) -> str:
    return ", ".join(f"{number} {name}" for name, number in Counter(names).most_common())


if __name__ == "__main__":
    raise SystemExit(main())
