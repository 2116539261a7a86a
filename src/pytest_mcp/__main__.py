"""`python -m pytest_mcp`: the same as the `pytest-mcp` command."""

import sys

from pytest_mcp.cli import main

if __name__ == "__main__":
    sys.exit(main())
