"""What may be published, and what is said of everything that may not."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from scripts.release import find_complaints
from tests.support.paths import ROOT

FIT = {
    "src/pytest_mcp/__init__.py": '__version__ = "1.2.3"\n',
    "CHANGELOG.md": "# Changelog\n\n## 1.2.3\n",
    "server.json": json.dumps({"name": "io.github.someone/pytest-mcp-server"}),
    "README.md": "# pytest-mcp\n\n<!-- mcp-name: io.github.someone/pytest-mcp-server -->\n",
}


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    for name, content in FIT.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(content, encoding="utf-8")
    return tmp_path


def test_a_version_that_fits_may_be_published(checkout: Path) -> None:
    assert list(find_complaints("v1.2.3", "someone", root=checkout)) == []


@pytest.mark.parametrize(
    ("tag", "owner", "change", "named"),
    [
        pytest.param("v1.2.4", "someone", {}, "1.2.3", id="another version"),
        pytest.param("1.2.3", "someone", {}, "1.2.3", id="no tag of a version"),
        pytest.param("v1.2.3", "someone", {"CHANGELOG.md": "## 1.2.30\n"}, "CHANGELOG.md", id="change log"),
        pytest.param("v1.2.3", "some", {}, "io.github.some/", id="the name space of somebody else"),
        pytest.param("v1.2.3", "someone", {"README.md": "<!-- mcp-name: another -->\n"}, "README.md", id="readme"),
    ],
)
def test_what_does_not_fit_is_named_and_may_not_be_published(
    checkout: Path, tag: str, owner: str, change: dict[str, str], named: str
) -> None:
    for name, content in change.items():
        (checkout / name).write_text(content, encoding="utf-8")

    (complaint,) = find_complaints(tag, owner, root=checkout)

    assert named in complaint


@pytest.mark.parametrize(("arguments", "code"), [((), 2), (("v0.0.0", "nobody"), 1)])
def test_the_script_says_what_is_wrong_and_exits_accordingly(arguments: tuple[str, ...], code: int) -> None:
    done = subprocess.run(
        # Isolated, as it runs before anything is installed.
        [sys.executable, "-I", "-S", ROOT / "scripts" / "release.py", *arguments],
        capture_output=True,
        text=True,
        check=False,
    )

    assert (done.returncode, done.stdout) == (code, "")
    assert re.search(r"v0\.0\.0|TAG", done.stderr)
