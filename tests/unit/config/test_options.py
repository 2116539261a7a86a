import argparse
from pathlib import Path

import pytest

from pytest_mcp.config.model import Config
from pytest_mcp.config.options import SETTINGS, load


def parser(environment: dict[str, str]) -> argparse.ArgumentParser:
    made = argparse.ArgumentParser()
    for setting in SETTINGS:
        setting.add_to(made, environment)
    return made


def loaded(root: Path, *words: str, **environment: str) -> Config:
    return load(parser(environment).parse_args(["--root", str(root), *words]), environment)


def test_of_the_limits_of_an_answer_help_lists_those_in_tokens_and_takes_the_one_in_bytes() -> None:
    listed = parser({}).format_help()

    assert all(flag in listed for flag in ("--max-tokens", "--discover-max-tokens", "--most-tokens"))
    assert "--max-reply-bytes" not in listed
    assert parser({}).parse_args(["--max-reply-bytes=70000"]).max_reply_bytes == 70_000


def test_the_flag_comes_before_the_variable(tmp_path: Path) -> None:
    assert loaded(tmp_path).max_memory is None
    assert loaded(tmp_path, PYTEST_MCP_MAX_MEMORY="1G").max_memory == 1024**3
    assert loaded(tmp_path, "--max-memory=2G", PYTEST_MCP_MAX_MEMORY="1G").max_memory == 2 * 1024**3


def test_a_switch_is_off_until_it_is_typed_or_set(tmp_path: Path) -> None:
    assert loaded(tmp_path).spare
    assert not loaded(tmp_path, "--no-spare").spare
    assert not loaded(tmp_path, PYTEST_MCP_NO_SPARE="True").spare
    assert loaded(tmp_path, PYTEST_MCP_NO_SPARE="0").spare
    assert not loaded(tmp_path, "--no-spare", PYTEST_MCP_NO_SPARE="0").spare


@pytest.mark.parametrize(("name", "flag"), [("NO_SPARE", "--no-spare"), ("MAX_TIMEOUT", "--max-timeout")])
def test_a_variable_with_a_value_that_cannot_be_is_refused_like_its_flag(
    name: str, flag: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as refusal:
        parser({f"PYTEST_MCP_{name}": "perhaps"}).parse_args([])

    assert refusal.value.code == 2
    assert f"argument {flag}: " in capsys.readouterr().err
