"""The scan of one file, with Python's own parser as the oracle: it never finds less."""

import ast
import sysconfig
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import pytest_mcp
from pytest_mcp.changed.mentions import Mentions, Names, Scanner

NAMES = Names(
    folders=frozenset({"shop", "tax", "tests"}),
    packages=frozenset({"shop.tax"}),
    tops=frozenset({"shop", "tests"}),
    modules=frozenset({"shop", "prices"}),
)


def scanned(source: str | bytes) -> Mentions:
    return Scanner(NAMES).scan(source if isinstance(source, bytes) else source.encode(), "shop/__init__.py")


def imported(source: str | bytes) -> Iterator[str]:
    """By Python's parser. A star stands for the package itself."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            origin = "." * node.level + (node.module or "")
            prefix = origin if origin.endswith(".") else f"{origin}."
            yield from (origin if alias.name == "*" else prefix + alias.name for alias in node.names)


IDENTIFIERS = st.sampled_from(["a", "fromage", "important", "_x1", "shop", "asset", "größe", "ﬁle", "x" * 90])
GAPS = st.sampled_from([" ", "  ", "\t", " \\\n", "\\\n  ", " \f"])
# Nothing is written here where Python allows it.
LOOSE_GAPS = st.one_of(st.just(""), GAPS)
COMMENTS = st.sampled_from(["# import (", "# from a \\", "# :) import b", "#", "# (a, b)", "# from x import (y,"])


@st.composite
def dotted(draw: st.DrawFn) -> str:
    parts = draw(st.lists(IDENTIFIERS, min_size=1, max_size=3))
    return f"{draw(LOOSE_GAPS)}.{draw(LOOSE_GAPS)}".join(parts)


@st.composite
def aliased(draw: st.DrawFn, name: str) -> str:
    return f"{name}{draw(GAPS)}as{draw(GAPS)}{draw(IDENTIFIERS)}" if draw(st.booleans()) else name


@st.composite
def plain_imports(draw: st.DrawFn) -> str:
    names = [draw(aliased(draw(dotted()))) for _ in range(draw(st.integers(1, 3)))]
    return f"import{draw(GAPS)}" + f"{draw(LOOSE_GAPS)},{draw(LOOSE_GAPS)}".join(names)


@st.composite
def listed(draw: st.DrawFn) -> str:
    names = [draw(aliased(draw(IDENTIFIERS))) for _ in range(draw(st.integers(1, 4)))]
    if draw(st.booleans()):
        return f"{draw(GAPS)}" + f"{draw(LOOSE_GAPS)},{draw(LOOSE_GAPS)}".join(names)
    between = st.one_of(st.just(" "), st.just("\n"), COMMENTS.map(lambda comment: f" {comment}\n"))
    return (
        f"{draw(LOOSE_GAPS)}({draw(between)}"
        + "".join(f"{name}{draw(between)},{draw(between)}" for name in names)
        + ")"
    )


@st.composite
def from_imports(draw: st.DrawFn) -> str:
    dots = draw(st.sampled_from(["", "", ".", "..", ". ."]))
    module = draw(dotted()) if not dots or draw(st.booleans()) else ""
    origin = f"{draw(LOOSE_GAPS if dots else GAPS)}{dots}{module}{draw(GAPS if module else LOOSE_GAPS)}"
    return f"from{origin}import{draw(listed())}"


NOISE = st.sampled_from(
    [
        *('x = "import ("', "x = 'from a import (b,'", '"""\nfrom here \\\nimport\n"""', "x = 1  # import (", "pass"),
        *("# from a \\", "# import a, \\", "# from a import (", 'x = "a" \\\n  "import b"', "x = [\n  # import c\n]"),
        *("raise ValueError from None", "def f(): yield from x", "fromage = important = 1", "x = f'{1} import'"),
    ]
)


@st.composite
def sources(draw: st.DrawFn) -> str:
    lines = []
    for _ in range(draw(st.integers(1, 6))):
        statement = draw(st.one_of(plain_imports(), from_imports(), NOISE))
        before = draw(st.sampled_from(["", "", "pass; ", "if 1: ", "if 1:\n    ", "def f():\n\t", "try: "]))
        after = {"try: ": "\nfinally: pass"}.get(before, "")
        lines.append(before + statement + draw(st.sampled_from(["", "; pass", "  # import z"])) + after)
    return "\n".join(lines) + "\n"


def is_python(source: str) -> bool:
    try:
        ast.parse(source)
    except (SyntaxError, ValueError):
        return False
    return True


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@given(source=sources().filter(is_python))
@example(source="from a import (b,  # :)\n  c)\n")
@example(source="# from a \\\nimport b\n")
@example(source="# from a \\\nfrom b import c\n")
@example(source="# from a \\\nfrom b \\\n  import c\n")
@example(source="# import a, (\nimport b\n")
@example(source="import a . b . c as d, e\n")
@example(source="from.import x\nfrom . . import(y)\nfrom .a import*\n")
@example(source="from a.fromage import b\n")
@example(source="from ﬁle import größe\n")
@example(source="x = 'import ('; import b\n")
@example(source="from a \\\n  import b\n")
@example(source="import a\x0c.b\n")
def test_every_import_that_python_finds_is_found_whatever_the_line_ends(end: str, source: str) -> None:
    assert set(imported(source)) <= scanned(source.replace("\n", end)).imports


LIBRARY = sorted(Path(sysconfig.get_paths()["stdlib"]).glob("*/*.py"))[::90]
OURS = sorted(Path(pytest_mcp.__file__).parent.rglob("*.py"))[::3]


def test_every_import_of_real_files_is_found() -> None:
    for path in [*LIBRARY, *OURS]:
        content = path.read_bytes()
        try:
            expected = set(imported(content))
        except (SyntaxError, ValueError):
            continue  # the library has files that are wrong on purpose
        found = scanned(content)

        assert expected <= found.imports or found.untold, path


@pytest.mark.parametrize(
    ("source", "names"),
    [
        ("patch('shop.tax.RATE')", {"shop.tax.RATE"}),
        ('"python -m shop.tax --all"', {"shop.tax"}),
        ("import shop\nshop.tax.rates.VALUE", {"shop.tax.rates.VALUE"}),
        ("from shop import tax\ntax.rates.VALUE", {"tax.rates.VALUE"}),
        ("entry = 'shop.tax:main'", {"shop.tax"}),
        ("workshop.x", set()),
    ],
)
def test_dotted_names_that_begin_with_a_folder_are_found(source: str, names: set[str]) -> None:
    assert names <= scanned(source).dotted


@pytest.mark.parametrize("source", ["pytest_plugins = ['prices']", '"prices:app"', "import_module('prices')"])
def test_modules_in_quotes_are_found(source: str) -> None:
    assert scanned(source).quoted == {"prices"}


@pytest.mark.parametrize(
    "source",
    [
        *("import_module(name)", "import_module(f'shop.{name}')", "import_module('.tax', 'shop')"),
        *("import_module('shop.' + name)", "list(map(import_module, names))", "loader = __import__"),
        "from importlib import import_module as load\nload(name)",
        *("import pkgutil\npkgutil.walk_packages(path)", "import runpy\nrunpy.run_path(path)", "import mypy.api"),
        *("from importlib.metadata import entry_points", "from importlib.util import spec_from_file_location"),
        "for path in folder.iterdir():\n    subprocess.run([path])",
        "for name in os.listdir('.'):\n    exec(open(name).read())",
        *("folder.glob('*.py')", "Path('tests').rglob('*')", "shutil.copytree(Path(__file__).parent, tmp_path)"),
        *("path = folder / f'{name}.py'", "path = name + '.py'", "INSTALLED_APPS = ['shop']"),
        "import unittest\nunittest.defaultTestLoader.discover('.')",
        *("import a" + ", a" * 400, "# coding: utf-16\n", "import a".encode("utf-16"), b"import a\0"),
    ],
)
def test_imports_that_cannot_be_told_are_said_so(source: str | bytes) -> None:
    assert scanned(source).untold is not None


@pytest.mark.parametrize(
    "source",
    [
        *("from importlib import import_module\nimport_module('shop.tax')", "__import__('shop')", "globals()['x']"),
        *("from importlib import resources", "list(tmp_path.iterdir())", "# coding: latin-1\n"),
        *("# -*- coding: utf-8 -*-\n", "import a" + ", a" * 100, "from a import (\n" + "a,\n" * 1000 + ")"),
    ],
)
def test_what_names_its_modules_is_not_said_to_import_anything(source: str) -> None:
    assert scanned(source).untold is None


@pytest.mark.parametrize(
    ("source", "trait"),
    [
        *(("def __getattr__(name): ...", "lazy"), ("pytest_plugins = 'shop.plugin'", "plugin")),
        *(("import subprocess", "starts"), ("os.execv(a, b)", "starts"), ("def test_it(pytester): ...", "starts")),
        *(("await anyio.run_process(command)", "starts"), ("def test_it(worker_processes): ...", "starts")),
        *(("sys.path.insert(0, 'src')", "paths"), ("from sys import path", "paths")),
        *(("monkeypatch.syspath_prepend('src')", "paths"), ("__path__ = extend_path(__path__, __name__)", "paths")),
    ],
)
def test_traits_are_seen(source: str, trait: str) -> None:
    assert getattr(scanned(source), trait)
    assert not getattr(scanned("import os\n"), trait)


def test_a_word_that_only_begins_like_process_starts_none() -> None:
    words = ("def test_decorated_processors(): ...", "form.post_process()", "_processing", "def test_process(): ...")

    assert not any(scanned(source).starts for source in words)


@pytest.mark.parametrize(
    ("path", "hook", "is_plugin"),
    [
        ("conftest.py", "pytest_configure", True),
        ("conftest.py", "pytest_runtest_setup", False),
        ("shop/conftest.py", "pytest_collection_modifyitems", True),
        ("shop/conftest.py", "pytest_generate_tests", False),
        ("test_it.py", "pytest_configure", False),
    ],
)
def test_only_hooks_for_the_session_in_a_conftest_make_a_plugin(path: str, hook: str, *, is_plugin: bool) -> None:
    """pytest calls the other hooks of a conftest only for tests below it."""
    assert Scanner(NAMES).scan(f"def {hook}(): ...".encode(), path).plugin == is_plugin


def test_aliases_and_stars_stand_for_whole_packages() -> None:
    found = scanned("import shop.tax as t, os\nfrom . import rates as r\nfrom ..a import *\n")

    assert found.whole == {"shop.tax", ".rates", "..a"}
    assert scanned("from shop.tax import rates\nimport shop.tax.rates\n").whole == set()
    assert scanned("SPIDERS = ['shop.tax']\n").whole == {"shop.tax"}
