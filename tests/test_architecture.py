"""The map of the modules: which may import which, and which walls stand between them and the world."""

import ast
import sys
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

import pytest_mcp

PACKAGE = Path(pytest_mcp.__file__).parent

# module → what it may import of ours
MAP = {
    "__init__": set(),
    "__main__": {"cli"},
    "account": {"errors", "ink", "results", "text", "transcript", "uncollected"},
    "background": set(),
    "budget": {
        "causes",
        "essence",
        "excerpts",
        "limits",
        "requests",
        "reruns",
        "results",
        "text",
        "tokens",
        "transcript",
        "uncollected",
    },
    "calls": {"errors"},
    "causes": {"failures", "ledger", "results", "text"},
    "cautions": {"events", "ledger", "requests", "text"},
    "checkout": {"files"},
    "checkup": {"client", "ink", "readiness", "results", "text"},
    "cli": {
        "__init__",
        "config",
        "endpoint",
        "front",
        "gate",
        "listener",
        "logs",
        "output",
        "process",
        "server",
        "settings",
        "signals",
        "web",
    },
    "client": {"config"},
    "clients": {"ownership"},
    "command": {"config", "requests", "targets"},
    "commands.call": {"client", "output", "settings"},
    "commands.discover": {
        "errand",
        "exits",
        "flags",
        "inventory",
        "output",
        "results",
        "settings",
        "terminal",
        "tools",
    },
    "commands.doctor": {"checkup", "client", "output", "readiness", "results", "settings", "terminal"},
    "commands.run": {
        "account",
        "errand",
        "exits",
        "flags",
        "output",
        "reruns",
        "results",
        "settings",
        "terminal",
        "tools",
    },
    "commands.setup": {"clients", "config", "configfile", "installation", "output", "ownership", "settings", "text"},
    "config": {"endpoint"},
    "configfile": {"jsonc", "text", "toml"},
    "connection": set(),
    "diagnosis": {
        "budget",
        "errors",
        "events",
        "failures",
        "findings",
        "ledger",
        "named",
        "requests",
        "targets",
        "text",
    },
    "doubts": {"config", "interpreter", "prefixes", "text"},
    "endpoint": set(),
    "environment": {
        "errors",
        "events",
        "hints",
        "interpreter",
        "ledger",
        "notices",
        "readiness",
        "requests",
        "results",
        "surroundings",
        "text",
        "trial",
    },
    "errand": {
        "account",
        "background",
        "config",
        "errors",
        "exits",
        "flags",
        "interruption",
        "meter",
        "output",
        "process",
        "replies",
        "requests",
        "results",
        "run",
        "spare",
        "terminal",
        "tools",
    },
    "errors": {"text"},
    "events": set(),
    "essence": {"text"},
    "excerpts": {"text"},
    "exits": {"errors", "output", "results"},
    "expressions": {"text"},
    "failures": {"events", "excerpts", "ledger", "results"},
    "files": set(),
    "findings": {
        "causes",
        "events",
        "failures",
        "json_report",
        "ledger",
        "named",
        "notices",
        "requests",
        "reruns",
        "results",
    },
    "flags": {"tools"},
    "folders": set(),
    "front": set(),
    "gate": {"endpoint", "logs", "messages"},
    "hatch": {"manifest", "places", "prefixes"},
    "hints": {"events", "surroundings"},
    "ink": set(),
    "installation": {"config", "ownership"},
    "interpreter": {"background", "checkout", "config", "files", "managers", "manifest", "prefixes", "text"},
    "interruption": set(),
    "inventory": {"account", "ink", "results", "text"},
    "journal": {"errors", "logs", "results"},
    "json_report": {"events", "ledger", "requests"},
    "jsonc": set(),
    "ledger": {"events", "records", "requests", "targets", "text"},
    "limits": {"requests", "text", "tokens"},
    "listener": {"endpoint"},
    "listing": {"essence", "limits", "requests", "results", "uncollected"},
    "logs": {"config", "text"},
    "managers": {"events", "files", "hatch", "manifest", "memory", "places", "poetry", "prefixes", "questions"},
    "manifest": {"files"},
    "memory": set(),
    "messages": set(),
    "meter": {"ledger", "progress", "terminal"},
    "named": {"ledger", "requests", "targets"},
    "notices": {"cautions", "events", "failures", "ledger", "requests", "results", "selection", "text", "transcript"},
    "orphans": {"processes"},
    "output": set(),
    "ownership": set(),
    "overtime": set(),
    "places": set(),
    "poetry": {"events", "manifest", "places", "prefixes", "questions"},
    "prefixes": {"files"},
    "printed": set(),
    "process": {"background", "command", "events", "folders", "orphans", "overtime", "report"},
    "processes": set(),
    "progress": {"ink", "ledger", "text"},
    "questions": {"command", "events", "places", "process", "text"},
    "readiness": {"errors", "events", "failures", "ledger", "requests", "strays", "surroundings", "text"},
    "records": {"events"},
    "remedies": {"files", "interpreter", "manifest", "prefixes", "shell", "strays", "unmanaged", "ways"},
    "replies": {"errors", "text"},
    "report": {"events", "folders"},
    "requests": {"config", "expressions", "targets"},
    "requirements": {"files", "manifest"},
    "reruns": {"requests"},
    "results": {"ledger"},
    "run": {
        "background",
        "budget",
        "command",
        "config",
        "diagnosis",
        "doubts",
        "environment",
        "errors",
        "events",
        "findings",
        "interpreter",
        "ledger",
        "listing",
        "process",
        "records",
        "remedies",
        "requests",
        "results",
        "spare",
        "surroundings",
        "trial",
    },
    "selection": {"events", "expressions", "ledger", "named", "requests", "text"},
    "server": {
        "__init__",
        "background",
        "calls",
        "config",
        "errors",
        "front",
        "journal",
        "ledger",
        "logs",
        "messages",
        "progress",
        "replies",
        "results",
        "spare",
        "tools",
        "wire",
    },
    "settings": {"config", "endpoint"},
    "shell": set(),
    "signals": set(),
    "spare": {"background", "command", "interpreter", "process"},
    "strays": {"files", "interpreter", "manifest", "prefixes"},
    "supervisor": {"overtime", "printed", "processes", "signals", "watch"},
    "surroundings": {"__init__", "checkout", "config"},
    "targets": {"text"},
    "terminal": {"ink"},
    "text": set(),
    "tokens": set(),
    "toml": set(),
    "tools": {"config", "errors", "requests", "results", "run", "spare"},
    "transcript": set(),
    "trial": {"errors", "interpreter", "ledger"},
    "uncollected": {"causes", "excerpts", "results"},
    "unmanaged": {"interpreter", "manifest", "prefixes", "shell", "strays", "ways"},
    "watch": {"overtime", "processes"},
    "ways": {"manifest", "requirements"},
    "web": {"background", "calls", "config", "connection", "endpoint", "gate", "server"},
    "wire": {"front", "messages"},
}

