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
    " beside each; some of the mutants once more on disk, in a fresh process, survivors first."
)
# Characters of the answer for one token of o200k: measured on answers of all tools.
CHARACTERS = 3.3


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
    planted = [row["planted_seen"] for row in rows if row["planted_seen"] is not None]
    agreed, wrong = sum(row["agreed"] for row in rows), [each for row in rows for each in row["wrong"]]
    ratios = sorted(row["seconds"] / row["plain_seconds"] for row in rows if row["plain_seconds"])
    sizes = sorted(len(json.dumps(row["answer"], separators=(",", ":"))) / CHARACTERS for row in rows)
    libraries = {row["library"] for row in rows}
    lines = [
        "# Do the tests prove the change?",
        "",
        ABOUT,
        "",
        "| | measured | goal |",
        "|---|--:|--:|",
        f"| commits, of libraries | {len(rows)}, {len(libraries)} | ≥ 50 |",
        f"| verdict of a fork is that of a fresh process | {agreed} of {agreed + len(wrong)} | ≥ 200 of 200 |",
        f"| planted vacuous tests told | {sum(planted)} of {len(planted)} | all |",
        f"| whole answer in plain runs of the tests that it reaches, median / worst | {_pair(ratios)} | ≤ 7 / ≤ 15 |",
        f"| whole answer in seconds, median / worst | {_pair([row['seconds'] for row in rows])} | |",
        f"| the answer in tokens (characters ÷ {CHARACTERS}), median / worst | {_pair(sizes, 0)} | ≤ 350 / ≤ 1,500 |",
        f"| verdicts | {_counted(row['answer']['verdict'] for row in rows)} | |",
        "",
        "| library | commit | verdict | proving | killed | survived | not tried | in plain runs | s | wrong |",
        "|---|---|---|--:|--:|--:|--:|--:|--:|--:|",
    ]
    return "\n".join([*lines, *map(_row, sorted(rows, key=lambda row: row["library"])), ""])


def _row(row: dict[str, Any]) -> str:
    answer, held = row["answer"], " (held out)" if row["holdout"] else ""
    counts = [answer["summary"][name] for name in ("proving", "killed", "survived", "not_tried")]
    ratio = f"{row['seconds'] / row['plain_seconds']:.1f}" if row["plain_seconds"] else ""
    cells = [row["library"] + held, row["commit"], answer["verdict"], *counts, ratio, row["seconds"], len(row["wrong"])]
    return f"| {' | '.join(map(str, cells))} |"


def _pair(values: Sequence[float], digits: int = 1) -> str:
    return f"{statistics.median(values):,.{digits}f} / {max(values):,.{digits}f}" if values else ""


def _counted(names: Any) -> str:
    return ", ".join(f"{number} {name}" for name, number in Counter(names).most_common())


if __name__ == "__main__":
    raise SystemExit(main())
