"""One mutant: our answer over stdio and the other tools' texts, then the numbers of both."""

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from pydantic import TypeAdapter

from bench.tokens import answers, tokenizer
from bench.tokens.cache import FOLDER
from bench.tokens.real import evidence, runs
from bench.tokens.real.checkouts import TOOL_PACKAGES, Checkout
from bench.tokens.real.libraries import LIBRARIES, pins
from bench.tokens.real.mutants import Mutant
from bench.tokens.real.results import Entry, Other
from bench.tokens.real.runs import Runs
from pytest_mcp import __version__

TEXTS = FOLDER / "texts"


@dataclass(frozen=True)
class Kept:
    """What the other tools print for a mutant. It does not change when our answers do."""

    mutant: Mutant
    pins: dict[str, str]
    runs: Runs


@dataclass(frozen=True)
class Heard:
    mutant: Mutant
    answer: Any
    runs: Runs


_SHAPE = TypeAdapter(Kept)


def hear(mutant: Mutant, *, reuse: bool) -> Heard:
    print(f"{mutant.name}: {mutant.edit.after.strip()}", file=sys.stderr, flush=True)
    checkout = Checkout(LIBRARIES[mutant.library])
    checkout.prepare()
    with checkout.changed([mutant]):
        answer = ask(checkout)
        kept = recall(mutant) if reuse else None
        return Heard(mutant, answer, kept or keep(mutant, runs.run_all(checkout)))


def ask(checkout: Checkout, **arguments: Any) -> Any:
    question = answers.call("execute_tests", path=checkout.library.tests, **arguments)
    return answers.ask(question, checkout.python, checkout.project)


def recall(mutant: Mutant) -> Runs | None:
    file = TEXTS / f"{mutant.name}.json"
    if not file.exists():
        return None
    kept = _SHAPE.validate_json(file.read_bytes())
    return kept.runs if (kept.mutant, kept.pins) == (mutant, used_pins(mutant)) else None


def keep(mutant: Mutant, heard: Runs) -> Runs:
    TEXTS.mkdir(parents=True, exist_ok=True)
    (TEXTS / f"{mutant.name}.json").write_bytes(_SHAPE.dump_json(Kept(mutant, used_pins(mutant), heard), indent=2))
    return heard


def used_pins(mutant: Mutant) -> dict[str, str]:
    """The versions that decide what the other tools print."""
    return {name: pins()[name] for name in ("pytest", *LIBRARIES[mutant.library].needs, *TOOL_PACKAGES)}


def measured(heard: Sequence[Heard]) -> dict[str, Entry]:
    texts = [text for each in heard for text in (answers.compact(each.answer), *each.runs.printed.values())]
    counts = iter(tokenizer.count(texts))
    return {each.mutant.name: entry(each, [next(counts) for _ in (0, *each.runs.printed)]) for each in heard}


def entry(heard: Heard, counts: list[int]) -> Entry:
    answer, printed, short = heard.answer, heard.runs.printed, heard.runs.short
    told = evidence.examples(answer)
    ours, *others = counts
    return Entry(
        date=datetime.now(UTC).date().isoformat(),
        versions=f"pytest-mcp {__version__}",
        library=heard.mutant.library,
        failing=len(short),
        tokens=ours,
        groups=evidence.causes(answer),
        examples=len(told),
        cuts=evidence.cuts(answer),
        evidence=evidence.whole_lines(short, evidence.error_lines, told),
        differing=evidence.kept_parts(heard.runs.full, told),
        shows_fault=evidence.first_shows(answer, heard.mutant.file, heard.runs.full),
        others={
            way: Other(count, evidence.whole_lines(short, evidence.error_lines, told, printed[way]))
            for way, count in zip(printed, others, strict=True)
        },
        complaints=tuple(complaints(heard)),
    )


def complaints(heard: Heard) -> list[str]:
    verdict, summary = heard.answer["verdict"], heard.answer["summary"]
    told, failing = summary["failed"] + summary["errors"], len(heard.runs.short)
    return [
        *([] if verdict in ("failed", "incomplete") else [f"the verdict is {verdict}"]),
        *([] if told >= failing else [f"{told} failures are counted, not {failing}"]),
    ]
