"""The layers of the package, and the walls between it and the world."""

import ast
import re
import sys
from functools import cache
from pathlib import Path

import pytest

import pytest_mcp
from pytest_mcp.python.managers import ACTIVE, MANAGERS

PACKAGE = Path(pytest_mcp.__file__).parent
# A module imports from its own room or from one above it in this list: a lower layer, or to the left in its own.
LAYERS = [
    ["text", "config", "api", "terminal"],
    ["process", "python"],
    ["run", "changed"],
    ["report", "page"],
    ["history", "environment", "investigation", "proof"],
    ["engine", "tools", "server", "cli", "__main__"],
]
ROOMS = [room for layer in LAYERS for room in layer]

# Calls that touch files, the terminal or the clock, by whatever object they are made on.
IMPURE_CALLS = {
    *("open", "print", "input", "read_text", "write_text", "read_bytes", "write_bytes", "mkdir", "unlink"),
    *("exists", "is_file", "is_dir", "stat", "resolve", "iterdir", "glob", "now", "today", "sleep"),
}
IMPURE_MODULES = {"time", "datetime", "os", "io", "subprocess", "socket", "random"}
PROCESS_CALLS = {
    *("Popen", "open_process", "run_process", "create_subprocess_exec", "create_subprocess_shell"),
    *("fork", "forkpty", "system", "popen", "posix_spawn", "posix_spawnp", "startfile"),
    *(f"{name}{ending}" for name in ("exec", "spawn") for ending in ("l", "le", "lp", "lpe", "v", "ve", "vp", "vpe")),
}
# Whole packages, and modules of others.
PURE = ["report", "api.expressions", "api.requests", "api.results", "api.errors", "run.command", "api.parameters"]
PURE += [
    "process.supervisor_protocol",
    "run.decode",
    "run.events",
    "run.recordings",
    "run.ledger",
    "run.outcome",
    "run.run",
]
PURE += ["page.document", "investigation.page", "page.sections"]
PURE += ["text", "server.incoming", "terminal.colours", "cli.exit_codes", "cli.render_run"]
PURE += ["history.request_and_result", "investigation.result"]
PURE += ["environment.explain", "investigation.terminal"]
PURE += ["cli.setup.clients"]
PURE += ["proof.checks", "proof.claims", "proof.edits", "proof.pairing", "proof.settings", "proof.strength"]
PURE += ["proof.suite", "proof.weakening"]
PURE += ["proof.answer", "proof.at_base", "proof.collected", "proof.mutants", "proof.result"]
PURE += ["proof.terminal", "proof.verdict"]
# What runs before a client has its first answer.
EARLY = ["__main__", "cli.main", "terminal.output", "config", "process.signals", "server.fast_start"]
SUPERVISOR = ["supervisor", "supervisor_input", "supervisor_protocol", "process_tree", "signals", "removal"]


@cache
def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def imported(path: Path, *, when_loaded: bool = False) -> set[str]:
    """Dotted names of everything that a file imports; `from a import b` is `a.b`."""
    nodes = ast.iter_child_nodes(tree(path)) if when_loaded else ast.walk(tree(path))
    names: set[str] = set()
    for node in nodes:
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            names.update(f"{'.' * node.level}{node.module or ''}.{alias.name}" for alias in node.names)
    return names


def packages(path: Path, *, when_loaded: bool = False) -> set[str]:
    return {name.partition(".")[0] for name in imported(path, when_loaded=when_loaded)}


def called(path: Path) -> set[str]:
    """The last names of everything that a file calls."""
    functions = [node.func for node in ast.walk(tree(path)) if isinstance(node, ast.Call)]
    plain = {function.id for function in functions if isinstance(function, ast.Name)}
    return plain | {function.attr for function in functions if isinstance(function, ast.Attribute)}


def name_of(path: Path) -> str:
    return ".".join(path.relative_to(PACKAGE).with_suffix("").parts)


CHILD = sorted((PACKAGE / "child").rglob("*.py"))
SOURCES = [path for path in sorted(PACKAGE.rglob("*.py")) if path not in CHILD and path.stem != "__init__"]
MODULES = {name_of(path): path for path in SOURCES}


def modules_of(*names: str) -> list[str]:
    """These modules, and those of these packages."""
    return [module for module in MODULES if any(module == name or module.startswith(f"{name}.") for name in names)]


def rooms_used(path: Path) -> set[str]:
    """Names of the package itself, as its version, belong to no room."""
    names = {name.split(".")[1] for name in imported(path) if name.startswith("pytest_mcp.")}
    return names & {*ROOMS, "child"}


@pytest.mark.parametrize("name", MODULES)
def test_a_module_imports_from_its_own_room_or_from_one_before_it(name: str) -> None:
    room = ROOMS.index(name.partition(".")[0])

    assert rooms_used(MODULES[name]) <= set(ROOMS[: room + 1])


@pytest.mark.parametrize(
    ("libraries", "knowing"),
    [
        # The server on HTTP only by the name of one setting: what it says is made in `server.app` too.
        ({"mcp", "mcp_types"}, {"server.app", "server.tasks", "cli.mcp_client", "server.http_server"}),
        ({"uvicorn", "starlette"}, {"server.http_server", "server.http_guard", "server.metrics"}),
    ],
)
def test_the_protocol_and_http_are_known_to_few_modules(libraries: set[str], knowing: set[str]) -> None:
    assert {name for name, path in MODULES.items() if packages(path) & libraries} == knowing


