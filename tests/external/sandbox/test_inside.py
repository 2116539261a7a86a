"""`make sandbox`: what the server does outside of a sandbox it does inside, and it knows where it is."""

import json
import threading
from collections.abc import Iterator
from http.server import HTTPServer, SimpleHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest

from tests.external.sandbox.engines import Caged, own_address
from tests.support.git import commit_all
from tests.support.protocol.raw_client import RawClient
from tests.support.waiting import PATIENCE

pytestmark = pytest.mark.external(target="sandbox")

NETWORK = {"srt": "proxy", "bwrap": "none"}
PASSING = "def test_fine(): pass\n"
LEAVES = """
import subprocess, time
def test_leaves():
    subprocess.Popen(["sleep", "600"], start_new_session=True)
def test_hangs():
    subprocess.Popen(["sleep", "600"])
    time.sleep(600)
"""
WANTS = """
import pathlib, urllib.request
def test_network(): urllib.request.urlopen("http://api.example.com/")
def test_system(): pathlib.Path("/usr/share/x").write_text("x")
def test_home(): (pathlib.Path.home() / ".aws" / "config").read_text()
"""
OLD = "def total(prices): return sum(prices)\n"
NEW = "def total(prices): return sum(prices) + 1\n"
USES = "from shop import total\n\ndef test_total(): assert total([1, 2]) == 3\n"


class InsideClient(RawClient):
    """A client that starts the server as its settings say."""

    def __init__(self, cage: Caged) -> None:
        super().__init__(cage.command, cwd=cage.project, env=cage.environment, log=cage.home / "log")
        self.greeted()

    def called(self, tool: str = "execute_tests", **arguments: Any) -> dict[str, Any]:
        reply = self.reply(self.begin(tool, **arguments), limit=4 * PATIENCE)
        return dict(reply["result"]["structuredContent"] if "result" in reply else reply["error"]["data"])


@pytest.fixture
def client(cage: Caged) -> Iterator[InsideClient]:
    with InsideClient(cage) as client:
        yield client


def write(cage: Caged, **files: str) -> None:
    for name, text in files.items():
        (cage.project / f"{name}.py").write_text(text, encoding="utf-8")


def test_runs_in_a_row_pass_with_workers_and_coverage_too(cage: Caged, client: InsideClient) -> None:
    write(cage, test_fine=PASSING)

    verdicts = [client.called(**more)["verdict"] for more in ({}, {}, {"workers": 2}, {"coverage": "all"})]

    assert verdicts == ["passed"] * 4


def test_what_a_run_leaves_or_hangs_in_is_ended_and_the_next_run_works(cage: Caged, client: InsideClient) -> None:
    write(cage, test_left=LEAVES, test_fine=PASSING)

    left = client.called(node_ids=["test_left.py::test_leaves"])
    hung = client.called(node_ids=["test_left.py::test_hangs"], timeout=3)

    assert (left["verdict"], len(left["notices"])) == ("passed", 1)
    assert hung["timeout_exceeded"] is True
    assert hung["partial"]["running"] == ["test_left.py::test_hangs"]
    assert client.called(path="test_fine.py")["verdict"] == "passed"


def test_a_cancelled_run_is_over_at_once(cage: Caged, client: InsideClient) -> None:
    write(cage, test_left=LEAVES, test_fine=PASSING)

    number = client.begin("execute_tests", node_ids=["test_left.py::test_hangs"])
    client.cancel(number)

    assert client.called(path="test_fine.py")["verdict"] == "passed"


def test_a_failure_is_investigated_against_the_base(cage: Caged, client: InsideClient) -> None:
    write(cage, shop=OLD, test_shop=USES)
    commit_all(cage.project)
    write(cage, shop=NEW)

    answer = client.called("investigate_failure", node_id="test_shop.py::test_total", runs=2)

    assert answer["kind"] == "deterministic"
    assert [each["function"] for each in answer["first_difference"]] == ["total"]


def test_the_server_knows_what_it_tried_and_says_of_a_failure_how_to_allow_it(
    cage: Caged, client: InsideClient
) -> None:
    write(cage, test_wants=WANTS)

    sandbox = client.called("explain_environment")["sandbox"]
    (notice,) = client.called()["notices"]

    assert sandbox == {
        "by": "srt" if cage.engine == "srt" else "bubblewrap",
        "writable": [str(cage.project), "/tmp"],
        "lost": [str(cage.home)],
        "network": NETWORK[cage.engine],
        "unix_sockets": cage.engine == "bwrap",
    }
    assert all(word in notice for word in ("--sandbox-allow api.example.com", "wrote /usr/share/x", ".aws/config"))


def test_srt_lets_an_allowed_host_through(cage: Caged) -> None:
    if cage.engine == "bwrap" or (address := own_address()) is None:
        pytest.skip("bubblewrap allows no host, and without a network there is none")
    server = HTTPServer((address, 0), SimpleHTTPRequestHandler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    place = f"{address}:{server.server_port}"
    write(cage, test_call=f"import urllib.request\ndef test_call(): urllib.request.urlopen('http://{place}/')\n")

    with InsideClient(cage) as client:
        refused = client.called()
    cage.set_up(f"--sandbox-allow={place}")
    with InsideClient(cage) as client:
        allowed = client.called()
    server.shutdown()
    server.server_close()

    assert (refused["verdict"], allowed["verdict"]) == ("failed", "passed")


def test_runs_are_recorded_in_an_operators_history(cage: Caged) -> None:
    database = cage.home / "runs" / "history.db"
    database.parent.mkdir()
    write(cage, test_fine=PASSING)
    cage.set_up(options=[f"--history={database}"])

    with InsideClient(cage) as client:
        client.called()

    assert database.stat().st_size > 0


def test_what_setup_has_written_is_taken_out_again(cage: Caged) -> None:
    cage.typed("setup", "--remove", "--yes")

    assert not (cage.project / ".mcp.json").exists()
    assert not list(Path(cage.home).rglob("srt.json"))
    assert json.loads(cage.typed("call", "discover_tests").stdout)["count"] == 0