PURE = [
    "account",
    "budget",
    "causes",
    "cautions",
    "clients",
    "checkup",
    "command",
    "diagnosis",
    "environment",
    "events",
    "essence",
    "excerpts",
    "exits",
    "expressions",
    "failures",
    "findings",
    "flags",
    "ink",
    "inventory",
    "hints",
    "json_report",
    "jsonc",
    "ledger",
    "limits",
    "listing",
    "messages",
    "named",
    "notices",
    "ownership",
    "progress",
    "replies",
    "readiness",
    "records",
    "requests",
    "reruns",
    "results",
    "selection",
    "text",
    "tokens",
    "toml",
    "transcript",
    "trial",
    "uncollected",
]
# Calls that touch files, the terminal or the clock, by whatever object they are made on.
IMPURE_CALLS = {
    *("open", "print", "input", "read_text", "write_text", "read_bytes", "write_bytes", "mkdir", "unlink"),
    *("exists", "is_file", "is_dir", "stat", "resolve", "iterdir", "glob", "now", "today", "sleep"),
}
PROCESS_CALLS = {
    *("Popen", "open_process", "run_process", "create_subprocess_exec", "create_subprocess_shell"),
    *("fork", "forkpty", "system", "popen", "posix_spawn", "posix_spawnp", "startfile"),
    *(f"{name}{ending}" for name in ("exec", "spawn") for ending in ("l", "le", "lp", "lpe", "v", "ve", "vp", "vpe")),
}


def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def imported(path: Path) -> set[str]:
    """Dotted names of everything that a file imports, wherever in it; `from a import b` is `a.b`."""
    names: set[str] = set()
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            names.update(f"{'.' * node.level}{node.module or ''}.{alias.name}" for alias in node.names)
    return names


def packages(path: Path) -> set[str]:
    return {name.partition(".")[0] for name in imported(path)}


def ours(path: Path) -> set[str]:
    """The modules of this package that a file imports; names of the package itself stand in its `__init__`."""
    inside = [name.split(".")[1:] for name in imported(path) if name.startswith("pytest_mcp.")]
    names = [".".join(parts[:2]) if parts[0] == "commands" else parts[0] for parts in inside]
    return {name if module(name).exists() or name == "child" else "__init__" for name in names}


