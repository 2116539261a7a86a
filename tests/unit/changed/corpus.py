"""Small projects in which modules are reached in all the ways that Python and pytest know.

Every module that can be broken has the line `VALUE = 1`; every test fails if a VALUE that it uses is another one.
`spared` says which files a change of a module must not select, so that selecting everything is no answer.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

MODULE = "VALUE = 1\n"


@dataclass(frozen=True)
class Project:
    files: Mapping[str, str | bytes]
    spared: Mapping[str, str] = field(default_factory=dict)

    @property
    def modules(self) -> list[str]:
        """What is broken, one after the other."""
        return [name for name, content in self.files.items() if b"VALUE = 1" in _encoded(content)]


def _encoded(content: str | bytes) -> bytes:
    return content.encode() if isinstance(content, str) else content


def checks(*lines: str, value: str = "VALUE") -> str:
    """A test module with these lines, whose test uses a value."""
    return "\n".join([*lines, f"def test_value(): assert {value} == 1", ""])


PLAIN = checks("def f(): pass", value="1")

PROJECTS = {
    "flat": Project(
        {
            "one.py": MODULE,
            "two.py": "from one import VALUE as ONE\nVALUE = 1\n",
            "test_one.py": checks("from one import VALUE"),
            "test_two.py": checks("import two", value="two.ONE * two.VALUE"),
            "test_none.py": PLAIN,
        },
        {"two.py": "test_one.py", "one.py": "test_none.py"},
    ),
    "src layout with relative imports": Project(
        {
            "src/shop/__init__.py": "",
            "src/shop/prices.py": MODULE,
            "src/shop/tax/__init__.py": "from . import rates\nfrom .rates import VALUE as RATE\n",
            "src/shop/tax/rates.py": "from ..prices import VALUE as PRICE\nVALUE = 1\n",
            "src/shop/other.py": MODULE,
            "conftest.py": "import sys\nsys.path.insert(0, 'src')\n",
            "tests/test_prices.py": checks("from shop import prices", value="prices.VALUE"),
            "tests/test_tax.py": checks("import shop.tax", value="shop.tax.RATE * shop.tax.rates.PRICE"),
            "tests/test_other.py": checks("import shop.other as o", value="o.VALUE"),
        },
        {"src/shop/other.py": "tests/test_tax.py", "src/shop/tax/rates.py": "tests/test_prices.py"},
    ),
    "a package that loads its modules on demand": Project(
        {
            "lazy/__init__.py": """
                import importlib
                def __getattr__(name):
                    if name in ("first", "second"):
                        return importlib.import_module(f".{name}", __name__)
                    raise AttributeError(name)
                """,
            "lazy/first.py": MODULE,
            "lazy/second.py": MODULE,
            "plain.py": MODULE,
            "test_first.py": checks("import lazy", value="lazy.first.VALUE"),
            "test_second.py": checks("from lazy import second", value="second.VALUE"),
            "test_plain.py": checks("import plain", value="plain.VALUE"),
        },
    ),
    "a package that computes what it exports": Project(
        {
            "whole/__init__.py": """
                import sys
                def __getattr__(name):
                    __import__("whole." + name)
                    return sys.modules["whole." + name].VALUE
                """,
            "whole/a.py": MODULE,
            "test_a.py": checks("import whole", value="whole.a"),
            "test_none.py": PLAIN,
        },
        {"whole/a.py": "test_none.py"},
    ),
    "a namespace package": Project(
        {
            "libs/left/space/a.py": MODULE,
            "libs/right/space/b.py": MODULE,
            "conftest.py": "import sys\nsys.path[:0] = ['libs/left', 'libs/right']\n",
            "test_a.py": checks("import space.a", value="space.a.VALUE"),
            "test_b.py": checks("from space import b", value="b.VALUE"),
            "test_both.py": checks("import space.a, space.b", value="space.a.VALUE * space.b.VALUE"),
        },
        {"libs/left/space/a.py": "test_b.py"},
    ),
    "imports in functions and strings": Project(
        {
            "app/__init__.py": "",
            "app/late.py": MODULE,
            "app/named.py": MODULE,
            "app/patched.py": "def get(): return VALUE\nVALUE = 1\n",
            "app/typed.py": MODULE,
            "app/literal.py": MODULE,
            "app/skipped.py": MODULE,
            "test_late.py": "def test_it():\n    from app.late import VALUE\n    assert VALUE == 1\n",
            "test_named.py": "import sys\ndef test_it():\n    __import__('app.named'); assert "
            "sys.modules['app.named'].VALUE == 1\n",
            "test_literal.py": "from importlib import import_module\ndef test_it(): "
            "assert import_module('app.literal').VALUE == 1\n",
            "test_patched.py": """
                from unittest.mock import patch
                def test_it():
                    with patch("app.patched.VALUE", 1) as value: assert value == 1
                """,
            "test_typed.py": "if True:\n  try: from app.typed import (  # it's :)\n    VALUE,\n  )\n"
            "  except ValueError: pass\ndef test_it(): assert VALUE == 1\n",
            "test_skipped.py": "import pytest\ndef test_it(): assert pytest.importorskip('app.skipped').VALUE == 1\n",
            "test_none.py": PLAIN,
        },
        {"app/late.py": "test_named.py", "app/patched.py": "test_none.py", "app/literal.py": "test_late.py"},
    ),
    "fixtures and plugins": Project(
        {
            "data.py": MODULE,
            "plug.py": "import pytest\nVALUE = 1\n@pytest.fixture\ndef plugged(): return VALUE\n",
            "conftest.py": "pytest_plugins = ['plug']\n",
            "unit/conftest.py": "import pytest, data\n@pytest.fixture\ndef fixed(): return data.VALUE\n",
            "unit/test_fixed.py": "def test_it(fixed): assert fixed == 1\n",
            "unit/deep/test_deep.py": "def test_it(fixed): assert fixed == 1\n",
            "other/test_plugged.py": "def test_it(plugged): assert plugged == 1\n",
            "other/test_none.py": PLAIN,
        },
        {"data.py": "other/test_none.py"},
    ),
    "a conftest with hooks, and settings that name a plugin": Project(
        {
            "pytest.ini": "[pytest]\naddopts = -p extra.plugin\n",
            "extra/__init__.py": "",
            "extra/plugin.py": "from extra.value import VALUE as V\nVALUE = 1\n"
            "def pytest_runtest_setup(item): assert V * VALUE == 1\n",
            "extra/value.py": MODULE,
            "low/marks.py": MODULE,
            "low/conftest.py": "import marks\ndef pytest_collection_modifyitems(items):\n"
            "    for item in items: item.number = marks.VALUE\n",
            "low/test_low.py": PLAIN,
            "test_number.py": "def test_it(request): assert getattr(request.node, 'number', 1) == 1\n",
        },
    ),
    "modules that are run, not imported": Project(
        {
            "tool/__init__.py": "",
            "tool/__main__.py": "from tool.work import VALUE\nprint(VALUE)\n",
            "tool/work.py": MODULE,
            "scripts/run-me.py": "VALUE = 1\nprint(VALUE)\n",
            "examples/shown.py": "VALUE = 1\nassert VALUE == 1\n",
            "test_main.py": "import subprocess, sys\ndef test_it(): "
            "assert subprocess.check_output([sys.executable, '-m', 'tool']) == b'1\\n'\n",
            "test_script.py": "import runpy\ndef test_it(): assert runpy.run_path('scripts/run-me.py')['VALUE'] == 1\n",
            "test_examples.py": "import pathlib\ndef test_it():\n"
            "    for path in pathlib.Path('examples').iterdir():\n"
            "        if path.suffix == '.py': exec(path.read_text())\n",
            "test_none.py": PLAIN,
        },
        {"tool/work.py": "test_none.py"},
    ),
    "circular imports": Project(
        {
            "ring/__init__.py": "",
            "ring/a.py": "VALUE = 1\nimport ring.b\n",
            "ring/b.py": "import ring.c\nVALUE = 1\n",
            "ring/c.py": "import ring.a\nVALUE = 1\n",
            "test_ring.py": checks("import ring.a", value="ring.a.VALUE * ring.b.VALUE * ring.c.VALUE"),
            "test_none.py": PLAIN,
        },
        {"ring/b.py": "test_none.py"},
    ),
    "names that are reached through a package": Project(
        {
            "box/__init__.py": "",
            "box/lid.py": MODULE,
            "box/side.py": MODULE,
            "box/deep/__init__.py": "from .end import *\n",
            "box/deep/end.py": MODULE,
            "test_first.py": checks("import box.lid", value="box.lid.VALUE"),
            "test_second.py": checks("import box", value="box.lid.VALUE"),
            "test_third.py": checks("import box as b", value="b.lid.VALUE"),
            "test_star.py": checks("from box.deep import *"),
            "test_side.py": checks("from box import side", value="side.VALUE"),
        },
        {"box/deep/end.py": "test_side.py", "box/side.py": "test_star.py"},
    ),
    "tests in packages, with helpers beside them": Project(
        {
            "tests/__init__.py": MODULE,
            "tests/helpers.py": MODULE,
            "tests/unit/__init__.py": "",
            "tests/unit/test_up.py": checks("from ..helpers import VALUE"),
            "tests/unit/test_up_two.py": checks("from .. import VALUE"),
            "tests/unit/test_named.py": checks("from tests import helpers", value="helpers.VALUE"),
            "loose/aid.py": MODULE,
            "loose/test_aid.py": checks("import aid", value="aid.VALUE"),
            "loose/test_none.py": PLAIN,
        },
        {"tests/helpers.py": "loose/test_aid.py", "loose/aid.py": "loose/test_none.py"},
    ),
    "files of other encodings": Project(
        {
            "old.py": "# -*- coding: latin-1 -*-\nNAME = 'é'\nVALUE = 1\n".encode("latin-1"),
            "größe.py": MODULE,
            "test_old.py": "# coding: latin-1\n'é'\nfrom old import VALUE\ndef test_it(): assert VALUE == 1\n".encode(
                "latin-1"
            ),
            "test_size.py": checks("import größe", value="größe.VALUE"),
            "test_none.py": PLAIN,
        },
        {"old.py": "test_none.py", "größe.py": "test_none.py"},
    ),
    "spellings": Project(
        {
            "odd/__init__.py": "",
            "odd/a.py": MODULE,
            "odd/b.py": MODULE,
            "odd/c.py": MODULE,
            "odd/d.py": MODULE,
            "odd/e.py": MODULE,
            "test_a.py": checks("from odd . \\\n a \\\n  import VALUE"),
            "test_b.py": checks("import os; from odd.b import(VALUE)"),
            "test_c.py": checks("# from odd.a \\", "import odd . c as d, sys", value="d.VALUE"),
            "test_d.py": checks("if 1: from\todd\timport\td", value="d.VALUE"),
            "test_e.py": checks("from odd import (", "    # (a, b)", "    e as", "    # so", "  f,)", value="f.VALUE"),
        },
        {"odd/a.py": "test_e.py", "odd/e.py": "test_b.py"},
    ),
}
