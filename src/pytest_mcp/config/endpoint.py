"""The HTTP address, token and accepted host names of the server.

Without a token, only a loopback address is allowed. What cannot be used is a ValueError with one sentence for the
operator. Imported before the first answer on stdio, so it imports little and reads no file unless one is set.
"""

import re
from pathlib import Path
from typing import NamedTuple

DEFAULT_HOST = "127.0.0.1"
DEFAULT = f"{DEFAULT_HOST}:8000"
# A shorter token could be guessed. `openssl rand -hex 32` prints four times as many characters.
SHORTEST_TOKEN = 16
# A longer one means that the wrong file was named.
MAX_TOKEN = 4096

LOOPBACK_NAMES = ("127.0.0.1", "localhost", "[::1]")
# Not compiled here: on stdio none of them is used.
_LOOPBACK = r"127(\.\d{1,3}){3}|\[::1\]"
_ADDRESS = r"(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+)?(?::(\d{1,5}))?"
# A name, optionally with a port.
_HOST = r"(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(?::\d{1,5})?"
# What may follow the word Bearer in an Authorization header (RFC 6750).
_BEARER = r"[A-Za-z0-9._~+/-]+=*"


class Token:
    """A secret whose repr does not contain it, so that it does not get into logs and tracebacks."""

    __slots__ = ("secret",)

    def __init__(self, secret: str) -> None:
        self.secret = secret

    def __repr__(self) -> str:
        return "Token(hidden)"


class Endpoint(NamedTuple):
    host: str
    port: int
    token: Token | None
    # The accepted values of the Host header. A name without a port accepts every port.
    allowed_hosts: tuple[str, ...]
    # Sentences for the log.
    warnings: tuple[str, ...] = ()
    # Whether /metrics is served.
    metrics: bool = False

    def admits_host(self, host: str) -> bool:
        """Whether this Host header names this server. This defends against DNS rebinding."""
        match = re.fullmatch(_HOST, host.lower())
        return match is not None and (match[0] in self.allowed_hosts or match[1] in self.allowed_hosts)

    def admits_origin(self, origin: str) -> bool:
        """Whether this Origin header, sent by a browser, names this server."""
        match = re.fullmatch(r"https?://(.+)", origin)
        return match is not None and self.admits_host(match[1])


def parse(address: str, *, token: str | None, token_file: str | None, allowed_hosts: str | None) -> Endpoint:
    host, port = _address(address)
    hosts = _hosts(allowed_hosts)
    secret = _token(token, token_file)
    if not re.fullmatch(_LOOPBACK, host):
        needed = [] if secret else ["a token (PYTEST_MCP_TOKEN or --token-file)"]
        needed += [] if hosts else ["--allowed-hosts (the host names that clients use)"]
        if needed:
            raise ValueError(f"--http {address} accepts other machines and needs {' and '.join(needed)}.")
    return Endpoint(host.strip("[]"), port, secret, hosts or LOOPBACK_NAMES, _warnings(token_file))


def _address(text: str) -> tuple[str, int]:
    """A host, a port, or both. `localhost` is not looked up: it always means 127.0.0.1."""
    match = re.fullmatch(_ADDRESS, f":{text}" if text.isdecimal() else text)
    if match is None:
        raise ValueError(f"--http {text!r} is not an address; use HOST:PORT, for example {DEFAULT} or [::1]:8000.")
    host, port = match[1] or DEFAULT_HOST, int(match[2] or 8000)
    if port > 65_535:
        raise ValueError(f"--http {text!r}: the port must be at most 65535.")
    return DEFAULT_HOST if host.lower() == "localhost" else host, port


def _hosts(text: str | None) -> tuple[str, ...]:
    hosts = tuple(name for part in (text or "").split(",") if (name := part.strip().lower()))
    for name in hosts:
        if not re.fullmatch(_HOST, name):
            raise ValueError(f"--allowed-hosts: {name!r} is not a host; use NAME or NAME:PORT, as tests.example.com.")
    return hosts


def _token(given: str | None, file: str | None) -> Token | None:
    if given is not None and file is not None:
        raise ValueError("Both --token-file and PYTEST_MCP_TOKEN are set; keep one.")
    secret = given if file is None else _read(file)
    if secret is None:
        return None
    # Never the token itself in a message: it would get into a log.
    where = "PYTEST_MCP_TOKEN" if file is None else f"The token in {file}"
    if len(secret) < SHORTEST_TOKEN:
        raise ValueError(f"{where} is shorter than {SHORTEST_TOKEN} characters; `openssl rand -hex 32` creates one.")
    if len(secret) > MAX_TOKEN or not re.fullmatch(_BEARER, secret):
        raise ValueError(
            f"{where} is longer than {MAX_TOKEN} characters or has characters that are invalid in a bearer token."
        )
    return Token(secret)


def _warnings(token_file: str | None) -> tuple[str, ...]:
    """Not for a file that its group can read: that may be the only way to give it to the server's user."""
    if token_file is None or not Path(token_file).expanduser().stat().st_mode & 0o007:
        return ()
    return (f"Every user of this machine can read or change the token; run `chmod 600 {token_file}`.",)


def _read(file: str) -> str:
    try:
        # Replacement characters are refused as invalid in a token.
        with Path(file).expanduser().open(encoding="ascii", errors="replace") as handle:
            return handle.read(MAX_TOKEN + 2).strip()
    except (OSError, ValueError, RuntimeError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise ValueError(f"--token-file {file} cannot be read: {reason}.") from error
