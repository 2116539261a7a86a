import argparse
from pathlib import Path

import pytest

from pytest_mcp.config.model import ConfigError, parse_memory, shown_memory
from pytest_mcp.config.options import SETTINGS, load


def loaded(root: Path, *words: str, **environment: str) -> int | None:
    parser = argparse.ArgumentParser()
    for setting in SETTINGS:
        setting.add_to(parser, environment)
    return load(parser.parse_args(["--root", str(root), *words]), environment).max_memory


@pytest.mark.parametrize(
    ("written", "size", "shown"),
    [
        ("67108864", 64 * 1024**2, "64M"),
        ("65537K", 65537 * 1024, "65537K"),
        ("512m", 512 * 1024**2, "512M"),
        ("2G", 2 * 1024**3, "2G"),
        ("100000001", 100_000_001, "100000001"),
    ],
)
def test_a_size_is_bytes_or_a_larger_unit_and_is_shown_without_a_fraction(written: str, size: int, shown: str) -> None:
    assert parse_memory(written) == size
    assert shown_memory(size) == shown


@pytest.mark.parametrize(
    "written",
    [
        *("0", "63M", "1048577G", "9" * 15 + "G", "-1", "512MB", "512 M", "1.5G", "0x10000000", "1T", "G"),
        *("\uff16\uff14M", "65537\u212a"),
    ],
)
def test_what_is_no_size_or_too_small_for_pytest_is_refused_with_one_sentence(tmp_path: Path, written: str) -> None:
    with pytest.raises(ConfigError) as refusal:
        loaded(tmp_path, f"--max-memory={written}")

    assert str(refusal.value) == "--max-memory must be a number of bytes, or of K, M or G, from 64M to 1048576G."


def test_the_flag_comes_before_the_variable_and_without_either_there_is_no_limit(tmp_path: Path) -> None:
    assert loaded(tmp_path) is None
    assert loaded(tmp_path, PYTEST_MCP_MAX_MEMORY="1G") == 1024**3
    assert loaded(tmp_path, "--max-memory=2G", PYTEST_MCP_MAX_MEMORY="1G") == 2 * 1024**3
