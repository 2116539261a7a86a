import pytest

from pytest_mcp.cli import main, pytest_flags

FLAGS = main._parser(["run"], {})._subparsers._group_actions[0].choices["run"]._option_string_actions  # type: ignore[union-attr, index]


def said(word: str) -> str:
    return pytest_flags.advice_on_unknown(word, FLAGS, like_pytest=True)


@pytest.mark.parametrize(
    ("word", "advice"),
    [
        ("--co", "; `pytest-mcp discover` lists the tests"),
        ("--ignore", "; name the paths that are to run, or set it in addopts of the project's pytest settings"),
        ("--ignore=x", "; name the paths that are to run, or set it in addopts of the project's pytest settings"),
        ("-rA", "; -v lists every test with its outcome"),
        ("-Werror", "; set filterwarnings in the project's pytest settings"),
        ("-o", "; pytest reads the project's own settings file; change it there"),
        ("--sw", "; use -x, and then -x --lf"),
        ("--cov=src", "; did you mean --coverage?"),
        ("--fialfast", "; did you mean --failfast?"),
        ("--ghost", ""),
        ("-Z", ""),
    ],
)
def test_a_flag_of_pytest_is_answered_with_what_to_type_instead_and_others_with_a_near_one(
    word: str, advice: str
) -> None:
    assert said(word) == advice


def test_no_flag_that_run_takes_is_called_unknown() -> None:
    assert [flag for flags in pytest_flags._INSTEAD for flag in flags if flag in FLAGS] == []


def test_pytests_flags_mean_nothing_to_other_commands() -> None:
    assert pytest_flags.advice_on_unknown("--co", FLAGS, like_pytest=False) == ""
