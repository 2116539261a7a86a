"""`python -m bench.tokens --real`: measure the real bugs, all or some, and keep what was measured."""

import argparse
import json
from collections.abc import Sequence
from pathlib import Path

from bench.tokens import tokenizer
from bench.tokens.real import measure, mutants, pairs, report, results, search
from bench.tokens.real.checkouts import prepare_tools
from bench.tokens.real.libraries import LIBRARIES
from bench.tokens.real.measure import Heard
from bench.tokens.real.mutants import Mutant
from bench.tokens.real.results import Entry, Pair, Results
from scripts.npm import prepare


def add_options(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("real bugs")
    group.add_argument("--real", action="store_true", help="only the real bugs, no row")
    group.add_argument(
        "--library", action="append", choices=LIBRARIES, metavar="NAME", help=f"only this; of {', '.join(LIBRARIES)}"
    )
    group.add_argument("--tuned", action="store_true", help="without the holdout")
    group.add_argument("--reuse", action="store_true", help="ask only our server; keep the other tools' texts")
    group.add_argument("--no-pairs", action="store_true", help="without the pairs of bugs")
    group.add_argument("--dump", type=Path, metavar="DIR", help="write every answer and every text into this folder")
    group.add_argument("--search", action="store_true", help="find the bugs anew first: most of an hour")


def run(options: argparse.Namespace) -> bool:
    """Whether every answer was right."""
    prepare([tokenizer.INSTALLED.name])
    prepare_tools()
    names = chosen(options)
    if options.search:
        find(names)
    bugs = [mutant for mutant in mutants.load() if mutant.library in names]
    heard = [measure.hear(mutant, reuse=options.reuse) for mutant in bugs]
    if options.dump:
        for each in heard:
            dump(each, options.dump)
    new = measure.measured(heard)
    keep(new, {})
    if not options.no_pairs:
        keep({}, mixed(bugs))
    return not any(entry.complaints for entry in new.values())


def chosen(options: argparse.Namespace) -> list[str]:
    wanted = options.library or LIBRARIES
    return [name for name in wanted if not (options.tuned and LIBRARIES[name].holdout)]


def find(names: Sequence[str]) -> None:
    """Each library is kept as soon as it is searched."""
    for name in names:
        others = [mutant for mutant in mutants.load() if mutant.library != name]
        mutants.save(sorted([*others, *search.found(LIBRARIES[name])]))


def mixed(bugs: Sequence[Mutant]) -> dict[str, Pair]:
    return {f"{one.name} + {two.name}": pairs.mixed(one, two) for one, two in pairs.pairs(bugs)}


def keep(new: dict[str, Entry], new_pairs: dict[str, Pair]) -> None:
    """What is known no more is forgotten."""
    known = {mutant.name for mutant in mutants.load()}
    before = results.load()
    entries = {name: entry for name, entry in (before.mutants | new).items() if name in known}
    both = {name: pair for name, pair in (before.pairs | new_pairs).items() if set(name.split(" + ")) <= known}
    results.save(Results(entries, both))


def dump(heard: Heard, folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    edit = heard.mutant.edit
    bug = f"{heard.mutant.file}:{edit.line}\n- {edit.before.strip()}\n+ {edit.after.strip()}\n"
    texts = {
        "bug.txt": bug,
        "ours.json": json.dumps(heard.answer, ensure_ascii=False, indent=2) + "\n",
        **{f"{way.replace(' ', '')}.txt": text for way, text in heard.runs.printed.items()},
        "pytest-vv.txt": "\n".join(f"==== {name}\n{text}" for name, text in heard.runs.full.items()),
    }
    for name, text in texts.items():
        (folder / f"{heard.mutant.name}.{name}").write_text(text, encoding="utf-8", errors="backslashreplace")


def document() -> str:
    return report.document(results.load(), mutants.load())
