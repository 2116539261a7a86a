"""What a change reaches by names and by paths, in which order, and when it is everything. No project here is run."""

import os
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from pytest_mcp.changed import project_files, reach, reached_names
from pytest_mcp.changed.working_tree import Changes
from pytest_mcp.cli.setup.clients import CLIENTS
from pytest_mcp.run.run import Reach
from tests.support.projects.project_files import write_files

FILES = {
    "src/shop/__init__.py": "",
    "src/shop/cart.py": "from shop import price\nclass Cart:\n    def total(self): return price.total(1)\n",
    "src/shop/price.py": "VAT = 2\ndef total(net): return net * VAT\ndef unused(): return 0\n",
    "src/shop/data/help.txt": "",
    "tests/test_cart.py": "from shop.cart import Cart\ndef test_it(): assert Cart().total() == 2\n",
    "tests/test_price.py": "from shop.price import total\ndef test_it(): assert total(1) == 2\n",
    "tests/test_other.py": "def test_it(): pass\n",
    "tests/helper.py": "",
    "README.md": "",
}
PRICE = "src/shop/price.py"
OTHER_VAT = FILES[PRICE].replace("VAT = 2", "VAT = 3")
CART, TOTAL, OTHER = "tests/test_cart.py", "tests/test_price.py", "tests/test_other.py"


def reached(root: Path, change: Mapping[str, str | None], outside: tuple[str, ...] = ()) -> Reach:
    """What is reached by writing these files; None deletes one."""
    before = {path: (root / path).read_bytes() if (root / path).is_file() else None for path in change}
    write_files(root, {path: text for path, text in change.items() if text is not None})
    for path in change:
        if change[path] is None:
            (root / path).unlink(missing_ok=True)
    return reach.reach_of(Changes("main", "0" * 40, frozenset(change), frozenset(outside)), before, root)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return write_files(tmp_path / "project", FILES)


def test_the_nearest_tests_come_first_each_with_the_way_to_the_change(project: Path) -> None:
    found = reached(project, {PRICE: OTHER_VAT, OTHER: "def test_it(): assert True\n"})

    assert found.files == (OTHER, TOTAL, CART)
    assert found.unreached == ()
    assert found.ways[TOTAL] == f"{TOTAL} ← total ← VAT"
    assert found.ways[CART] == f"{CART} ← Cart ← Cart.total ← total ← VAT"
    assert (found.since, found.changed, found.reason) == ("main", 2, None)


@pytest.mark.parametrize(
    ("file", "text"),
    [
        (PRICE, "# new\n\n\n" + FILES[PRICE]),
        (PRICE, FILES[PRICE].replace("net * VAT", "(net *\n    VAT)")),
        (PRICE, FILES[PRICE].replace("return 0", "return 1")),
        (PRICE, "import os\n" + FILES[PRICE]),
        (PRICE, FILES[PRICE].replace("def total(net):", "def total(net):\n    'Describes.'\n   ")),
        ("src/shop/unused.py", "import shop.cart\n"),
    ],
)
def test_what_no_test_executes_reaches_none(project: Path, file: str, text: str) -> None:
    found = reached(project, {file: text})

    assert found.reason is None
    assert set(found.unreached) == {CART, TOTAL, OTHER}


def test_nothing_changed_reaches_nothing(project: Path) -> None:
    assert reached(project, {}) == Reach("main", 0)
    assert reached(project, {"src/shop/__pycache__/c.pyc": "", ".pytest_cache/v/cache": ""}) == Reach("main", 0)


