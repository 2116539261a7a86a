"""The coverage of a run on its page: per file, the lines that no test executed.

Pure. In comes the answer's key `coverage`, or None; out comes a section, or nothing.
"""

from typing import Any

from pytest_mcp.page.template import Markup


def section(_coverage: dict[str, Any] | None) -> Markup:
    return Markup()
