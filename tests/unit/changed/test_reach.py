"""What a change reaches, in which order, and when it is everything. No project here is run."""

import os
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from pytest_mcp.changed import import_graph, project_files, reach
from pytest_mcp.changed.working_tree import Changes
from pytest_mcp.cli.setup.clients import CLIENTS
from pytest_mcp.run.run import Reach
from tests.support.projects.project_files import write_files

FILES = {
    "src/shop/__init__.py": "",
    "src/shop/cart.py": "from shop import price\n",
    "src/shop/price.py": "",
    "src/shop/data/help.md": "",
    "tests/test_cart.py": "import shop.cart\n",
    "tests/test_price.py": "from shop.price import total\n",
    "tests/test_other.py": "",
    "tests/helper.py": "",
    "README.md": "",
}


def reached(root: Path, *files: str, outside: tuple[str, ...] = ()) -> Reach:
    return reach.reach_of(Changes("main", "0" * 40, frozenset(files), frozenset(outside)), root)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return write_files(tmp_path / "project", FILES)


def test_changed_files_come_first_then_their_importers_by_distance(project: Path) -> None:
    found = reached(project, "src/shop/price.py", "tests/test_other.py")

    assert found.files == (
        *("src/shop/price.py", "tests/test_other.py"),
        *("src/shop/cart.py", "tests/test_price.py"),
        "tests/test_cart.py",
    )
    assert set(found.unreached) == {"src/shop/__init__.py", "tests/helper.py"}
    assert (found.since, found.changed, found.reason) == ("main", 2, None)


def test_nothing_changed_reaches_nothing(project: Path) -> None:
    assert reached(project) == Reach("main", 0)
    assert reached(project, "src/shop/__pycache__/cart.cpython-311.pyc", ".pytest_cache/v/cache") == Reach("main", 0)


@pytest.mark.parametrize(
    ("gone", "files"),
    [
        ("src/shop/price.py", {"tests/test_cart.py"}),
        ("tests/conftest.py", {"tests/test_cart.py", "tests/test_other.py"}),
        ("src/shop/__init__.py", {"src/shop/cart.py", "tests/test_cart.py", "tests/test_price.py"}),
    ],
)
def test_a_deleted_module_conftest_or_package_reaches_what_used_it(project: Path, gone: str, files: set[str]) -> None:
    (project / gone).unlink(missing_ok=True)

    found = reached(project, gone)

    assert files <= set(found.files)
    assert "tests/test_other.py" in (files | {*found.unreached})


@pytest.mark.parametrize(
    "file",
    [
        *("pyproject.toml", "tox.ini", "uv.lock", ".env", "data.json", "src/shop/fast.c", "src/shop/price.pyi"),
        *("src/shop/data/help.md", "tests/data/case.md", "requirements.txt", "bin/tool", "setup.py", "submodule"),
        *("sitecustomize.py", ".hidden/code.py", "node_modules/a.py", "docs/conf.json", "test_text.txt"),
        *("tests/data/.cursor/mcp.json", "services/alpha/tests/opencode.json", "src/shop/template/.vscode/mcp.json"),
        *("services/alpha/.github/workflows/test.yml", "template/.vscode/settings.json"),
        "{{cookiecutter.name}}/.vscode/settings.json",
    ],
)
def test_a_file_that_any_test_may_use_reaches_everything(project: Path, file: str) -> None:
    write_files(project, {"{{cookiecutter.name}}/setup.cfg": ""})

    found = reached(project, file, "src/shop/price.py")

    assert found.reason is not None
    assert found.reason.startswith(file)
    assert found.unreached == ()
    assert found.files[0] in (file, "src/shop/price.py")


@pytest.mark.parametrize(
    "file",
    [
        *("README.md", "docs/use.rst", "docs/deep/use.md", "docs/picture.png", "LICENSE", "LICENSE.txt", "AUTHORS"),
        *(".gitignore", ".github/workflows/test.yml", ".github/script.py", "CHANGES.rst"),
        *(path for client in CLIENTS for path in client.project),
        *(f"services/alpha/{path}" for client in CLIENTS for path in client.project),
    ],
)
def test_documentation_reaches_nothing(project: Path, file: str) -> None:
    write_files(project, {"services/alpha/pyproject.toml": ""})

    found = reached(project, file)

    assert found.reason is None
    assert not {"tests/test_cart.py", "tests/test_other.py"} & set(found.files)


