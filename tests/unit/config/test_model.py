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
    shown_memory,
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
        {"timeout": 61, "max_timeout": 60},
        *({"max_timeout": seconds} for seconds in (0, TIMEOUT_CEILING + 1)),
        *({"task_after": seconds} for seconds in ("-1", "soon", "", str(TIMEOUT_CEILING + 1), "1.5")),
        {"max_runs": 0},
        *({"max_workers": workers} for workers in (0, -1, 65)),
        *({"most_tokens": tokens} for tokens in (LEAST_TOKENS - 1, MAX_TOKENS + 1)),
        {"max_tokens": LEAST_TOKENS - 1},
        *({name: 6000, "most_tokens": 5000} for name in ("max_tokens", "discover_max_tokens")),
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
    config = configured(max_timeout=60, most_tokens=5000)

    assert (config.default_timeout, config.max_timeout) == (60, 60)
    assert (config.execute_tokens, config.discover_tokens) == (EXECUTE_TOKENS, 5000)


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


@pytest.mark.parametrize(
    ("written", "size", "shown"),
    [
        ("67108864", 64 * 1024**2, "64M"),
        ("65537K", 65537 * 1024, "65537K"),
        ("512m", 512 * 1024**2, "512M"),
        ("100000001", 100_000_001, "100000001"),
    ],
)
def test_a_size_is_bytes_or_a_larger_unit_and_is_shown_without_a_fraction(written: str, size: int, shown: str) -> None:
    assert configured(max_memory=written).max_memory == size
    assert shown_memory(size) == shown


@pytest.mark.parametrize(
    "written",
    ["0", "63M", "1048577G", "9" * 15 + "G", "-1", "512MB", "512 M", "1.5G", "0x10000000", "G", "\uff16\uff14M"],
)
def test_what_is_no_size_or_too_small_for_pytest_is_refused(written: str) -> None:
    with pytest.raises(ConfigError, match=r"^--max-memory must be a number of bytes, .* from 64M to 1048576G.$"):
        configured(max_memory=written)


def test_a_call_becomes_a_task_after_twenty_seconds_or_never() -> None:
    assert [configured(**given).task_after for given in ({}, {"task_after": "0"}, {"task_after": "never"})] == [
        20,
        0,
        None,
    ]


def test_a_task_has_the_longest_time_limit_unless_the_operator_set_one() -> None:
    assert (configured(max_timeout=900).task_timeout, configured(timeout=5).task_timeout) == (900, 5)
