"""Hostile projects that look green and are not, or red and are not."""

from typing import Any

import pytest

from tests.support.protocol.hostile_server import HostileServer
from tests.support.workbench import Failure

BEFORE = "def test_before(): pass\n"
BAD = "def test_bad(): assert 0\n"


def ini(addopts: str) -> dict[str, str]:
    return {"pytest.ini": f"[pytest]\naddopts = {addopts}\n"}


LEAVES: dict[str, dict[str, str]] = {
    "a test": {"test_b.py": "import os\ndef test_leaves(): os._exit(0)\ndef test_after(): pass\n"},
    "an import": {"test_b.py": "import os\nos._exit(0)\n"},
    "a conftest": {"conftest.py": "import os\nos._exit(0)\n"},
    "a conftest, politely": {"conftest.py": "import sys\nsys.exit(0)\n"},
}


@pytest.mark.parametrize("where", LEAVES)
def test_leaving_with_exit_code_0_is_a_crash(server: HostileServer, where: str) -> None:
    server.project({"test_a.py": BEFORE, **LEAVES[where]})

    failure = server.failure("crash")

    partial = failure.data["partial"]
    assert failure.data["exit_code"] == 0
    if where == "a test":
        assert "running: test_b.py::test_leaves" in failure.message
        assert (partial["verdict"], partial["summary"]["passed"]) == ("incomplete", 1)
        assert (partial["running"], partial["not_run"]) == (["test_b.py::test_leaves"], 1)
    else:
        assert partial is None


HIDES = {
    "pytest.exit": {"test_b.py": "import pytest\ndef test_stops(): pytest.exit('enough', returncode=0)\n"},
    "sessionfinish": {"conftest.py": "def pytest_sessionfinish(session): session.exitstatus = 0\n"},
    "a late sessionfinish": {
        "conftest.py": """
        import pytest
        @pytest.hookimpl(hookwrapper=True, trylast=True)
        def pytest_sessionfinish(session):
            yield
            session.exitstatus = 0
        """
    },
    "no failures left": {
        "conftest.py": """
        import pytest
        @pytest.hookimpl(hookwrapper=True)
        def pytest_runtestloop(session):
            yield
            session.testsfailed = 0
        """
    },
    "os._exit in sessionfinish": {"conftest.py": "import os\ndef pytest_sessionfinish(): os._exit(0)\n"},
    "an exit handler": {"conftest.py": "import atexit, os\natexit.register(os._exit, 0)\n"},
}


@pytest.mark.parametrize("how", HIDES)
def test_a_failure_is_reported_however_the_session_hides_it(server: HostileServer, how: str) -> None:
    server.project({"test_a.py": BEFORE + BAD, **HIDES[how]})

    answer = server.call()

    report = answer.data["partial"] if isinstance(answer, Failure) else answer
    assert (report["summary"]["passed"], report["summary"]["failed"]) == (1, 1)
    assert [test["node_id"] for test in report["tests"] if test["outcome"] == "failed"] == ["test_a.py::test_bad"]
    if isinstance(answer, Failure):
        assert answer.data["error_type"] in ("crash", "interrupted")
        assert "1 failed" in answer.message
    else:
        assert answer["verdict"] == "failed"
        assert answer["notices"]


# With the verdict, or the error that says why there is none.
NOT_RUN = {
    "--co": (ini("--co"), "incomplete"),
    "--setup-plan": (ini("--setup-plan"), "incomplete"),
    "--help": (ini("--help"), "usage_error"),
    "--markers": (ini("--markers"), "usage_error"),
    "--fixtures": (ini("--fixtures"), "incomplete"),
    "--cache-show": (ini("--cache-show"), "incomplete"),
    "a hook that skips the loop": (
        {"conftest.py": "def pytest_runtestloop(session): return True\n"},
        "incomplete",
    ),
    "a hook that empties the items": (
        {"conftest.py": "def pytest_collection_modifyitems(items): items.clear()\n"},
        "no_tests",
    ),
    "a hook that replaces the run": ({"conftest.py": "def pytest_cmdline_main(config): return 0\n"}, "crash"),
}
QUESTIONS = ("--help", "--markers", "--fixtures", "--cache-show")