BIG = "class Big(Cart): pass\n"
WALK = "class W:\n    def visit_a(self): pass\n    def go(self, n): getattr(self, f'visit_{n}')()\n"
KEPT = "from shop import register\n@register\ndef kept(): return 1\n"
CHANGES: dict[str, tuple[dict[str, str], dict[str, str | None], set[str]]] = {
    "a deleted module": ({}, {PRICE: None}, {CART, TOTAL}),
    "a deleted function": ({}, {PRICE: FILES[PRICE].replace("def total", "def sum_up")}, {CART, TOTAL}),
    "a new conftest with a hook": (
        {},
        {"tests/conftest.py": "def pytest_runtest_setup(): ..."},
        {CART, TOTAL, OTHER},
    ),
    "a docstring that a test reads": (
        {OTHER: "from shop import price\ndef test_it(): assert price.unused.__doc__\n"},
        {PRICE: FILES[PRICE].replace("return 0", "'Says.'; return 0")},
        {OTHER},
    ),
    "a method that now overrides": (
        {
            "src/shop/cart.py": FILES["src/shop/cart.py"] + BIG,
            OTHER: "import shop.cart\nBIG = shop.cart.Big()\ndef test_it(): BIG.total()\n",
        },
        {"src/shop/cart.py": FILES["src/shop/cart.py"] + BIG.replace("pass", "\n    def total(self): return 0")},
        {OTHER},
    ),
    "a setup method in a base of tests": (
        {
            "tests/base.py": "class Base: pass\n",
            OTHER: "import base\nclass TestIt(base.Base):\n    def test_it(self): pass\n",
        },
        {"tests/base.py": "class Base:\n    def setup_method(self): 1 / 0\n"},
        {OTHER},
    ),
    "a function that a registry keeps": (
        {
            "src/shop/__init__.py": "KNOWN = {}\ndef register(f): KNOWN[f.__name__] = f; return f\n",
            "src/shop/kept.py": KEPT,
            OTHER: "import shop.kept\nfrom shop import KNOWN\ndef test_it(): [f() for f in KNOWN.values()]\n",
        },
        {"src/shop/kept.py": KEPT.replace("1", "2")},
        {OTHER},
    ),
    "a method by a computed name": (
        {"src/shop/walk.py": WALK, OTHER: "from shop.walk import W\ndef test_it(): W().go('a')\n"},
        {"src/shop/walk.py": WALK.replace("pass", "1 / 0")},
        {OTHER},
    ),
    "code that is called at import": (
        {"src/shop/cart.py": "from shop.price import unused\nX = unused()\nclass Cart: pass\n"},
        {PRICE: FILES[PRICE].replace("return 0", "return 1")},
        {CART},
    ),
}


@pytest.mark.parametrize("what", CHANGES)
def test_who_executes_what_changed_is_reached(project: Path, what: str) -> None:
    files, change, expected = CHANGES[what]
    write_files(project, files)

    found = reached(project, change)

    assert {CART, TOTAL, OTHER} - set(found.unreached) == expected
    assert found.reason is None


# --- files that are no modules ------------------------------------------------------------------


@pytest.mark.parametrize(
    "file",
    [
        *("uv.lock", ".env", "data.json", "src/shop/fast.c", "src/shop/data/other.txt", "tests/data/case.md"),
        *("requirements.txt", "setup.py", "sitecustomize.py", "test_text.txt", "tests/data/.cursor/mcp.json"),
    ],
)
def test_a_file_that_any_test_may_use_reaches_everything(project: Path, file: str) -> None:
    found = reached(project, {file: "x", PRICE: OTHER_VAT})

    assert (found.reason or "").startswith(file)
    assert found.unreached == ()


@pytest.mark.parametrize(
    "file",
    [
        *("README.md", "docs/use.rst", "docs/deep/use.md", "docs/picture.png", "docs/conf.json", "LICENSE", "AUTHORS"),
        *(".gitignore", ".github/workflows/test.yml", ".github/script.py", "CHANGES.rst", "src/shop/price.pyi"),
        *("ci/requirements-3.12.txt", "benchmarks/asv.conf.json"),
        *(path for client in CLIENTS for path in client.project),
    ],
)
def test_documents_and_settings_of_tools_reach_nothing(project: Path, file: str) -> None:
    write_files(project, {"src/shop/links.py": "URL = 'https://gist.github.com/x'; 'a.md'.rstrip('.rst(')\n"})
    write_files(project, {OTHER: "from shop.links import URL\ndef test_it(): URL\n"})

    found = reached(project, {file: "x"})

    assert (found.reason, found.files) == (None, ())


