"""The libraries: where each has its source and its tests, and what its suite imports.

Versions are in constraints.txt. Chosen for different styles of tests; `holdout` is for nobody to tune on.
"""

import argparse
from dataclasses import dataclass
from pathlib import Path

CONSTRAINTS = Path(__file__).with_name("constraints.txt")


@dataclass(frozen=True)
class Library:
    """`source` is what mutants are made in, `import_root` what goes on the path; both relative to the project."""

    name: str
    style: str
    source: str
    tests: str = "tests"
    needs: tuple[str, ...] = ()
    import_root: str = "."
    holdout: bool = False
    # One of its bugs breaks the import of its tests.
    import_bug: bool = False

    @property
    def version(self) -> str:
        return pins()[self.name]


def pins() -> dict[str, str]:
    lines = CONSTRAINTS.read_text(encoding="utf-8").splitlines()
    return dict(line.split("==") for line in lines if not line.startswith("#"))


LIBRARIES = {
    library.name: library
    for library in (
        Library("boltons", "plain asserts, whole collections compared", "boltons"),
        Library(
            "cachetools",
            "unittest classes, one base class for all caches",
            "src/cachetools",
            import_root="src",
            import_bug=True,
        ),
        Library(
            "marshmallow",
            "fixtures, parametrisation, nested dicts of errors",
            "src/marshmallow",
            needs=("simplejson",),
            import_root="src",
        ),
        Library("sqlparse", "heavy parametrisation, long strings", "sqlparse"),
        Library("tabulate", "large texts compared as a whole", "tabulate", "test", ("wcwidth",)),
        Library("tenacity", "unittest, exception chains, asyncio", "tenacity", needs=("tornado", "typeguard")),
        Library("toolz", "plain asserts in few functions", "toolz", "toolz/tests"),
        Library("voluptuous", "nested exceptions, one large file", "voluptuous", "voluptuous/tests", import_bug=True),
        Library("h11", "plain asserts, deep calls, chains", "h11", "h11/tests", holdout=True, import_bug=True),
        Library("pyjwt", "classes, fixtures, exception chains", "jwt", holdout=True),
        Library("tinydb", "parametrised fixtures", "tinydb", needs=("pyyaml",), holdout=True),
        Library(
            "wtforms",
            "plain asserts, fixtures, strings of HTML",
            "src/wtforms",
            needs=("babel", "email-validator", "markupsafe"),
            import_root="src",
            holdout=True,
        ),
    )
}


def add_to(parser: argparse.ArgumentParser) -> None:
    """The libraries that are named on a command line."""
    known = ", ".join(LIBRARIES)
    parser.add_argument("libraries", nargs="*", type=_known, metavar="LIBRARY", help=f"only these; of {known}")


def _known(name: str) -> str:
    if name not in LIBRARIES:
        raise argparse.ArgumentTypeError(f"no such library: {name}")
    return name
