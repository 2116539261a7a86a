from pathlib import Path
from typing import Any

import pytest

from pytest_mcp.config.model import (
    EXECUTE_TOKENS,
    LEAST_TOKENS,
    LONGEST_TIMEOUT,
    MAX_TOKENS,
    Bounds,
    Config,
    ConfigError,
    Options,
    configure,
)


def configured(**given: Any) -> Config:
    environment = given.pop("environment", {})
    return configure(Options(**{"max_runs": 2} | given), environment)


def test_the_root_is_the_folder_that_was_named_with_every_link_followed(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")

    config = configured(root=str(tmp_path / "link"))

    assert config.root == (tmp_path / "real").resolve()


def test_the_root_is_the_working_directory_when_none_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)

    assert configured().root == tmp_path.resolve()


def test_a_root_below_the_home_directory_may_be_named_with_a_tilde(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "project").mkdir()

    assert configured(root="~/project").root == (tmp_path / "project").resolve()


@pytest.mark.parametrize("root", ["/", "~", "/no/such/folder", "~no-such-user-anywhere/project", __file__])
def test_a_root_that_is_no_project_folder_is_refused_with_one_sentence(root: str) -> None:
    with pytest.raises(ConfigError) as refusal:
        configured(root=root)

    assert len(str(refusal.value).splitlines()) == 1


def test_a_python_of_a_user_who_does_not_exist_is_refused_with_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as refusal:
        configured(root=str(tmp_path), python="~no-such-user-anywhere/bin/python")

    assert len(str(refusal.value).splitlines()) == 1


def test_the_link_of_a_virtual_environments_python_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The target of the symlink is the base Python, without the packages of the environment."""
    (tmp_path / "python").symlink_to("/usr/bin/env")
    monkeypatch.chdir(tmp_path)

    config = configured(root=str(tmp_path), python="python")

    assert config.python == tmp_path / "python"


@pytest.mark.parametrize(
    "given",
    [{"timeout": 0}, {"timeout": -1}, {"max_timeout": 0}, {"max_timeout": LONGEST_TIMEOUT + 1}],
)
def test_a_time_limit_that_is_none_is_refused(tmp_path: Path, given: dict[str, int]) -> None:
    with pytest.raises(ConfigError):
        configured(root=str(tmp_path), **given)


def test_the_usual_time_limit_never_exceeds_the_longest_one(tmp_path: Path) -> None:
    config = configured(root=str(tmp_path), timeout=240, max_timeout=60)

    assert (config.default_timeout, config.max_timeout) == (60, 60)


def test_requests_are_bound_by_what_the_operator_decided(tmp_path: Path) -> None:
    config = configured(root=str(tmp_path), max_timeout=90)

    assert config.bounds == Bounds(root=tmp_path.resolve(), max_timeout=90, max_tokens=MAX_TOKENS)


def test_the_usual_and_the_largest_answer_are_the_operators(tmp_path: Path) -> None:
    config = configured(root=str(tmp_path), max_tokens=500, discover_max_tokens=3000, most_tokens=9000)

    bounds = config.bounds
    assert (bounds.execute_tokens, bounds.discover_tokens, bounds.max_tokens) == (500, 3000, 9000)


def test_a_usual_answer_that_was_not_set_never_exceeds_the_largest_one(tmp_path: Path) -> None:
    bounds = configured(root=str(tmp_path), most_tokens=5000).bounds

    assert (bounds.execute_tokens, bounds.discover_tokens) == (EXECUTE_TOKENS, 5000)


@pytest.mark.parametrize(
    ("given", "flags"),
    [
        ({"most_tokens": LEAST_TOKENS - 1}, ["--most-tokens"]),
        ({"most_tokens": MAX_TOKENS + 1}, ["--most-tokens"]),
        ({"max_tokens": LEAST_TOKENS - 1}, ["--max-tokens"]),
        ({"max_tokens": 6000, "most_tokens": 5000}, ["--max-tokens", "5000", "--most-tokens"]),
        ({"discover_max_tokens": 6000, "most_tokens": 5000}, ["--discover-max-tokens", "5000", "--most-tokens"]),
    ],
)
def test_sizes_of_answers_that_contradict_each_other_are_refused_with_one_sentence(
    tmp_path: Path, given: dict[str, int], flags: list[str]
) -> None:
    with pytest.raises(ConfigError) as refusal:
        configured(root=str(tmp_path), **given)

    assert len(str(refusal.value).splitlines()) == 1
    assert all(flag in str(refusal.value) for flag in flags)


def test_a_token_is_nowhere_but_in_its_place(tmp_path: Path) -> None:
    secret = "0123456789abcdef"

    config = configured(root=str(tmp_path), http="0", environment={"PYTEST_MCP_TOKEN": secret, "PATH": "/bin"})

    assert config.endpoint is not None
    assert config.endpoint.token is not None
    assert config.endpoint.token.secret == secret
    assert secret not in repr(config)
    assert config.environment == {"PATH": "/bin"}


def test_nothing_is_served_on_http_unless_it_is_asked_for(tmp_path: Path) -> None:
    root = str(tmp_path)

    assert configured(root=root).endpoint is None
    assert configured(root=root, http="").endpoint is None
    assert configured(root=root, environment={"PYTEST_MCP_TOKEN": "short"}).endpoint is None


def test_an_address_that_is_none_is_refused_with_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as refusal:
        configured(root=str(tmp_path), http="0.0.0.0")

    assert len(str(refusal.value).splitlines()) == 1


def test_a_child_is_started_ahead_unless_the_operator_does_without(tmp_path: Path) -> None:
    root = str(tmp_path)

    assert configured(root=root).spare
    assert not configured(root=root, no_spare=True).spare


@pytest.mark.parametrize("workers", [0, -1, 65])
def test_the_most_workers_of_a_call_are_from_1_to_64(workers: int) -> None:
    with pytest.raises(ConfigError, match="--max-workers must be between 1 and 64"):
        configured(max_workers=workers)
