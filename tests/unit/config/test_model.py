from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest

from pytest_mcp.config.model import (
    EXECUTE_TOKENS,
    LEAST_TOKENS,
    MAX_TOKENS,
    TIMEOUT_CEILING,
    Bounds,
    Config,
    ConfigError,
    Options,
    configure,
)


@pytest.fixture(autouse=True)
def _in_a_project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def configured(environment: Mapping[str, str] = MappingProxyType({}), /, **given: Any) -> Config:
    return configure(Options(**{"max_runs": 2} | given), environment)


def test_the_root_is_the_folder_that_was_named_with_every_link_followed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    monkeypatch.chdir(tmp_path / "real")

    for named in (str(tmp_path / "link"), "~/real", None):
        assert configured(root=named).root == (tmp_path / "real").resolve()


@pytest.mark.parametrize(
    "given",
    [
        *({"root": root} for root in ("/", "~", "/no/such/folder", "~no-such-user-anywhere/project", __file__)),
        {"python": "~no-such-user-anywhere/bin/python"},
        {"http": "0.0.0.0"},
        *({"timeout": seconds} for seconds in (0, -1)),
        *({"max_timeout": seconds} for seconds in (0, TIMEOUT_CEILING + 1)),
        {"max_runs": 0},
        *({"max_workers": workers} for workers in (0, -1, 65)),
        *({"most_tokens": tokens} for tokens in (LEAST_TOKENS - 1, MAX_TOKENS + 1)),
        {"max_tokens": LEAST_TOKENS - 1},
        {"max_reply_bytes": 1},
        {"errors": "none"},
    ],
    ids=str,
)
def test_a_setting_that_cannot_be_used_is_refused_with_one_sentence(given: dict[str, Any]) -> None:
    with pytest.raises(ConfigError) as refusal:
        configured(**given)

    assert len(str(refusal.value).splitlines()) == 1


def test_the_link_of_a_virtual_environments_python_is_kept(tmp_path: Path) -> None:
    """The target of the symlink is the base Python, without the packages of the environment."""
    (tmp_path / "python").symlink_to("/usr/bin/env")
    assert configured(python="python").python == tmp_path / "python"


def test_requests_are_bound_by_what_the_operator_decided(tmp_path: Path) -> None:
    bounds = configured(max_timeout=90).bounds
    sizes = configured(max_tokens=500, discover_max_tokens=3000, most_tokens=9000).bounds

    assert bounds == Bounds(root=tmp_path.resolve(), max_timeout=90, max_tokens=MAX_TOKENS)
    assert (sizes.execute_tokens, sizes.discover_tokens, sizes.max_tokens) == (500, 3000, 9000)


def test_a_usual_limit_that_was_not_set_never_exceeds_the_largest_one() -> None:
    config = configured(timeout=240, max_timeout=60, most_tokens=5000)

    assert (config.default_timeout, config.max_timeout) == (60, 60)
    assert (config.execute_tokens, config.discover_tokens) == (EXECUTE_TOKENS, 5000)


@pytest.mark.parametrize("setting", ["max_tokens", "discover_max_tokens"])
def test_sizes_of_answers_that_contradict_each_other_are_refused_with_both_flags(setting: str) -> None:
    flag = "--" + setting.replace("_", "-")

    with pytest.raises(ConfigError, match=f"^{flag} must be between 500 and 5000, the value of --most-tokens.$"):
        configured(**{setting: 6000, "most_tokens": 5000})


def test_a_token_is_nowhere_but_in_its_place() -> None:
    secret = "0123456789abcdef"

    config = configured({"PYTEST_MCP_TOKEN": secret, "PATH": "/bin"}, http="0")

    assert config.endpoint is not None
    assert config.endpoint.token is not None
    assert config.endpoint.token.secret == secret
    assert secret not in repr(config)
    assert config.environment == {"PATH": "/bin"}


def test_nothing_is_served_on_http_unless_it_is_asked_for() -> None:
    assert configured().endpoint is None
    assert configured(http="").endpoint is None
    assert configured({"PYTEST_MCP_TOKEN": "short"}).endpoint is None


def test_a_child_is_started_ahead_unless_the_operator_does_without() -> None:
    assert configured().spare
    assert not configured(no_spare=True).spare