READERS: dict[str, tuple[str, str, set[str]]] = {
    "by its name": ("README.md", "open('../README.md')", {OTHER}),
    "by its ending": ("docs/use.md", "list(root.rglob('*.md'))", {OTHER}),
    "by its folder": ("src/shop/data/help.txt", "open(f'src/shop/data/{name}')", {OTHER}),
    "by its folder, listing it": ("tests/cases/a.json", "list(Path('tests/cases').iterdir())", {OTHER}),
    "as a folder of CI": (".github/workflows/test.yml", "open('.github/workflows/' + name)", {OTHER}),
    "by being named after it": ("tests/__snapshots__/test_cart.ambr", "pass", {CART}),
    "by being in a folder named after it": ("tests/cassettes/test_cart/a.yaml", "pass", {CART}),
}


@pytest.mark.parametrize("how", READERS)
def test_a_file_reaches_who_reads_it(project: Path, how: str) -> None:
    file, statement, expected = READERS[how]
    write_files(project, {OTHER: f"def test_it(): {statement}\n"})

    found = reached(project, {file: "new"})

    assert found.reason is None
    assert set(found.files) == expected


def test_a_project_declares_what_cannot_be_seen(project: Path) -> None:
    write_files(project, {"pyproject.toml": f'[tool.pytest-mcp]\ndata = {{"cases/*.json" = ["{OTHER}"]}}\n'})

    assert reached(project, {"cases/a.json": "{}"}).files == (OTHER,)


@pytest.mark.parametrize(
    ("file", "before", "after", "reason"),
    [
        ("pyproject.toml", "", '[tool.ruff]\nline-length = 9\n[project]\nreadme = "R.md"\n', None),
        ("pyproject.toml", "[tool.coverage.report]\nfail_under = 9\n", "# no more\n", None),
        ("pyproject.toml", "", "[tool.pytest.ini_options]\n", "tool.pytest.ini_options"),
        ("pyproject.toml", "", '[project]\ndependencies = ["a"]\n', "project.dependencies"),
        ("pyproject.toml", "dependency-groups.a = []\n", 'dependency-groups.a = ["ruff"]\n', None),
        ("pyproject.toml", "", "[build-system]\nrequires = []\n", "build-system.requires"),
        ("pyproject.toml", "", "[", "what cannot be parsed"),
        ("setup.cfg", "[flake8]\na = 1\n", "[flake8]\na = 2\n[mypy-x.*]\n", None),
        ("setup.cfg", "", "[tool:pytest]\n", "tool:pytest"),
        ("tox.ini", "[testenv]\na = 1\n", "[testenv:py3]\na = 1\n", None),
    ],
)
def test_settings_are_compared_as_values_of_tables(
    project: Path, file: str, before: str, after: str, reason: str | None
) -> None:
    write_files(project, {file: before})

    found = reached(project, {file: after})

    assert found.reason == (None if reason is None else f"{file} changed in {reason}")


def test_what_changed_outside_of_the_root_reaches_everything_unless_it_is_documentation(project: Path) -> None:
    assert reached(project, {}, outside=("lib/code.py",)).reason is not None
    assert reached(project, {}, outside=("README.md", "docs/use.md", "LICENSE")).reason is None


# --- trees that are not what they seem -----------------------------------------------------------


def test_environments_and_hidden_folders_are_not_looked_at(project: Path) -> None:
    known = project_files.list_files(project).python

    write_files(project, {"env/pyvenv.cfg": "", "env/lib/a.py": "", ".tox/b.py": "", "node_modules/c.py": ""})

    assert project_files.list_files(project).python == known


def test_a_link_to_another_folder_of_the_project_makes_it_everything(project: Path) -> None:
    write_files(project, {"vendor": "-> src/shop"})

    assert reached(project, {PRICE: OTHER_VAT}).reason == "vendor is a link to another folder of the project"


def test_links_out_of_the_root_and_in_circles_are_not_followed(project: Path) -> None:
    (project.parent / "outside").mkdir()
    (project.parent / "outside" / "code.py").write_text("import shop.price\n", encoding="utf-8")
    write_files(project, {"out": "-> ../outside", "loop": "-> loop", "tests/test_out.py": "-> ../../outside/code.py"})
    write_files(project, {"tests/test_linked.py": "-> test_price.py", "tests/test_broken.py": "-> nowhere.py"})

    found = reached(project, {PRICE: OTHER_VAT})

    assert found.reason is None
    assert {"tests/test_out.py", "tests/test_linked.py", "tests/test_broken.py"} <= set(found.files)
    assert not any(path.startswith("out/") for path in (*found.files, *found.unreached))


