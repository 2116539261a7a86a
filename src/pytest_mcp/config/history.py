"""The address of the history: where runs are recorded, and what of it may be shown.

Loaded only if a history is named.
"""

from pathlib import Path
from urllib.parse import parse_qsl, urlsplit

_SCHEMES = ("postgresql://", "postgres://")
_SECRETS = ("password", "sslpassword", "passfile")


def is_postgres(address: str) -> bool:
    return address.startswith(_SCHEMES)


def parse(given: str, *, from_variable: bool) -> str:
    """An absolute path, or a URL of PostgreSQL; raises ValueError with a sentence for the operator."""
    if not is_postgres(given):
        if "://" in given:
            raise ValueError("--history must be a file or a URL that begins with postgresql://.")
        try:
            return str(Path.cwd() / Path(given).expanduser())
        except RuntimeError as error:
            raise ValueError("--history names a home folder that does not exist.") from error
    if has_password(given) and not from_variable:
        raise ValueError(
            "--history has a password, and every process can read a command line; set PYTEST_MCP_HISTORY to this URL"
            " instead, or leave the password to ~/.pgpass."
        )
    return given


def has_password(address: str) -> bool:
    """True as well if the URL cannot be parsed: it may contain one."""
    try:
        parts = urlsplit(address)
        return parts.password is not None or any(name in _SECRETS for name, _ in parse_qsl(parts.query))
    except ValueError:
        return True


def display_name(address: str) -> str:
    """How it is named in logs, notices and errors: a path as it is, a database by its host and name."""
    if not is_postgres(address):
        return address
    try:
        parts = urlsplit(address)
        place = f"{parts.hostname or 'localhost'}{f':{parts.port}' if parts.port else ''}"
    except ValueError:
        return "the PostgreSQL database"
    return f"the PostgreSQL database {place}{parts.path.rstrip('/')}"
