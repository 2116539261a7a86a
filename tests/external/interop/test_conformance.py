"""`make conformance`: the official suite and the official inspector find nothing wrong with this server.

Deselected by default, since both have to be fetched.
"""

import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from pytest_mcp.server import apps_page
from pytest_mcp.tools import TOOLS
from scripts.npm import PACKAGES, node
from tests.external.interop import project
from tests.support.captured import captured
from tests.support.projects.project_files import write_files
from tests.support.protocol import servers

pytestmark = pytest.mark.external(target="conformance")

SUITE = PACKAGES["conformance"].file("@modelcontextprotocol/conformance/dist/index.js")
INSPECTOR = PACKAGES["inspector"].file(".bin/mcp-inspector")
EXPECTED = Path(__file__).with_name("expected_failures.yaml")
# Both take seconds; a scenario that hangs ends after half a minute by itself.
OFFICIAL_SECONDS = 240


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small project; nothing of it is run."""
    folder = tmp_path_factory.mktemp("project")
    write_files(folder, project.FILES)
    return folder


@pytest.fixture(scope="module")
def served(root: Path) -> Iterator[str]:
    with servers.serving(root, Path(servers.PYTHON)) as url:
        yield url


def run(*arguments: str | Path, home: Path) -> "subprocess.CompletedProcess[str]":
    return captured([node(), *arguments], cwd=home, env=os.environ | {"HOME": str(home)}, timeout=OFFICIAL_SECONDS)


@pytest.mark.parametrize("version", ["2025-11-25", "2026-07-28"])
def test_the_official_suite_fails_only_where_it_tests_what_is_not_offered(
    served: str, tmp_path: Path, version: str
) -> None:
    """All of its scenarios, also those that are not in its default selection yet."""
    which = ["--suite", "all", "--spec-version", version]

    done = run(SUITE, "server", "--url", served, *which, "--expected-failures", EXPECTED, home=tmp_path)

    assert done.returncode == 0, done.stdout[done.stdout.find("=== SUMMARY") :] + done.stderr
    assert "✓ tools-list" in done.stdout


@pytest.mark.parametrize("era", ["legacy", "modern"])
@pytest.mark.parametrize("wire", ["stdio", "http"])
def test_the_official_inspector_has_no_error_and_no_warning_about_the_tools(
    request: pytest.FixtureRequest, root: Path, tmp_path: Path, wire: str, era: str
) -> None:
    stdio: list[str | Path] = [servers.PROGRAM, "--cwd", root]
    target = [request.getfixturevalue("served")] if wire == "http" else stdio
    method = ["--method", "tools/list", "--strict", "--protocol-era", era]

    done = run(INSPECTOR, "--cli", *target, *method, home=tmp_path)

    assert (done.returncode, done.stderr) == (0, "")
    assert [tool["name"] for tool in json.loads(done.stdout)["tools"]] == [tool.name for tool in TOOLS]


@pytest.mark.parametrize("era", ["legacy", "modern"])
def test_the_official_inspector_finds_the_page_only_if_it_announces_apps(root: Path, tmp_path: Path, era: str) -> None:
    asked = ["--method", "tools/call", "--tool-name", "execute_tests", "--app-info", "--protocol-era", era]

    told = [
        json.loads(run(INSPECTOR, "--cli", servers.PROGRAM, "--cwd", root, *asked, *flags, home=tmp_path).stdout)
        for flags in ([], ["--advertise-apps"])
    ]

    assert [each["hasApp"] for each in told] == [False, True]
    assert (told[1]["resourceUri"], told[1]["resourceMimeType"]) == (apps_page.URI, apps_page.MIME_TYPE)
