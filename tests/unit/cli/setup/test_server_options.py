"""The server's options in an entry: which stay, which are replaced, and which may be shown."""

import pytest

from pytest_mcp.cli.setup.server_options import combined, relative, shown, time_limit


@pytest.mark.parametrize(
    ("old", "typed", "result"),
    [
        ([], [], ["--app=no"]),
        ([], ["--timeout=9"], ["--timeout=9", "--app=no"]),
        (["--app", "all"], [], ["--app", "all"]),
        (["--app=all"], ["--app=no"], ["--app=no"]),
        (["--python", "X", "--app=no"], ["--python=Y"], ["--python=Y", "--app=no"]),
        (["--python=X", "--app=no"], ["--python", "Y"], ["--python", "Y", "--app=no"]),
        (["--python", "X", "--app=no"], ["--python=X"], ["--python", "X", "--app=no"]),
        (["--no-spare", "--app=no"], ["--no-spare"], ["--no-spare", "--app=no"]),
        (["--timeout=1", "--timeout=2", "--app=no"], ["--timeout=3"], ["--timeout=3", "--timeout=3", "--app=no"]),
        (["--unknown", "X", "--app=no", "--python"], ["--timeout=9"], None),
    ],
)
def test_typed_options_replace_the_same_options_and_defaults_replace_none(
    old: list[str], typed: list[str], result: list[str] | None
) -> None:
    assert combined(old, typed, defaults=["--app=no"]) == (result or [*old, *typed])


def test_a_value_that_looks_like_an_option_is_a_value() -> None:
    assert combined(["--history", "--timeout=1"], ["--timeout=2"]) == ["--history", "--timeout=1", "--timeout=2"]


def test_paths_below_the_folder_become_relative_in_both_forms() -> None:
    words = ["--python", "/p/bin/python", "--history=/p/h", "--token-file=/px/t", "--root", "/p"]

    assert relative(words, "/p", "${w}/") == [
        *("--python", "${w}/bin/python", "--history=${w}/h", "--token-file=/px/t", "--root", "/p")
    ]


@pytest.mark.parametrize(
    ("words", "limit"),
    [([], 5), (["--timeout=9"], 9), (["--timeout", "9", "--timeout", "8"], 8), (["--timeout=x"], 5)],
)
def test_the_time_limit_is_the_last_one_that_is_a_number(words: list[str], limit: int) -> None:
    assert time_limit(words, default=5) == limit


def test_neither_passwords_nor_unknown_words_nor_the_root_are_shown() -> None:
    words = ["--root", "/p", "--key", "secret", "--python", "X", "--no-spare", "--history=postgresql://a:secret@h/d"]

    assert shown(words).startswith("--python=X --no-spare --history=")
    assert "secret" not in shown(words)
