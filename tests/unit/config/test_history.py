"""Where runs are recorded, and that a password stays where it was given."""

import argparse
from pathlib import Path
from typing import Any

import pytest

from pytest_mcp.cli import mcp_client
from pytest_mcp.config import history
from pytest_mcp.config.model import Config, ConfigError, History, Options, configure
from pytest_mcp.config.options import SETTINGS, changed_flags, server_flags, typed_flags

SECRET = "hunter2"
URL = f"postgresql://team:{SECRET}@db.example:5433/tests"
VARIABLE = {"PYTEST_MCP_HISTORY": URL}


def configured(root: Path, environment: dict[str, str] | None = None, **given: Any) -> Config:
    return configure(Options(root=str(root), **given), environment or {})


def namespace(**given: Any) -> argparse.Namespace:
    return argparse.Namespace(**{setting.name: setting.default for setting in SETTINGS} | given)


def test_a_file_is_named_from_the_current_folder_or_the_home_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", "/home/somebody")

    assert configured(tmp_path, history="h.db", history_keep=7).history == History(f"{tmp_path}/h.db", keep_days=7)
    assert configured(tmp_path, history="~/h.db").history == History("/home/somebody/h.db")


@pytest.mark.parametrize(
    "given",
    [
        {"history": "mysql://host/db"},
        {"history": "~no-such-user-anywhere/h.db"},
        {"history": "h.db", "history_keep": 0},
        {"history": "h.db", "history_max_bytes": 1},
        {"history": URL},
        {"history": f"postgresql://db/tests?password={SECRET}"},
        {"history": f"postgresql://[{SECRET}"},
    ],
)
def test_what_cannot_be_used_is_refused_in_one_sentence_without_the_password(
    given: dict[str, Any], tmp_path: Path
) -> None:
    with pytest.raises(ConfigError) as refusal:
        configured(tmp_path, **given)

    assert len(str(refusal.value).splitlines()) == 1
    assert SECRET not in str(refusal.value)


def test_a_password_in_the_variable_reaches_no_child_no_flag_no_log_and_no_settings_file(tmp_path: Path) -> None:
    config = configured(tmp_path, VARIABLE, history=URL)
    options = namespace(history=URL)

    server = mcp_client._server(server_flags(options, config), config)

    assert config.history is not None
    assert config.history.address == URL
    assert SECRET not in repr(config)
    assert SECRET not in str(config.environment)
    flags = [*server_flags(options, config), *changed_flags(options, config), *changed_flags(options, None)]
    assert SECRET not in str([*flags, *typed_flags(options, VARIABLE)])
    # The server that `call` and `doctor` start records too.
    assert (server.env or {})["PYTEST_MCP_HISTORY"] == URL


def test_an_address_without_a_password_is_written_into_the_settings_of_clients(tmp_path: Path) -> None:
    config = configured(tmp_path, history=f"{tmp_path}/h.db")

    assert changed_flags(namespace(history="h.db"), config) == [f"--history={tmp_path}/h.db"]


@pytest.mark.parametrize(
    ("address", "name"),
    [
        ("/x/h.db", "/x/h.db"),
        (URL, "the PostgreSQL database db.example:5433/tests"),
        ("postgres:///tests?host=/run", "the PostgreSQL database localhost/tests"),
        (f"postgresql://a:{SECRET}@[::1/", "the PostgreSQL database"),
        (f"postgresql://a:{SECRET}@h:port/", "the PostgreSQL database"),
    ],
)
def test_a_database_is_named_without_user_and_password(address: str, name: str) -> None:
    assert history.display_name(address) == name
