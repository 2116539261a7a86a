import argparse

from pytest_mcp.config.options import SETTINGS


def test_of_the_limits_of_an_answer_help_lists_those_in_tokens_and_takes_the_one_in_bytes() -> None:
    parser = argparse.ArgumentParser()
    for setting in SETTINGS:
        setting.add_to(parser, {})

    listed = parser.format_help()

    assert all(flag in listed for flag in ("--max-tokens", "--discover-max-tokens", "--most-tokens"))
    assert "--max-reply-bytes" not in listed
    assert parser.parse_args(["--max-reply-bytes=70000"]).max_reply_bytes == 70_000
