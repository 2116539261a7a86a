"""The oracle is pytest's own option parser: it must read every command line as it was meant."""

from argparse import Namespace
from pathlib import Path
from typing import Any

import pytest
from _pytest.config import get_config
from hypothesis import example, given, settings
from hypothesis import strategies as st

from pytest_mcp import text
from pytest_mcp.api.requests import DiscoverTests, ExecuteTests, Request
from pytest_mcp.config.model import CORES, Config, Options, configure
from pytest_mcp.process.job import Command, child_launch
from pytest_mcp.run.command import build

FILES = [
    "test_a.py",
    "tests/test b.py",
    "tests/deep/test_c.py",
    "tests/--co/test_d.py",
    "odd/-dir/@test.py",
    "a=b/test.py",
]
EXPRESSIONS = ["a", "not a", "-p", "--co", "-x and --lf", "a or (b and not c)", "p[1]"]
MARKERS = ["m(x=1)", "m(x='-p no:terminal')", 'm(x="--co", y=-1) or b']
SELECTORS = ["test_x", "T::t[--co]", "t[-p x]", "t[a b=c]", "t[@f]", "--", "-p", "="]
PYTHON = Path("/usr/bin/python-of-the-project")
OWN_PREFIX = Path("/server/.venv")


@pytest.fixture(scope="module")
def config(tmp_path_factory: pytest.TempPathFactory) -> Config:
    root = tmp_path_factory.mktemp("project").resolve()
    for name in FILES:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text("", encoding="utf-8")
    return configure(Options(root=str(root), timeout=60, max_timeout=600), {"PATH": "/bin"})


def command_for(config: Config, tool: type[Request], arguments: dict[str, Any], *, collect: bool = False) -> Command:
    request = tool.model_validate(arguments, context=config.bounds)
    return build(request, config, PYTHON, own_prefix=OWN_PREFIX, collect_only=collect or tool is DiscoverTests)


def read_by_pytest(words: list[str]) -> Namespace:
    """Both of its passes: the one that looks ahead, and the one that refuses what it does not know."""
    parser = get_config()._parser
    ahead, unknown = parser.parse_known_and_unknown_args(words)
    assert unknown == []
    meant = parser.parse(words)
    assert vars(meant) == vars(ahead)
    return meant


def visible(selector: str) -> bool:
    return text.safe(selector) == selector and not {"\n", "\t"} & set(selector)


selectors = st.none() | st.sampled_from(SELECTORS) | st.text(min_size=1, max_size=12).filter(visible)
selections = st.dictionaries(st.sampled_from(FILES), selectors, min_size=1)
executions = st.fixed_dictionaries(
    {},
    optional={
        "keywords": st.sampled_from(EXPRESSIONS),
        "markers": st.sampled_from(EXPRESSIONS + MARKERS),
        "pattern": st.sampled_from(["check_*.py", "-test.py", "[a-c]test?.py"]),
        "verbosity": st.integers(min_value=-2, max_value=2),
        "color": st.booleans(),
        "show_capture": st.booleans(),
        "locals": st.booleans(),
        "detail": st.sampled_from(["auto", "tests", "full"]),
        "maxfail": st.integers(min_value=1, max_value=100_000),
    },
)


@settings(max_examples=150)
@given(selected=st.none() | selections, asked=executions)
@example(selected={"odd/-dir/@test.py": "--"}, asked={"keywords": "-p", "markers": "--co"})
def test_pytest_reads_every_run_as_it_was_asked_for(
    config: Config, selected: dict[str, str | None] | None, asked: dict[str, Any]
) -> None:
    ids = [file if selector is None else f"{file}::{selector}" for file, selector in (selected or {}).items()]
    # What begins with a dash is named from the folder it stands in.
    arguments = asked | ({} if selected is None else {"node_ids": [f"./{node_id}" for node_id in ids]})

    args = command_for(config, ExecuteTests, arguments).job["args"]

    meant = read_by_pytest(args)
    whole = asked.get("detail") == "full"
    assert args[0].startswith("--")
    assert meant.file_or_dir == [f"{config.root}/{node_id}" for node_id in ids]
    assert meant.keyword == asked.get("keywords", "")
    assert meant.markexpr == asked.get("markers", "")
    assert meant.maxfail == asked.get("maxfail")
    assert meant.verbose == asked.get("verbosity", 0)
    assert meant.showlocals == asked.get("locals", False)
    assert meant.color == ("yes" if asked.get("color") else "no")
    assert meant.showcapture == ("all" if asked.get("show_capture", asked.get("verbosity", 0) >= 0) else "no")
    assert meant.override_ini == [
        f"verbosity_assertions={2 if whole else 'auto'}",
        *([] if whole else ["truncation_limit_lines=0", "truncation_limit_chars=0"]),
        *([f"python_files={asked['pattern']}"] if "pattern" in asked else []),
    ]
    assert meant.plugins == []
    assert meant.collectonly is False


@given(path=st.none() | st.sampled_from([*FILES, "tests", "."]), asked=st.sampled_from(EXPRESSIONS))
def test_pytest_reads_every_discovery_as_a_collection_that_runs_nothing(
    config: Config, path: str | None, asked: str
) -> None:
    arguments = {"keywords": asked, "markers": asked, "path": None if path is None else f"./{path}"}

    args = command_for(config, DiscoverTests, arguments).job["args"]

    meant = read_by_pytest(args)
    assert args[0] == "--collect-only"
    assert meant.collectonly is True
    assert meant.file_or_dir == ([] if path is None else [str(config.root / path)])
    assert (meant.keyword, meant.markexpr) == (asked, asked)
    assert meant.plugins == []