def called(path: Path) -> set[str]:
    """The last names of everything that a file calls."""
    functions = [node.func for node in ast.walk(tree(path)) if isinstance(node, ast.Call)]
    plain = {function.id for function in functions if isinstance(function, ast.Name)}
    return plain | {function.attr for function in functions if isinstance(function, ast.Attribute)}


def module(name: str) -> Path:
    return PACKAGE.joinpath(*name.split(".")).with_suffix(".py")


MODULES = sorted(
    ".".join(path.relative_to(PACKAGE).with_suffix("").parts)
    for path in [*PACKAGE.glob("*.py"), *PACKAGE.glob("commands/[!_]*.py")]
)
CHILD = sorted((PACKAGE / "child").glob("*.py"))


def test_every_module_stands_on_the_map() -> None:
    assert sorted(MAP) == MODULES


@pytest.mark.parametrize("name", MODULES)
def test_a_module_imports_what_the_map_says_and_nothing_else_of_ours(name: str) -> None:
    assert ours(module(name)) == MAP[name]


def test_imports_point_one_way() -> None:
    order = list(TopologicalSorter(MAP).static_order())

    assert sorted(order) == sorted(MAP)


@pytest.mark.parametrize("name", MODULES)
def test_imports_are_written_in_full(name: str) -> None:
    assert not any(imports.startswith(".") for imports in imported(module(name)))


def test_only_the_server_and_the_client_know_mcp() -> None:
    """And `web`, by the name of one setting: what the server says on HTTP is made in `server` too."""
    knowing = {name for name in MODULES if packages(module(name)) & {"mcp", "mcp_types"}}

    assert knowing == {"server", "client", "web"}
    assert {name for name in imported(module("web")) if name.startswith("mcp")} == {
        "mcp.server.transport_security.TransportSecuritySettings"
    }


def test_only_what_serves_on_http_knows_uvicorn_and_starlette() -> None:
    knowing = {name for name in MODULES if packages(module(name)) & {"uvicorn", "starlette"}}

    assert knowing == {"web", "gate", "connection"}


def test_the_token_is_read_in_one_place_and_compared_in_a_time_that_tells_nothing() -> None:
    reading = {name for name in MODULES if ".secret" in module(name).read_text(encoding="utf-8")}

    assert reading == {"endpoint", "gate"}
    assert "compare_digest" in called(module("gate"))


def test_only_process_and_supervisor_start_processes_and_one_asks_ps() -> None:
    starting = {
        name
        for name in MODULES
        if packages(module(name)) & {"subprocess", "multiprocessing"} or called(module(name)) & PROCESS_CALLS
    }

    assert starting == {"process", "processes", "supervisor"}


def test_nothing_imports_the_child_or_the_supervisor_because_they_are_run_elsewhere() -> None:
    assert not any(ours(module(name)) & {"child", "supervisor"} for name in MODULES)


@pytest.mark.parametrize("script", CHILD, ids=lambda script: script.name)
def test_the_child_needs_nothing_but_the_standard_library_pytest_and_its_own_folder(script: Path) -> None:
    neighbours = {path.stem for path in CHILD}

    assert packages(script) - neighbours - {"pytest"} <= sys.stdlib_module_names


@pytest.mark.parametrize("name", ["supervisor", *sorted(MAP["supervisor"])])
def test_the_supervisor_and_its_modules_need_nothing_but_the_standard_library_and_each_other(name: str) -> None:
    assert packages(module(name)) - {"pytest_mcp"} <= sys.stdlib_module_names
    assert ours(module(name)) <= MAP["supervisor"]


@pytest.mark.parametrize("name", ["front", "config", "endpoint", "settings", "output", "signals"])
def test_what_is_there_before_the_first_answer_needs_nothing_but_the_standard_library(name: str) -> None:
    assert packages(module(name)) - {"pytest_mcp"} <= sys.stdlib_module_names
    assert ours(module(name)) <= {"config", "endpoint"}


@pytest.mark.parametrize("name", PURE)
def test_a_pure_module_neither_waits_nor_touches_files_the_terminal_or_the_clock(name: str) -> None:
    waiting = (ast.Await, ast.AsyncFunctionDef, ast.AsyncFor, ast.AsyncWith)

    assert not any(isinstance(node, waiting) for node in ast.walk(tree(module(name))))
    assert called(module(name)) & IMPURE_CALLS == set()
    assert packages(module(name)) & {"time", "datetime", "os", "io", "subprocess", "socket", "random"} == set()


def test_targets_look_at_the_file_system_but_open_nothing() -> None:
    assert called(module("targets")) & {"open", "read_text", "read_bytes", "write_text", "mkdir", "unlink"} == set()


@pytest.mark.parametrize("name", MODULES)
def test_a_module_says_in_its_docstring_what_it_is(name: str) -> None:
    assert ast.get_docstring(tree(module(name)))
