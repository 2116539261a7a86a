"""Ways in which this program can be installed."""

from pathlib import Path

from pytest_mcp.cli.setup.plan import Installation


def running(prefix: Path, *, script: Path | None = None, search_path: str = "") -> Installation:
    python = prefix / "bin" / "python"
    return Installation(script or Path("/x/__main__.py"), python, prefix, "pytest-mcp-server", search_path)
