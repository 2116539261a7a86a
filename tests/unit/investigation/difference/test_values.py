"""`investigation/difference/values.py`: how values are shown, and which are not."""

import json
from typing import Any

import pytest

from pytest_mcp.investigation.difference.call_tree import RecordedCall
from pytest_mcp.investigation.difference.values import Values
from tests.support.invented.calls import Made, recorded

SECRET = "hunter2-and-more-of-it"


def given(values: Values, **arguments: Any) -> RecordedCall:
    return recorded(values, Made("f", arguments, None)).calls[0]


def shown(name: str, value: Any) -> str:
    values = Values()
    return values.shown(given(values, **{name: value}).given[name], 200)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("password", SECRET),
        ("entry", {"api_key": [SECRET]}),
        ("access", {"token": SECRET}),
        ("headers", {"X-Auth-Token": SECRET, "aws_key": SECRET}),
        ("settings", ("Settings", {"private_key": SECRET})),
        ("argv", ["deploy", "--password", SECRET]),
        ("argv", ["deploy", f"--db-password={SECRET}"]),
        ("command", f"deploy --api-key '{SECRET}' here"),
        ("pair", ["password", SECRET]),
        ("pairs", [["user", "ann"], ["client_secret", SECRET]]),
        ("dsn", f"host=db password={SECRET} user=ann"),
        ("body", '{"password": "' + SECRET + '", "user": "ann"}'),
        ("url", f"https://example.org/?user=ann&access_token={SECRET}#top"),
        ("url", f"postgres://ann:{SECRET}@db/shop"),
        ("text", f"token={SECRET}"),
        ("header", f"Authorization: Basic {SECRET}"),
        ("header", f"Cookie: a={SECRET}; b={SECRET}"),
        ("error", ValueError(f"cannot log in with password={SECRET}")),
        ("settings", f"[db]\npassword   =   {SECRET}"),
        ("text", f'password="two words {SECRET}"'),
        ("text", f"secret='a;b;{SECRET}'"),
        ("text", f"password = b'{SECRET}'"),
        ("body", json.dumps({"inner": json.dumps({"password": SECRET})})),
        ("url", f"next=client_secret%3D{SECRET}"),
        ("header", f'Authorization: Bearer "{SECRET}"'),
        ("url", f"https://ann:p@ss{SECRET}@host/shop"),
        ("url", f"redis://ann:pw/{SECRET}@host"),
    ],
)
def test_secrets_are_not_shown_wherever_their_name_stands_in_front_of_them(name: str, value: Any) -> None:
    words = shown(name, value)

    assert "hunter2" not in words
    assert "***" in words


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("token", "+"),
        ("password", None),
        ("has_password", True),
        ("message", "Wrong password given"),
        ("columns", ["name", "password", "mail"]),
        ("source", "token = next(tokens)"),
        ("source", "def login(user, password=None): pass"),
    ],
)
def test_what_only_speaks_of_secrets_is_shown(name: str, value: Any) -> None:
    assert "***" not in shown(name, value)


def test_a_known_secret_is_hidden_in_every_text() -> None:
    values = Values()
    given(values, password=SECRET)

    number = given(values, text=f"ann:{SECRET}").given["text"]

    assert values.shown(number, 60) == "'ann:***'"


def test_of_a_known_secret_that_begins_with_another_no_rest_is_shown() -> None:
    values = Values()
    for password in ("hunter", "hunter2x", "hunter2xyz"):
        given(values, password=password)

    number = given(values, text="ann:hunter2xyz").given["text"]

    assert values.shown(number, 60) == "'ann:***'"


def test_where_two_long_texts_part_shows_no_piece_of_a_secret() -> None:
    values = Values()
    text = "x" * 300 + "password=hunter{}"
    one, other = (given(values, text=text.format(number)).given["text"] for number in (1, 2))

    assert "hunter" not in " ".join(values.shown_pair(one, other, 60))


def test_the_value_behind_an_option_is_no_difference_that_is_shown() -> None:
    values = Values()
    one, other = (given(values, argv=["--password", secret]).given["argv"] for secret in ("one", "two"))

    (found,) = values.differences(one, other)

    assert found.path == "[1]"
    assert values.shown_pair(found.base, found.now, 60) == ("'***'", "'***'")
