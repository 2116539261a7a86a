"""Check whether this version may be published: `release.py TAG OWNER`, before anything is built or uploaded.

The Python index accepts every version only once. So the tag, the change log and the name in the MCP registry are
checked first. Standard library only.
"""

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
MISUSE = 2


def main(arguments: list[str]) -> int:
    if len(arguments) != 2:
        print("Usage: release.py TAG OWNER, for example: release.py v1.2.3 octocat", file=sys.stderr)
        return MISUSE
    complaints = list(find_complaints(*arguments, root=ROOT))
    for complaint in complaints:
        print(complaint, file=sys.stderr)
    return 1 if complaints else 0


def find_complaints(tag: str, owner: str, *, root: Path) -> Iterator[str]:
    """One sentence for each reason not to publish."""
    version = version_of(root)
    if tag != f"v{version}":
        yield f"The tag is {tag}, but the version in src/pytest_mcp/__init__.py is {version}."
    if f"## {version}" not in text(root / "CHANGELOG.md").splitlines():
        yield f"CHANGELOG.md has no section for {version}."
    name = json.loads(text(root / "server.json"))["name"]
    if name.partition("/")[0] != f"io.github.{owner}":
        yield f"The name in server.json is {name}, but {owner} may publish only io.github.{owner}/..."
    if f"<!-- mcp-name: {name} -->" not in text(root / "README.md").splitlines():
        yield f"README.md does not contain mcp-name: {name}, the name in server.json."


def version_of(root: Path) -> str:
    """Parsed, not imported: nothing is installed yet."""
    found = re.search(r'^__version__ = "(.+)"$', text(root / "src" / "pytest_mcp" / "__init__.py"), re.MULTILINE)
    assert found
    return found[1]


def text(path: Path) -> str:
    return path.read_text(encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
