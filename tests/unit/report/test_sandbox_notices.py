"""Failures that the sandbox around the server has caused, and those that only look like it."""

from dataclasses import replace
from typing import Any

import pytest

from pytest_mcp.process.confinement import SandboxLimits
from pytest_mcp.report.notices import execution_notices
from tests.support.invented.records import execution, one_test, phase, raised, session

SRT = SandboxLimits("srt", ("/project", "/tmp"), ("/home/you",), "proxy", unix_sockets=False)
BUBBLEWRAP = SRT._replace(by="bubblewrap", network="none", unix_sockets=True)
KEPT = "The sandbox of the server ({}) keeps runs from what some failed tests wanted: test_a.py::test_one {}."


def said(sandbox: SandboxLimits | None, failure: Any) -> list[str]:
    run = execution(session(one_test("test_a.py::test_one", failure), selected=1, exit_status=1), code=1)
    return execution_notices(replace(run, sandbox=sandbox))


def called(host: str, flag: str = "`pytest-mcp setup --sandbox-allow {}`") -> str:
    return f"called {host} ({flag.format(host)})"


@pytest.mark.parametrize(
    ("failure", "wanted"),
    [
        (
            raised("OSError: [Errno 30] Read-only file system: '/usr/x'", "test_a.py:2"),
            "wrote /usr/x (`pytest-mcp setup --sandbox-write PATH`)",
        ),
        (
            raised("FileNotFoundError: [Errno 2] No such file or directory: '/home/you/.aws/config'", "test_a.py:2"),
            "read /home/you/.aws/config, which is hidden (`pytest-mcp setup --sandbox-write PATH`)",
        ),
        # requests has the host in its message.
        (
            raised(
                "requests.exceptions.ProxyError: HTTPSConnectionPool(host='api.example.com', port=443): Max retries"
                " exceeded (Caused by ProxyError('Tunnel connection failed: 403 Forbidden'))",
                "test_a.py:2",
            ),
            called("api.example.com"),
        ),
        # urllib has it in the statement of the test.
        (
            raised(
                "urllib.error.HTTPError: HTTP Error 403: Forbidden",
                ("test_a.py:2", "test_one", 'urlopen("http://api.example.com/x")'),
                "/lib/urllib/request.py:9",
            ),
            called("api.example.com"),
        ),
        # Nobody has it.
        (
            raised("OSError: [Errno 101] Network is unreachable", "test_a.py:2"),
            "called a host (`pytest-mcp setup --sandbox-allow HOST`)",
        ),
        (
            raised("PermissionError: [Errno 1] Operation not permitted", "test_a.py:2", "/lib/python3.11/socket.py:7"),
            "opened a Unix socket (srt allows none)",
        ),
    ],
)  # fmt: skip
def test_what_was_wanted_is_said_with_how_to_allow_it(failure: Any, wanted: str) -> None:
    assert said(SRT, failure) == [KEPT.format("srt", wanted)]
    assert said(None, failure) == []


def test_bubblewrap_lets_no_single_host_through() -> None:
    failure = raised(
        "socket.gaierror: [Errno -3] Temporary failure in name resolution",
        ("test_a.py:2", "test_one", 'connect(("db.example.com", 5432))'),
    )

    with_srt = called("db.example.com", "with srt: `pytest-mcp setup --sandbox-allow {}`")
    assert said(BUBBLEWRAP, failure) == [KEPT.format("bubblewrap", with_srt)]


@pytest.mark.parametrize(
    "failure",
    [
        raised("AssertionError: assert 403 == 200", "test_a.py:2"),
        # Of a server that the test has started itself.
        raised(
            "urllib.error.HTTPError: HTTP Error 403: Forbidden", ("test_a.py:2", "t", 'get("http://127.0.0.1:80/")')
        ),
        raised("FileNotFoundError: [Errno 2] No such file or directory: '/project/data.csv'", "test_a.py:2"),
        raised("FileNotFoundError: [Errno 2] No such file or directory: '/home/youth/x'", "test_a.py:2"),
        raised("PermissionError: [Errno 13] Permission denied: '/etc/shadow'", "test_a.py:2"),
        raised("ConnectionRefusedError: [Errno 111] Connection refused", "test_a.py:2", "/lib/socket.py:1"),
        phase(),
    ],
)
def test_what_would_have_failed_without_a_sandbox_is_not_its_fault(failure: Any) -> None:
    assert said(SRT, failure) == []


def test_with_a_network_a_host_that_is_not_known_is_not_the_sandboxs_fault() -> None:
    unknown = raised("socket.gaierror: [Errno -2] Name or service not known", "test_a.py:2")

    assert said(SRT._replace(network="open"), unknown) == []
    assert len(said(SRT, unknown)) == 1