@pytest.mark.parametrize("how", NOT_RUN)
def test_tests_that_never_ran_are_no_pass_and_the_reason_is_told(server: HostileServer, how: str) -> None:
    files, expected = NOT_RUN[how]
    server.project({"test_a.py": BAD, **files})

    answer = server.call()

    if isinstance(answer, Failure):
        assert (answer.code, answer.data["error_type"]) == (-32000, expected)
        told = answer.message
    else:
        assert (answer["verdict"], answer["summary"]["passed"]) == (expected, 0)
        told = " ".join(answer["notices"])
    assert told
    assert how not in QUESTIONS or "addopts" in told


UNREGISTERS = """
    import pytest
    @pytest.hookimpl(trylast=True)
    def pytest_configure(config):
        for name, plugin in list(config.pluginmanager.list_name_plugin()):
            if plugin is not None and "eporter" in type(plugin).__name__:
                config.pluginmanager.unregister(plugin)
"""

CHANGED = {
    "-p no:terminal": ini("-p no:terminal"),
    "-qqq": ini("-qqq"),
    "--pdb": ini("--pdb"),
    "--trace": ini("--trace"),
    "fewer plugins": ini("-s --tb=no -p no:faulthandler -p no:cacheprovider -p no:logging -p no:warnings"),
    "a plugin that unregisters others": {"conftest.py": UNREGISTERS},
}


@pytest.mark.parametrize("how", CHANGED)
def test_options_that_change_pytest_change_no_result(server: HostileServer, how: str) -> None:
    server.project({"test_a.py": BEFORE + BAD, **CHANGED[how]})

    answer = server.call()

    if isinstance(answer, Failure):
        assert how in ("--pdb", "--trace", "a plugin that unregisters others"), answer.message
        assert answer.data["error_type"] in ("crash", "interrupted")
    else:
        assert (answer["verdict"], answer["exit_code"]) == ("failed", 1)
        assert (answer["summary"]["passed"], answer["summary"]["failed"]) == (1, 1)
        assert answer["tests"][0]["message"] == "AssertionError: assert 0"


NAMES = [
    "a b", "a/b", "a::b", "[x]", "]", "--co", "@file", "-pX", "..", "~", "a\nb", "a\tb", "\\", "'", '"', "%s", "{}",
    "日本語", "Ж", "e\u0301", "\u202e", "\udc80", "\0", "é", "a[1]", "::", "a]::b[", " ", "", "or", "not x", "🙂",
]  # fmt: skip


def test_every_reported_id_runs_exactly_its_own_test_again(server: HostileServer) -> None:
    source = f"import pytest\n@pytest.mark.parametrize('name', {NAMES!r}, ids=lambda name: name)\ndef test_n(name): "
    server.project({"tests/test_a.py": f"{source}assert 0, name\n", "tests/test_b.py": f"{source}pass\n"})
    answer = server.result(detail="tests", max_tokens=100_000)
    ids = [test["node_id"] for test in answer["tests"]]
    assert len(set(ids)) == 2 * len(NAMES)

    again = server.result(node_ids=ids, detail="tests", max_tokens=100_000)
    sampled = [server.result(node_ids=[node_id]) for node_id in ids[::30]]

    assert sorted(test["node_id"] for test in again["tests"]) == sorted(ids)
    assert counts(answer) == counts(again) == (len(NAMES), len(NAMES))
    assert [[test["node_id"] for test in answer["tests"]] for answer in sampled] == [[one] for one in ids[::30]]


def counts(answer: dict[str, Any]) -> tuple[int, int]:
    return answer["summary"]["passed"], answer["summary"]["failed"]


def test_two_thousand_tests_are_counted_exactly(server: HostileServer) -> None:
    source = "import pytest\n@pytest.mark.parametrize('n', range(2000))\ndef test_n(n): assert n % 400\n"
    server.project({"test_a.py": source})

    answer = server.result()

    assert counts(answer) == (1995, 5)
    assert answer["summary"]["total"] == 2000
    assert answer["verdict"] == "failed"
    assert answer["rerun"] == {"node_ids": [f"test_a.py::test_n[{n}]" for n in range(0, 2000, 400)]}
