import pytest

from pytest_mcp.cli import main, pytest_flags

FLAGS = main._parser(["run"], {})._subparsers._group_actions[0].choices["run"]._option_string_actions  # type: ignore[union-attr, index]


@pytest.mark.parametrize(
    ("word", "advice"),
    [
        ("--co", "`pytest-mcp discover`"),
        ("--ignore=x", "name the paths"),
        ("-rA", "-v lists"),
        ("-Werror", "filterwarnings"),
        ("--fialfast", "did you mean --failfast?"),
        ("--reruns=2", "set it in addopts"),
        ("-Z", "set it in addopts"),
    ],
)
def test_a_flag_of_pytest_or_of_a_plugin_is_answered_with_what_to_do_instead(word: str, advice: str) -> None:
    assert advice in pytest_flags.advice_on_unknown(word, FLAGS, like_pytest=True)


def test_no_flag_that_run_takes_is_called_unknown() -> None:
    assert [flag for flags in pytest_flags._INSTEAD for flag in flags if flag in FLAGS] == []


def test_pytests_flags_mean_nothing_to_other_commands() -> None:
    assert pytest_flags.advice_on_unknown("--co", FLAGS, like_pytest=False) == ""
