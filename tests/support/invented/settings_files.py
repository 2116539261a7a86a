"""Settings files of clients, and the entry that is written into them."""

from pathlib import Path

KEYS = ("mcpServers", "pytest")
TOML_KEYS = ("mcp_servers", "pytest")
ENTRY = {"command": "/bin/pytest-mcp", "args": []}


def written(path: Path, content: bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return path
