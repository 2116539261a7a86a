"""The HTTP address, token and host names are checked before the server starts."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_mcp.config import endpoint
from pytest_mcp.config.endpoint import DEFAULT, LOOPBACK_NAMES, MAX_TOKEN, SHORTEST_TOKEN, Endpoint, Token

SECRET = "0123456789abcdef"


def settled(address: str, **given: str) -> Endpoint:
    unset = dict.fromkeys(("token", "token_file", "allowed_hosts"))
    return endpoint.parse(address, **unset | given)


@pytest.mark.parametrize(
    ("address", "host", "port"),
    [
        (DEFAULT, "127.0.0.1", 8000),
        ("9000", "127.0.0.1", 9000),
        (":9000", "127.0.0.1", 9000),
        ("0", "127.0.0.1", 0),
        ("localhost", "127.0.0.1", 8000),
        ("LocalHost:9000", "127.0.0.1", 9000),
        ("127.0.0.2:65535", "127.0.0.2", 65535),
        ("[::1]:9000", "::1", 9000),
        ("[::1]", "::1", 8000),
    ],
)
def test_this_machine_may_come_in_without_a_token(address: str, host: str, port: int) -> None:
    assert settled(address) == Endpoint(host, port, None, LOOPBACK_NAMES)


@pytest.mark.parametrize(
    "address",
    ["0.0.0.0:8000", "[::]:8000", "192.168.1.2:8000", "tests.example.com", "127.1:8000", "[::ffff:127.0.0.1]:80"],
)
def test_other_machines_need_a_token_and_names_to_come_in(address: str) -> None:
    with pytest.raises(ValueError, match="needs a token"):
        settled(address, allowed_hosts="tests.example.com")
    with pytest.raises(ValueError, match="needs --allowed-hosts "):
        settled(address, token=SECRET)

    assert settled(address, token=SECRET, allowed_hosts="tests.example.com").allowed_hosts == ("tests.example.com",)


@pytest.mark.parametrize(
    "address",
    ["65536", "99999", "123456", "::1", "[::1", "host:port", "http://localhost:8000", "a b:1", "host:1:2", " "],
)
def test_what_is_no_address_is_refused_with_one_sentence(address: str) -> None:
    with pytest.raises(ValueError, match=r"^--http [^\n]+\.$"):
        settled(address)


@pytest.mark.parametrize("hosts", ["http://name", "a b", "name:port", "*", "name/path", "name:123456"])
def test_what_is_no_name_of_a_host_is_refused(hosts: str) -> None:
    with pytest.raises(ValueError, match="--allowed-hosts"):
        settled("0", allowed_hosts=hosts)


NAMED = Endpoint("127.0.0.1", 8000, None, ("a.example", "b.example:8443", "[::1]"))


@pytest.mark.parametrize("host", ["a.example", "A.Example:80", "b.example:8443", "[::1]", "[::1]:8000"])
def test_a_name_is_known_with_its_port_or_with_any_if_it_has_none(host: str) -> None:
    assert NAMED.admits_host(host)
    assert NAMED.admits_origin(f"http://{host}")
    assert NAMED.admits_origin(f"https://{host}")


@pytest.mark.parametrize(
    "host",
    [
        *("", "b.example", "b.example:80", "xa.example", "a.example.evil", "a.example:", "a.example:x"),
        *("a.example:80:80", "evil@a.example", "a.example/", "a.example\n", " a.example", "a.example,evil"),
        *("::1", "127.0.0.1"),
    ],
)
def test_every_other_name_is_a_strangers(host: str) -> None:
    assert not NAMED.admits_host(host)
    assert not NAMED.admits_origin(f"http://{host}")


def test_an_origin_is_a_scheme_and_a_name() -> None:
    others = ("", "null", "a.example", "file://a.example", "http:/a.example", "HTTP://a.example/")

    assert [origin for origin in others if NAMED.admits_origin(origin)] == []


@given(st.text())
def test_no_text_but_a_name_is_let_in(host: str) -> None:
    assert NAMED.admits_host(host) <= (host.lower().partition(":")[0] in ("a.example", "b.example", "["))


@pytest.mark.parametrize(
    "token",
    ["", "x" * (SHORTEST_TOKEN - 1), "x" * (MAX_TOKEN + 1), "a b" * 10, "t\xf6ken" * 10, "token\n" * 10, "=" * 20],
    ids=range(7),
)
def test_a_token_that_cannot_be_one_is_refused_without_being_told(token: str) -> None:
    with pytest.raises(ValueError, match=r"^PYTEST_MCP_TOKEN is ") as refusal:
        settled("0", token=token)

    assert not token or token not in str(refusal.value)
    assert len(str(refusal.value).splitlines()) == 1


def test_a_token_may_stand_in_a_file_with_a_newline_at_its_end(tmp_path: Path) -> None:
    file = tmp_path / "token"
    file.write_text(f"{SECRET}\n", encoding="ascii")

    token = settled("0", token_file=str(file)).token

    assert token is not None
    assert token.secret == SECRET


def test_a_file_that_holds_no_token_is_named_and_not_repeated(tmp_path: Path) -> None:
    for name, content in (("empty", b""), ("large", b"x" * 100_000), ("binary", bytes(range(256)))):
        (tmp_path / name).write_bytes(content)

    for name in ("empty", "large", "binary", "missing", "."):
        with pytest.raises(ValueError, match=str(tmp_path / name)) as refusal:
            settled("0", token_file=str(tmp_path / name))
        assert len(str(refusal.value)) < 200 + len(str(tmp_path))


def test_a_token_in_two_places_is_refused_and_one_does_not_show_itself(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="keep one"):
        settled("0", token=SECRET, token_file=str(tmp_path / "token"))
    assert SECRET not in f"{settled('0', token=SECRET)} {Token(SECRET)!s} {[Token(SECRET)]}"


@pytest.mark.parametrize(("mode", "warned"), [(0o600, False), (0o640, False), (0o644, True), (0o602, True)])
def test_a_token_file_that_everybody_can_read_or_change_deserves_a_warning(
    tmp_path: Path, mode: int, *, warned: bool
) -> None:
    (tmp_path / "token").write_text(SECRET, encoding="utf-8")
    (tmp_path / "token").chmod(mode)

    warnings = settled("8000", token_file=str(tmp_path / "token")).warnings

    assert [f"chmod 600 {tmp_path / 'token'}" in warning for warning in warnings] == [True] * warned
    assert SECRET not in str(warnings)