def test_files_that_cannot_be_read_are_always_reached(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    os.mkfifo(project / "tests/test_pipe.py")
    (project / "tests/test_folder.py").mkdir()
    write_files(project, {"tests/test_huge.py": "#" * 3000, "tests/test_broken.py": "def"})
    monkeypatch.setattr(project_files, "MAX_FILE", 2000)

    found = reached(project, {PRICE: OTHER_VAT})

    assert {"tests/test_pipe.py", "tests/test_huge.py", "tests/test_broken.py"} <= set(found.files)
    assert found.always[0] == "tests/test_broken.py (cannot be read or parsed)"


def test_code_that_is_nested_too_deeply_makes_it_everything(project: Path) -> None:
    branches = "".join(f"    elif x == {number}: return {number}\n" for number in range(400))
    long = "LONG = " + " + ".join(["1"] * 1300)

    assert reached(project, {PRICE: f"def total(x):\n    if x: return 1\n{branches}"}).reason is not None
    assert reached(project, {PRICE: FILES[PRICE] + long}).reason is not None


@pytest.mark.parametrize("given", ["self, /, **kw", "*args, **kw", "", "*, a", "**kw"])
@pytest.mark.parametrize("method", ["__init__", "__new__", "__post_init__", "other"])
def test_a_method_may_have_no_plain_parameter(project: Path, given: str, method: str) -> None:
    text = f"{OTHER_VAT}class A:\n    def {method}({given}): pass\n"

    found = reached(project, {PRICE: text, "tests/test_own.py": text})

    assert found.reason is None
    assert found.unreached == (OTHER,)


@pytest.mark.parametrize("name", ["scan", "texts"])
def test_code_that_this_room_does_not_expect_makes_it_everything(
    project: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    def failing(*_: object) -> None:
        raise IndexError("list index out of range")

    monkeypatch.setattr(reached_names, "_remembered", type(reached_names._remembered)())
    monkeypatch.setattr(reached_names, name, failing)

    found = reached(project, {PRICE: OTHER_VAT})

    assert "could not be followed: IndexError" in (found.reason or "")
    assert found.unreached == ()


def test_too_many_files_and_too_much_time_make_it_everything(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(project_files, "MAX_FILES", 3)
    assert "more than 3 Python files" in (reached(project, {PRICE: OTHER_VAT}).reason or "")
    monkeypatch.setattr(project_files, "MAX_SCAN", -1.0)
    assert "took longer" in (reached(project, {PRICE: OTHER_VAT}).reason or "")


@pytest.mark.skipif(sys.platform == "darwin", reason="its file systems take only names in UTF-8")
def test_names_that_are_not_utf_8_do_not_disturb(project: Path) -> None:
    name = os.fsdecode(b"tests/caf\xe9/test_\xe9.py")
    (project / name).parent.mkdir()
    (project / name).touch()

    found = reached(project, {PRICE: OTHER_VAT})

    assert CART in found.files
    assert name in found.unreached


def test_the_root_can_be_a_package_itself(tmp_path: Path) -> None:
    test = "from pack.low import x\ndef test_it(): x\n"
    root = write_files(tmp_path / "pack", {"__init__.py": "", "low.py": "x = 1", "test_low.py": test})

    assert "test_low.py" in reached(root, {"low.py": "x = 2"}).files


def test_a_folder_that_is_installed_under_another_name_is_found(tmp_path: Path) -> None:
    files = {"lib/__init__.py": "", "lib/sub/__init__.py": "", "lib/sub/low.py": "x = 1", "lib/up.py": "x = 1"}
    tests = {"tests/test_low.py": "from pack.sub.low import x\n", "tests/test_up.py": "import pack.up\ny = pack.up.x\n"}
    root = write_files(tmp_path, files | tests | {"setup.cfg": "[options]\npackage_dir =\n    pack = lib\n"})

    assert "tests/test_low.py" in reached(root, {"lib/sub/low.py": "x = 2"}).files
    assert "tests/test_up.py" in reached(root, {"lib/up.py": "x = 2"}).files
