"""`python -m tests.external.programs [NAME ...]`: run them, keep what was seen, and update docs/clients.md."""

import argparse
import sys
from collections.abc import Sequence
from dataclasses import replace

from scripts import generate_tables
from scripts.npm import NotFetched, prepare
from tests.external.programs import records
from tests.external.programs.programs import PROGRAMS
from tests.external.programs.records import Entries, Entry
from tests.external.programs.survey import surveyed, waited


def main(given: Sequence[str] | None = None) -> int:
    options = parsed(given)
    entries = records.load()
    try:
        if options.patience:
            entries |= with_waits(entries, options.names or list(PROGRAMS), options.patience)
        else:
            for name in options.names or PROGRAMS:
                entries[name] = with_answers(entries.get(name), name)
    except NotFetched as error:
        sys.stderr.write(f"{error}\n")
        return 1
    records.save(entries)
    return generate_tables.main([])


def with_answers(before: Entry | None, name: str) -> Entry:
    sys.stdout.write(f"{PROGRAMS[name].title} {PROGRAMS[name].version}\n")
    sys.stdout.flush()
    prepare([name])
    entry = surveyed(PROGRAMS[name])
    return entry if before is None else replace(entry, silent=before.silent, talking=before.talking)


def with_waits(entries: Entries, names: Sequence[str], seconds: int) -> Entries:
    """Of programs that have an entry already."""
    waits = waited([PROGRAMS[name] for name in names], seconds)
    return {
        name: replace(entries[name], silent=silent, talking=talking)
        for name, (silent, talking) in zip(names, waits, strict=True)
    }


def parsed(given: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m tests.external.programs", description="What programs show a model."
    )
    parser.add_argument("names", nargs="*", choices=[[], *PROGRAMS], metavar="NAME", help="only these programs")
    parser.add_argument(
        "--patience", type=int, metavar="SECONDS", help="see how long each waits for an answer, and nothing else"
    )
    return parser.parse_args(given)


if __name__ == "__main__":
    sys.exit(main())