@pytest.mark.parametrize(
    ("file", "mentioning"),
    [
        ("README.md", {"tests/test_docs.py": "for path in root.rglob('*.md'): ..."}),
        ("README.md", {"pytest.ini": "[pytest]\naddopts = --doctest-glob=*.md\n"}),
        ("docs/use.rst", {"pyproject.toml": '[tool.pytest.ini_options]\naddopts = ["--doctest-glob", "*.rst"]\n'}),
        ("LICENSE", {"tests/test_legal.py": "open('LICENSE')"}),
        (".github/workflows/test.yml", {"tests/test_ci.py": "Path('.github')"}),
        (".mcp.json", {"tests/test_settings.py": "open('.mcp.json')"}),
    ],
)
def test_documentation_that_is_mentioned_reaches_everything(
    project: Path, file: str, mentioning: Mapping[str, str]
) -> None:
    write_files(project, mentioning)

    found = reached(project, file)

    assert found.reason is not None
    assert next(iter(mentioning)) in found.reason


def test_documentation_that_is_only_packaged_reaches_nothing(project: Path) -> None:
    write_files(project, {"pyproject.toml": '[project]\nreadme = "README.md"\n', "setup.py": "open('README.md')"})

    assert reached(project, "README.md").reason is None


def test_what_changed_outside_of_the_root_reaches_everything_unless_it_is_documentation(project: Path) -> None:
    assert reached(project, outside=("lib/code.py",)).reason is not None
    assert reached(project, outside=("lib/notes.md",)).reason is not None
    assert reached(project, outside=("README.md", "docs/use.md", "LICENSE")).reason is None
    assert reached(project, outside=(".codex/config.toml", "services/beta/.cursor/mcp.json")).reason is None
    assert reached(project, outside=("services/beta/tests/.cursor/mcp.json",)).reason is not None


def test_a_python_file_among_tests_that_nothing_imports_may_be_data(project: Path) -> None:
    assert reached(project, "tests/helper.py").reason is not None
    write_files(project, {"tests/test_other.py": "import helper\n"})
    assert reached(project, "tests/helper.py").files == ("tests/helper.py", "tests/test_other.py")


@pytest.mark.parametrize(
    ("file", "content", "why"),
    [
        ("tests/conftest.py", "import shop.price\ndef pytest_configure(config): ...\n", "is a plugin of pytest"),
        ("pyproject.toml", '[project.entry-points.pytest11]\nshop = "shop.cart"\n', "is named in pyproject.toml"),
    ],
)
def test_a_plugin_reaches_everything(project: Path, file: str, content: str, why: str) -> None:
    write_files(project, {file: content})

    assert (reached(project, "src/shop/price.py").reason or "").endswith(f", which {why}")


def test_test_code_that_starts_processes_is_always_reached_and_comes_last(project: Path) -> None:
    write_files(project, {"tests/test_tool.py": "import subprocess\n", "src/shop/git.py": "import subprocess\n"})
    write_files(project, {"tests/test_git.py": "import shop.git\n"})

    found = reached(project, "src/shop/price.py")

    assert found.files[-1] == "tests/test_tool.py"
    assert found.always == ("tests/test_tool.py (starts processes)",)
    assert "tests/test_git.py" in found.unreached
    assert reached(project, "tests/test_tool.py").always == ()


@pytest.mark.parametrize(
    ("files", "hub"),
    [
        ({"src/shop/__init__.py": "import shop.price\n"}, "src/shop/__init__.py imports what changed"),
        ({"tests/conftest.py": "import shop.price\n"}, "tests/conftest.py is used by every test below it"),
        ({}, "most files import src/shop/price.py"),
        (
            {"src/shop/__init__.py": "import_module(name)\n"},
            "src/shop/__init__.py imports modules by names that it computes",
        ),
    ],
)
def test_the_file_that_most_are_reached_through_is_named(project: Path, files: Mapping[str, str], hub: str) -> None:
    assert reached(write_files(project, files), "src/shop/price.py").hub == hub


