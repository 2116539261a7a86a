"""The address of a server on HTTP, as it is typed after --url."""

from urllib.parse import urlsplit

from pytest_mcp.config.model import TOKEN_VARIABLE, ConfigError


def checked_url(text: str) -> str:
    """The same text; raises ConfigError if it is no address, or contains a password."""
    try:
        parts = urlsplit(text)
        is_address = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        is_address = False
    if not is_address or any(character.isspace() for character in text):
        raise ConfigError("--url needs an address, for example http://127.0.0.1:8000/mcp.")
    if parts.username is not None:
        raise ConfigError(f"--url must not contain a password; set the server's token in {TOKEN_VARIABLE}.")
    return text
