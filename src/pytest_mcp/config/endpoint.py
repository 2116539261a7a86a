"""Where and to whom the server answers over HTTP, or why it refuses to.

In come the operator's words; out comes a frozen `Endpoint`, or a ValueError with one sentence for a person.
Only this machine may come in without a token. How a request is held against it is `guard`'s affair.
The first answer on stdio waits for this module too: it needs little, and reads a file only when one is named.
"""

import re
from pathlib import Path
from typing import NamedTuple

DEFAULT_HOST = "127.0.0.1"
DEFAULT_PORT = "8000"
DEFAULT = f"{DEFAULT_HOST}:{DEFAULT_PORT}"
LARGEST_PORT = 65_535
# Below this a token can be guessed. What `openssl rand -hex 32` prints is four times as long.
SHORTEST_TOKEN = 16
# A token is a line, not a document; a wrong file is noticed rather than read.
LONGEST_TOKEN = 4096

LOOPBACK_NAMES = ("127.0.0.1", "localhost", "[::1]")
# Compiled when they are used: on stdio none of them is.
_LOOPBACK = r"127(\.\d{1,3}){3}|\[::1\]"
_ADDRESS = r"(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+)?(?::(\d{1,5}))?"
# A name, and a port if it is not every one.
_HOST = r"(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(?::\d{1,5})?"
_ORIGIN = r"https?://(.+)"
# What may stand in an Authorization header behind the word Bearer (RFC 6750).
_BEARER = r"[A-Za-z0-9._~+/-]+=*"


class Token:
    """A secret that shows itself in no log and no traceback."""

    __slots__ = ("secret",)

    def __init__(self, secret: str) -> None:
        self.secret = secret

    def __repr__(self) -> str:
        return "Token(hidden)"


class Endpoint(NamedTuple):
    host: str
    port: int
    token: Token | None
    # What a request may name as its Host: with the port that stands here, or with any port if none does.
    allowed_hosts: tuple[str, ...]

    def admits_host(self, host: str) -> bool:
        """Whether a request with this Host was meant for this server: a name that was rebound to it was not."""
        match = re.fullmatch(_HOST, host.lower())
        return match is not None and (match[0] in self.allowed_hosts or match[1] in self.allowed_hosts)

    def admits_origin(self, origin: str) -> bool:
        """Whether the page that had a browser send a request is one of this server's."""
        match = re.fullmatch(_ORIGIN, origin)
        return match is not None and self.admits_host(match[1])


def settle(address: str, *, token: str | None, token_file: str | None, allowed_hosts: str | None) -> Endpoint:
    host, port = _address(address)
    hosts = _hosts(allowed_hosts)
    secret = _token(token, token_file)
    if not re.fullmatch(_LOOPBACK, host):
        needed = [] if secret else ["a token (PYTEST_MCP_TOKEN or --token-file)"]
        needed += [] if hosts else ["--allowed-hosts, the names that clients reach it by"]
        if needed:
            raise ValueError(f"--http {address} is open to other machines and needs {' and '.join(needed)}.")
    return Endpoint(host.strip("[]"), port, secret, hosts or LOOPBACK_NAMES)


def _address(text: str) -> tuple[str, int]:
    """A host, a port, or both. `localhost` is what it should be, whatever the machine makes of that name."""
    match = re.fullmatch(_ADDRESS, f":{text}" if text.isdecimal() else text)
    if match is None:
        raise ValueError(f"--http {text!r} is no address; say HOST:PORT, for example {DEFAULT} or [::1]:8000.")
    host, port = match[1] or DEFAULT_HOST, int(match[2] or DEFAULT_PORT)
    if port > LARGEST_PORT:
        raise ValueError(f"--http {text!r}: a port is at most {LARGEST_PORT}.")
    return DEFAULT_HOST if host.lower() == "localhost" else host, port


def _hosts(text: str | None) -> tuple[str, ...]:
    hosts = tuple(name for part in (text or "").split(",") if (name := part.strip().lower()))
    for name in hosts:
        if not re.fullmatch(_HOST, name):
            raise ValueError(f"--allowed-hosts: {name!r} is no host; say names like tests.example.com, or name:port.")
    return hosts


def _token(given: str | None, file: str | None) -> Token | None:
    if given is not None and file is not None:
        raise ValueError("Both --token-file and PYTEST_MCP_TOKEN are set; keep one.")
    secret = given if file is None else _read(file)
    if secret is None:
        return None
    # Never the token itself in the sentence: it ends up in a log.
    where = "PYTEST_MCP_TOKEN" if file is None else f"The token in {file}"
    if len(secret) < SHORTEST_TOKEN:
        raise ValueError(f"{where} is shorter than {SHORTEST_TOKEN} characters; openssl rand -hex 32 makes a good one.")
    if len(secret) > LONGEST_TOKEN or not re.fullmatch(_BEARER, secret):
        raise ValueError(f"{where} has characters that a bearer token cannot have, or too many.")
    return Token(secret)


def _read(file: str) -> str:
    try:
        # What is no ASCII is no token, and is refused as such.
        with Path(file).expanduser().open(encoding="ascii", errors="replace") as handle:
            return handle.read(LONGEST_TOKEN + 2).strip()
    except (OSError, ValueError, RuntimeError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise ValueError(f"--token-file {file} cannot be read: {reason}.") from error
