"""The scan of one file."""

import pytest

from pytest_mcp.changed.mentions import Mentions, Names, Scanner

NAMES = Names(
    folders=frozenset({"shop", "tax", "tests"}),
    packages=frozenset({"shop.tax"}),
    tops=frozenset({"shop", "tests"}),
    modules=frozenset({"shop", "prices"}),
)


def scanned(source: str | bytes) -> Mentions:
    return Scanner(NAMES).scan(source if isinstance(source, bytes) else source.encode(), "shop/__init__.py")


@pytest.mark.parametrize(
    ("source", "names"),
    [
        ("import a . b . c as d, e", {"a.b.c", "e"}),
        ("from.import x\nfrom . . import(y)\nfrom .a import*", {".x", "..y", ".a"}),
        ("x = 'import ('; from a \\\n  import (b,  # :)\n  c)", {"a.b", "a.c"}),
        ("from ﬁle import größe", {"file.größe"}),
        ("try:\n  import a\nexcept E: import b\nelse: import c\nfinally: import d", {"a", "b", "c", "d"}),
        ("match x:\n  case 1:\n    with y: import a\nasync def f():\n  import b", {"a", "b"}),
        ("if 1: pass\nelif 2: import a\nelse:\n  class C:\n    for x in y: import b", {"a", "b"}),
    ],
)
def test_import_statements_are_found_wherever_they_stand(source: str, names: set[str]) -> None:
    assert names <= scanned(source).imports


def test_statements_of_one_line_in_strings_are_found_too() -> None:
    """Examples in docstrings are tests, and code in strings may be executed."""
    examples = ">>> from prices import total as t, tax\n>>> from . import rates\n>>> from shop.tax import *\n"

    imports = scanned(f'"""\n{examples}"""\nexec("import low, high as h")\n').imports

    assert imports == {"prices.total", "prices.tax", ".rates", "shop.tax", "low", "high"}


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
        *("print 1", "x = " + "(" * 500 + ")" * 500, "import a".encode("utf-16"), b"import a\0"),
    ],
)
def test_imports_that_cannot_be_told_are_said_so(source: str | bytes) -> None:
    assert scanned(source).untold is not None


@pytest.mark.parametrize(
    "source",
    [
        *("from importlib import import_module\nimport_module('shop.tax')", "__import__('shop')", "globals()['x']"),
        *("from importlib import resources", "list(tmp_path.iterdir())", "# coding: latin-1\n"),
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