def test_the_reproduction_holds_what_was_asked_and_nothing_of_our_plumbing(config: Config) -> None:
    arguments = {"node_ids": ["tests/test b.py::T::t[--co]"], "keywords": "a or b", "failfast": True, "verbosity": 0}

    command = command_for(config, ExecuteTests, arguments)

    words = ("-k=a or b", "--maxfail=1", "tests/test b.py::T::t[--co]")
    assert command.reproduction == (str(PYTHON), "-m", "pytest", *words)
    meant = read_by_pytest(list(command.reproduction[3:]))
    assert (meant.file_or_dir, meant.maxfail) == (["tests/test b.py::T::t[--co]"], 1)
    assert "--collect-only" in command_for(config, DiscoverTests, {"path": "tests"}).reproduction


@settings(max_examples=150)
@given(
    st.lists(
        st.sampled_from(["tests", "tests/deep", "."])
        | st.tuples(st.sampled_from(FILES[:3]), st.sampled_from(["", "::T", "::T::t", "::t", "::t[1]", "::t2"])).map(
            "".join
        ),
        min_size=1,
    )
)
def test_no_argument_is_covered_by_another_and_everything_asked_for_is_covered(config: Config, ids: list[str]) -> None:
    request = ExecuteTests.model_validate({"node_ids": ids}, context=config.bounds)
    asked = [target for _, target in request.targets]

    args = command_for(config, ExecuteTests, {"node_ids": ids}).job["args"]

    said = [word for word in args if not word.startswith("-")]
    kept = [target for target in dict.fromkeys(asked) if target.argument in said]
    assert said == [target.argument for target in kept]
    assert all(any(one.covers(target) or one == target for one in kept) for target in asked)
    assert not any(one.covers(other) for one in kept for other in kept if one != other)


def test_an_execution_can_be_collected_only_to_learn_which_of_its_targets_are_missing(config: Config) -> None:
    arguments = {"node_ids": ["test_a.py::t"], "keywords": "a", "workers": 2}

    command = command_for(config, ExecuteTests, arguments, collect=True)

    meant = read_by_pytest(command.job["args"])
    assert (command.job["collect_only"], command.job["workers"]) == (True, None)
    assert meant.collectonly is True
    assert meant.file_or_dir == [f"{config.root}/test_a.py::t"]
    assert meant.keyword == "a"


def test_a_test_that_is_covered_is_left_to_the_child_to_look_for(config: Config) -> None:
    job = command_for(config, ExecuteTests, {"path": "test_a.py", "node_ids": ["./test_a.py::t", "test_a.py"]}).job

    assert job["covered"] == [["test_a.py::t", f"{config.root}/test_a.py::t"]]


def test_the_child_inherits_the_environment_less_what_would_change_the_run_or_is_ours(config: Config) -> None:
    kept = {"PATH": "/bin", "HOME": "/home/x", "DATABASE_URL": "x", "VIRTUAL_ENV": "/p/.venv", "PYTHONPATH": "src"}
    of_pytest = ["PYTEST_ADDOPTS", "PYTEST_PLUGINS", "PYTEST_DEBUG", "FORCE_COLOR", "PYTEST_MCP_ROOT"]
    of_python = [f"PYTHON{name}" for name in ("HOME", "STARTUP", "INSPECT", "VERBOSE", "OPTIMIZE", "BREAKPOINT")]
    withheld = dict.fromkeys([*of_pytest, *of_python], "x")

    command = command_for(config._replace(environment=kept | withheld), ExecuteTests, {})

    assert dict(command.launch.env) == kept
    assert command.launch.cwd == config.root
    of_the_server = config._replace(environment={"VIRTUAL_ENV": str(OWN_PREFIX)})
    assert dict(command_for(of_the_server, ExecuteTests, {}).launch.env) == {}


@pytest.mark.parametrize(
    ("sign", "changed"),
    [
        ("pyvenv.cfg", {"PATH": "{prefix}/bin:/bin", "VIRTUAL_ENV": "{prefix}"}),
        ("conda-meta", {"PATH": "{prefix}/bin:/bin", "VIRTUAL_ENV": "/another"}),
        (None, {"PATH": "/bin", "VIRTUAL_ENV": "/another"}),
    ],
)
def test_an_environment_is_active_for_its_child_and_a_python_of_the_system_changes_nothing(
    config: Config, tmp_path: Path, sign: str | None, changed: dict[str, str]
) -> None:
    if sign is not None:
        (tmp_path / sign).touch()
    given = config._replace(environment={"PATH": "/bin", "VIRTUAL_ENV": "/another"})

    child = child_launch(tmp_path / "bin" / "python", given, own_prefix=OWN_PREFIX)

    assert dict(child.env) == {name: value.format(prefix=tmp_path) for name, value in changed.items()}


@pytest.mark.parametrize(
    ("asked", "limit", "used"), [(None, 4, None), (1, 4, 1), (3, 4, 3), (9, 4, 4), ("auto", 64, CORES), ("auto", 1, 1)]
)
def test_workers_are_at_most_what_the_operator_allows(
    config: Config, asked: int | str | None, limit: int, used: int | None
) -> None:
    limited = config._replace(max_workers=limit)

    command = command_for(limited, ExecuteTests, {"workers": asked})

    assert command.job["workers"] == used
    shown = [f"--numprocesses={used}"] if used is not None and used > 1 else []
    assert [word for word in command.reproduction if "numprocesses" in word] == shown


def test_options_that_a_person_typed_for_pytest_come_after_ours_and_not_into_a_collection(config: Config) -> None:
    typed = config._replace(pytest_options=("--tb=short",))

    run, collection = (command_for(typed, ExecuteTests, {"path": "."}, collect=collect) for collect in (False, True))

    assert run.job["args"][-2:] == ["--tb=short", str(config.root)]
    assert "--tb=short" in run.reproduction
    assert "--tb=short" not in collection.job["args"]
