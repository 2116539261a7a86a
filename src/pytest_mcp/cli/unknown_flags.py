"""What is said of a flag that no command takes: what to type instead, if that is known. Standard library only.

In come the flag as it was typed and the flags of the command; out comes an addition to the error, or nothing.
"""

from collections.abc import Iterable, Mapping
from difflib import get_close_matches

# Flags that are less alike than this have nothing to do with each other: --ignore and --no-spare.
NEAR = 0.8

_IN_ADDOPTS = "set it in addopts of the project's pytest settings"
_IN_SETTINGS = "pytest reads the project's own settings file; change it there"
_NO_DEBUGGER = "tests cannot read input here, so there is no debugger; use `python -m pytest` for that"

# pytest's flags that `run` does not take.
_INSTEAD: Mapping[tuple[str, ...], str] = {
    ("--co", "--collect-only"): "`pytest-mcp discover` lists the tests",
    ("--ignore", "--ignore-glob"): f"name the paths that are to run, or {_IN_ADDOPTS}",
    ("--deselect",): f"leave tests out with -k 'not NAME', or {_IN_ADDOPTS}",
    ("--pdb", "--pdbcls", "--trace"): _NO_DEBUGGER,
    ("-W", "--pythonwarnings"): "set filterwarnings in the project's pytest settings",
    ("-o", "--override-ini", "-c", "--config-file"): _IN_SETTINGS,
    ("-r",): "-v lists every test with its outcome",
    ("--sw", "--stepwise", "--sw-skip", "--stepwise-skip"): "use -x, and then -x --lf",
    ("--nf", "--new-first"): "use --changed for the tests that changes can reach",
    ("--rootdir",): "use --root",
    ("--exitfirst",): "use -x",
    ("--full-trace",): "use --tb=long",
    ("--capture",): "only -s is taken",
    ("--cov",): "did you mean --coverage?",
    ("--fixtures", "--funcargs", "--setup-plan"): "use `python -m pytest` for that",
    (
        *("--basetemp", "--cache-clear", "--confcutdir", "--doctest-modules", "--import-mode", "--log-cli-level"),
        *("--log-file", "--noconftest", "--pyargs", "--runxfail", "--setup-show", "--strict"),
        *("--strict-config", "--strict-markers", "--randomly-seed"),
    ): _IN_ADDOPTS,
}


def advice(word: str, known: Iterable[str], *, like_pytest: bool) -> str:
    """`like_pytest` is whether people type pytest's flags for this command."""
    flag = word.partition("=")[0] if word.startswith("--") else word[:2]
    if like_pytest and (found := _instead(flag)):
        return f"; {found}"
    flags = [each for each in known if each.startswith("--")] if flag.startswith("--") else []
    near = get_close_matches(flag, flags, n=1, cutoff=NEAR)
    return f"; did you mean {near[0]}?" if near else ""


def _instead(flag: str) -> str | None:
    return next((sentence for flags, sentence in _INSTEAD.items() if flag in flags), None)