def test_many_files_that_use_a_large_package_have_few_edges(tmp_path: Path) -> None:
    package = {f"big/m{number}.py": "" for number in range(300)}
    tests = {f"test_{number}.py": "import big as b\n" for number in range(300)}
    root = write_files(tmp_path, {"big/__init__.py": "", **package, **tests})

    graph = import_graph.build(root, [])

    assert sum(map(len, graph.importers.values())) < 3000
    assert set(tests) <= set(reached(root, "big/m7.py").files)


# --- trees that are not what they seem -----------------------------------------------------------


def test_environments_and_hidden_folders_are_not_looked_at(project: Path) -> None:
    write_files(project, {"env/pyvenv.cfg": "", "env/lib/a.py": "", ".tox/b.py": "", "node_modules/c.py": ""})

    assert (
        project_files.list_files(project).python
        == project_files.list_files(write_files(project.parent / "other", FILES)).python
    )


def test_a_link_to_another_folder_of_the_project_makes_it_everything(project: Path) -> None:
    write_files(project, {"vendor": "-> src/shop"})

    assert reached(project, "src/shop/price.py").reason == "vendor is a link to another folder of the project"


def test_links_out_of_the_root_and_in_circles_are_not_followed(project: Path) -> None:
    (project.parent / "outside").mkdir()
    (project.parent / "outside" / "code.py").write_text("import shop.price\n", encoding="utf-8")
    write_files(project, {"out": "-> ../outside", "loop": "-> loop", "tests/test_out.py": "-> ../../outside/code.py"})
    write_files(project, {"tests/test_linked.py": "-> test_price.py", "tests/test_broken.py": "-> nowhere.py"})

    found = reached(project, "src/shop/price.py")

    assert found.reason is None
    assert {"tests/test_out.py", "tests/test_linked.py", "tests/test_broken.py"} <= set(found.files)
    assert not any(path.startswith("out/") for path in (*found.files, *found.unreached))


def test_files_that_cannot_be_read_are_always_reached(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    os.mkfifo(project / "tests/test_pipe.py")
    (project / "tests/test_folder.py").mkdir()
    write_files(project, {"tests/test_huge.py": "#" * 3000})
    monkeypatch.setattr(project_files, "MAX_FILE", 2000)

    found = reached(project, "src/shop/price.py")

    assert {"tests/test_pipe.py", "tests/test_huge.py"} <= set(found.files)


def test_too_many_files_and_too_much_time_make_it_everything(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(project_files, "MAX_FILES", 3)
    assert "more than 3 Python files" in (reached(project, "src/shop/price.py").reason or "")
    monkeypatch.setattr(project_files, "MAX_SCAN", -1.0)
    assert "took longer" in (reached(project, "src/shop/price.py").reason or "")


@pytest.mark.skipif(sys.platform == "darwin", reason="its file systems take only names in UTF-8")
def test_names_that_are_not_utf_8_do_not_disturb(project: Path) -> None:
    name = os.fsdecode(b"tests/caf\xe9/test_\xe9.py")
    (project / name).parent.mkdir()
    (project / name).touch()

    found = reached(project, "src/shop/price.py")

    assert "tests/test_cart.py" in found.files
    assert name in found.unreached


def test_the_root_can_be_a_package_itself(tmp_path: Path) -> None:
    root = write_files(tmp_path / "pack", {"__init__.py": "", "low.py": "", "test_low.py": "from pack.low import x"})

    assert "test_low.py" in reached(root, "low.py").files
    assert "test_low.py" in reached(root, "__init__.py").files


def test_a_folder_that_is_installed_under_another_name_is_found(tmp_path: Path) -> None:
    files = {"lib/__init__.py": "", "lib/sub/__init__.py": "", "lib/sub/low.py": "", "lib/up.py": ""}
    tests = {"tests/test_low.py": "from pack.sub.low import x\n", "tests/test_up.py": "import pack.up\n"}
    root = write_files(tmp_path, files | tests | {"setup.cfg": "[options]\npackage_dir =\n    pack = lib\n"})

    assert "tests/test_low.py" in reached(root, "lib/sub/low.py").files
    assert "tests/test_up.py" in reached(root, "lib/up.py").files