def test_the_token_is_read_in_one_place_and_compared_in_a_time_that_tells_nothing() -> None:
    reading = {name for name, path in MODULES.items() if ".secret" in path.read_text(encoding="utf-8")}

    assert reading == {"config.endpoint", "server.http_guard"}
    assert "compare_digest" in called(MODULES["server.http_guard"])


def test_processes_are_started_in_one_module_and_in_the_supervisor_and_one_asks_ps() -> None:
    starting = {
        name
        for name, path in MODULES.items()
        if packages(path) & {"subprocess", "multiprocessing"} or called(path) & PROCESS_CALLS
    }

    assert starting == {f"process.{name}" for name in ("start", "process_tree", "supervisor")}


def test_git_is_asked_in_one_module() -> None:
    """So that no other command is given to it than those that start nothing of a repository's."""
    assert {name for name, path in MODULES.items() if "ask_for_bytes" in called(path)} == {"changed.git_commands"}


def test_nothing_imports_the_child_or_the_supervisor_because_they_are_run_elsewhere() -> None:
    supervisor = "pytest_mcp.process.supervisor."

    assert not any("child" in rooms_used(path) for path in MODULES.values())
    assert not any(f"{name}.".startswith(supervisor) for path in MODULES.values() for name in imported(path))


@pytest.mark.parametrize("script", CHILD, ids=lambda script: script.name)
def test_the_child_needs_nothing_but_the_standard_library_pytest_and_its_own_folder(script: Path) -> None:
    neighbours = {path.stem for path in CHILD}
    # Only the type checker reads it: no environment of a project has this package.
    names = imported(script) - {"pytest_mcp.process.job.Job"}

    assert {name.partition(".")[0] for name in names} - neighbours - {"pytest"} <= sys.stdlib_module_names


@pytest.mark.parametrize("name", SUPERVISOR)
def test_the_supervisor_and_its_modules_need_nothing_but_the_standard_library_and_each_other(name: str) -> None:
    path = MODULES[f"process.{name}"]
    ours = [f"{found}." for found in imported(path) if found.startswith("pytest_mcp.")]
    allowed = tuple(f"pytest_mcp.process.{each}." for each in SUPERVISOR)

    assert packages(path) - {"pytest_mcp"} <= sys.stdlib_module_names
    assert [found for found in ours if not found.startswith(allowed)] == []


@pytest.mark.parametrize("name", modules_of(*EARLY))
def test_what_is_there_before_the_first_answer_needs_nothing_but_the_standard_library(name: str) -> None:
    assert packages(MODULES[name], when_loaded=True) - {"pytest_mcp"} <= sys.stdlib_module_names


def test_packages_on_the_way_of_the_first_answer_and_of_the_supervisor_load_nothing() -> None:
    on_the_way = [PACKAGE / name / "__init__.py" for name in ("config", "cli", "server", "process", "terminal")]

    assert [path.read_text(encoding="utf-8") for path in on_the_way] == [""] * len(on_the_way)


@pytest.mark.parametrize("name", modules_of(*PURE))
def test_a_pure_module_neither_waits_nor_touches_files_the_terminal_or_the_clock(name: str) -> None:
    waiting = (ast.Await, ast.AsyncFunctionDef, ast.AsyncFor, ast.AsyncWith)

    assert not any(isinstance(node, waiting) for node in ast.walk(tree(MODULES[name])))
    assert called(MODULES[name]) & IMPURE_CALLS == set()
    assert packages(MODULES[name]) & IMPURE_MODULES == set()


# The managers, how they are asked or read, and the lines that install with them.
MANAGED = {f"python.{name}" for name in ("managers", "asked_managers", "uv", "query", "install_lines")}


@pytest.mark.parametrize("name", sorted({*modules_of("python", "environment", "report")} - MANAGED))
def test_a_manager_is_known_to_few_modules(name: str) -> None:
    """Elsewhere no string is its name, one of its files or the variable that names its environment."""
    known = {*ACTIVE, *(word for each in MANAGERS for word in (each.name, *each.files))}
    words = {node.value for node in ast.walk(tree(MODULES[name])) if isinstance(node, ast.Constant)}

    assert words & known == set()


@pytest.mark.parametrize("name", MODULES)
def test_a_module_says_in_its_docstring_what_it_is(name: str) -> None:
    assert ast.get_docstring(tree(MODULES[name]))


# Names of the standard library that macOS does not have, or not in every Python that we support.
LINUX_ONLY = re.compile(
    r"\bos\.(?:\w+xattr|sched_\w+|waitid|pidfd_\w+|memfd_\w+|eventfd\w*|epoll\w*|pipe2|splice|copy_file_range|posix_f\w+"
    r"|O_PATH|O_TMPFILE|getrandom|setns|unshare)\b"
    r"|\bselect\.epoll\b|\bsignal\.(?:sigtimedwait|sigwaitinfo|pidfd_\w+|SIGPWR|SIGSTKFLT)\b|_prctl\b|['\"]/proc\b"
)
# The last ones ask first whether the system has it, have another way if not, or are refused on other systems.
SEAM = {"process.process_tree", "config.cores", "process.confinement", "cli.setup.sandbox"}


def test_what_only_linux_has_is_used_behind_one_seam() -> None:
    using = {name for name, path in MODULES.items() if LINUX_ONLY.search(path.read_text(encoding="utf-8"))}

    assert using == SEAM
    assert not [path.name for path in CHILD if LINUX_ONLY.search(path.read_text(encoding="utf-8"))]
