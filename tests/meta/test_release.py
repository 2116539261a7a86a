"""What may be published, and what is said of everything that may not."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from pytest_mcp import __version__
from scripts.release import find_complaints, version_of
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


@pytest.mark.parametrize("tag", ["v1.2.4", "1.2.3", "v1.2.3-rc1", ""])
def test_a_tag_that_is_not_the_version_may_not(checkout: Path, tag: str) -> None:
    (complaint,) = find_complaints(tag, "someone", root=checkout)

    assert "1.2.3" in complaint


def test_a_version_that_the_change_log_does_not_know_may_not(checkout: Path) -> None:
    (checkout / "CHANGELOG.md").write_text("## 1.2.30\n", encoding="utf-8")

    (complaint,) = find_complaints("v1.2.3", "someone", root=checkout)

    assert "CHANGELOG.md" in complaint


@pytest.mark.parametrize("owner", ["somebody", "some", "someone.else"])
def test_a_name_in_the_space_of_somebody_else_may_not(checkout: Path, owner: str) -> None:
    (complaint,) = find_complaints("v1.2.3", owner, root=checkout)

    assert f"io.github.{owner}/" in complaint


def test_a_readme_with_another_name_may_not(checkout: Path) -> None:
    (checkout / "README.md").write_text("<!-- mcp-name: io.github.someone/pytest-mcp-server2 -->\n", encoding="utf-8")

    (complaint,) = find_complaints("v1.2.3", "someone", root=checkout)

    assert "README.md" in complaint


def test_the_version_that_is_read_is_the_one_of_the_package() -> None:
    assert version_of(ROOT) == __version__


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
