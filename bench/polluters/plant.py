"""A test that leaks, and a random place for it in a test file.

Pure: the source of a test file and a leak in, the source with one more test out. Which leaks a library offers and
which of its tests they break is decided in `suites` and `measure`.
"""

import ast
from dataclasses import dataclass
from random import Random
from textwrap import indent
from typing import Literal

PLANTED = "test_planted_leak"
Kind = Literal["attribute", "global", "environment", "process"]


@dataclass(frozen=True)
class Leak:
    """`target` names what is left changed; `body` are the statements that do it."""

    kind: Kind
    target: str
    body: str


def variables(**values: str) -> Leak:
    """Environment variables stay set."""
    body = f"import os, time\nos.environ.update({values!r})\ntime.tzset()"
    return Leak("environment", ", ".join(values), body)


ENVIRONMENT = [
    variables(TZ="Asia/Kathmandu", LANGUAGE="de", LC_ALL="de_DE.UTF-8"),
    variables(HOME="/nowhere", TMPDIR="/nowhere"),
    # Every Python that a test starts fails.
    variables(PYTHONHOME="/nowhere"),
]
# Other state of the process that any library may depend on.
PROCESS = [
    Leak("process", "working directory", "import os, tempfile\nos.chdir(tempfile.mkdtemp())"),
    Leak("process", "decimal context", "import decimal\ndecimal.getcontext().prec = 2"),
    Leak("process", "logging", "import logging\nlogging.disable(logging.CRITICAL)"),
]


def attribute(module: str, owner: str, name: str) -> Leak:
    """A function of a module, or a method, is replaced by one that does nothing."""
    found = "".join(f"owner = getattr(owner, {part!r})\n" for part in owner.split(".") if part)
    body = f"import importlib\nowner = importlib.import_module({module!r})\n{found}"
    return Leak(
        "attribute", ".".join(filter(None, (module, owner, name))), f"{body}owner.{name} = lambda *_, **__: None"
    )


def container(module: str, name: str) -> Leak:
    """A list, a dict or a set of a module loses what it has."""
    body = f"import importlib\nimportlib.import_module({module!r}).{name}.clear()"
    return Leak("global", f"{module}.{name}", body)


def places(source: str) -> list[int]:
    """Indexes of lines in front of which a function can stand: functions and classes of the module, and its end."""
    lines = source.splitlines()
    found = [
        min([statement.lineno, *(each.lineno for each in statement.decorator_list)]) - 1
        for statement in ast.parse(source).body
        if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
    ]
    return [*found, len(lines)]


def planted(source: str, leak: Leak, chance: Random) -> str:
    lines = source.splitlines()
    place = chance.choice(places(source))
    test = f"def {PLANTED}():\n{indent(leak.body, '    ')}\n"
    return "\n".join([*lines[:place], "", test, "", *lines[place:], ""])
