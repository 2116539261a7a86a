"""`make proxy`: two servers behind the real nginx, with the configuration that examples/nginx.conf shows.

Deselected by default, since nginx is not on every machine.
"""

import os
import re
import signal
import socket
import ssl
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from http.client import HTTPException
from pathlib import Path
from typing import Any

import pytest

from tests.support.paths import ROOT
from tests.support.projects.hanging import MOMENTS, STUBBORN
from tests.support.projects.sources import SLOW_STEPS
from tests.support.protocol.hostile_server import GONE_SECONDS, within
from tests.support.protocol.hostile_web import ERAS, LEGACY, MODERN, TOKEN, Exchange, HostileWeb, posted, written
from tests.support.waiting import PATIENCE

pytestmark = pytest.mark.external(target="proxy")

NGINX = os.environ.get("NGINX", "nginx")
EXAMPLE = ROOT / "examples" / "nginx.conf"
NAME = "tests.example.com"
FINE = {"test_fine.py": "def test_fine(): pass\n"}
# What surrounds the example, with everything that nginx writes in one folder.
AROUND = """
daemon off;
pid {folder}/pid;
error_log {folder}/errors;
{user}
events {{}}
http {{
    access_log off;
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
{example}
}}
"""


@dataclass
class Scene:
    """The project, its servers, and the way to them through nginx."""

    replicas: list[HostileWeb]
    port: int
    context: ssl.SSLContext

    @property
    def root(self) -> Path:
        return self.replicas[0].root

    def connect(self) -> socket.socket:
        plain = socket.create_connection(("127.0.0.1", self.port), PATIENCE)
        return self.context.wrap_socket(plain, server_hostname=NAME)

    def begin(self, era: str, *, token: str = TOKEN, **arguments: Any) -> Exchange:
        client = self.replicas[0]
        client.era = era
        params = {"name": "execute_tests", "arguments": arguments, "_meta": {"progressToken": "p"}}
        headers = {**client.headers(), "Host": NAME, "Authorization": f"Bearer {token}"}
        return Exchange(self.connect(), posted(client.body("tools/call", params), headers))

    def verdict(self, era: str) -> str:
        answer = self.begin(era, path="test_fine.py").answer()
        return str(answer["result"]["structuredContent"]["verdict"])

    def hang(self, era: str) -> tuple[Exchange, HostileWeb]:
        """A call that hangs, and the server that it has come to."""
        self.replicas[0].project({**FINE, "test_a.py": f"{STUBBORN}\n{MOMENTS['a test']}"})
        exchange = self.begin(era, path="test_a.py")
        within(GONE_SECONDS, (self.root / "there").exists)
        (busy,) = [replica for replica in self.replicas if is_busy(replica)]
        return exchange, busy


def is_busy(replica: HostileWeb) -> bool:
    return bool(replica.folders())


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return int(listener.getsockname()[1])


def certificate(folder: Path) -> tuple[Path, Path]:
    key, certified = folder / "key.pem", folder / "certificate.pem"
    subject = ["-subj", f"/CN={NAME}", "-addext", f"subjectAltName=DNS:{NAME}", "-days", "2"]
    made = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", str(key), "-out", str(certified)]
    subprocess.run([*made, *subject], check=True, capture_output=True)
    return key, certified


def configuration(folder: Path, port: int, replicas: list[HostileWeb]) -> str:
    """The example as it stands, but for what is another machine's: ports and certificates."""
    key, certified = certificate(folder)
    changes = {
        r"listen 443 ssl;": f"listen 127.0.0.1:{port} ssl;",
        r"ssl_certificate \S+;": f"ssl_certificate {certified};",
        r"ssl_certificate_key \S+;": f"ssl_certificate_key {key};",
        r"127\.0\.0\.1:8001;": f"127.0.0.1:{replicas[0].port};",
        r"127\.0\.0\.1:8002;": f"127.0.0.1:{replicas[1].port};",
    }
    example = EXAMPLE.read_text(encoding="utf-8")
    for pattern, change in changes.items():
        example, found = re.subn(pattern, change, example)
        assert found == 1, pattern
    # Started by root, its workers would be somebody who may not write here.
    return AROUND.format(folder=folder, example=example, user="user root;" if os.getuid() == 0 else "")


def started(folder: Path, name: str, root: Path | None) -> HostileWeb:
    (folder / name).mkdir()
    shared = [] if root is None else [f"--root={root}"]
    flags = [f"--allowed-hosts={NAME}", "--max-runs=2", *shared]
    return HostileWeb(folder / name, *flags, token=TOKEN)


@pytest.fixture
def scene(tmp_path: Path) -> Iterator[Scene]:
    first = started(tmp_path, "first", None)
    replicas = [first, started(tmp_path, "second", first.root)]
    port = free_port()
    config = tmp_path / "nginx.conf"
    config.write_text(configuration(tmp_path, port, replicas), encoding="utf-8")
    first.project(FINE)
    with subprocess.Popen([NGINX, "-p", tmp_path, "-c", config, "-e", tmp_path / "errors"]) as nginx:
        try:
            within(GONE_SECONDS, (tmp_path / "pid").exists)
            yield Scene(replicas, port, ssl.create_default_context(cafile=tmp_path / "certificate.pem"))
        finally:
            nginx.send_signal(signal.SIGTERM)
            for replica in replicas:
                replica.close()


@pytest.mark.parametrize("era", ERAS)
def test_progress_comes_through_while_the_run_goes_on(scene: Scene, era: str) -> None:
    """Each step waits for the note on the one before it to have arrived."""
    scene.replicas[0].project({"test_steps.py": SLOW_STEPS, "go0": ""})
    exchange = scene.begin(era)

    for message in exchange.messages():
        if "method" not in message:
            break
        (scene.root / f"go{message['params']['progress']:.0f}").touch()

    assert message["result"]["structuredContent"]["summary"]["total"] == 4
    exchange.close()


@pytest.mark.parametrize("era", ERAS)
def test_a_client_that_leaves_takes_its_run_with_it(scene: Scene, era: str) -> None:
    exchange, busy = scene.hang(era)

    exchange.close()

    within(GONE_SECONDS, lambda: not (busy.leftovers() or busy.folders()))
    assert scene.verdict(era) == "passed"


def test_the_token_and_the_name_are_checked_behind_nginx(scene: Scene) -> None:
    health = Exchange(scene.connect(), written("GET /healthz HTTP/1.1", [("Host", NAME)])).whole()
    nowhere = Exchange(scene.connect(), written("GET /nowhere HTTP/1.1", [("Host", NAME)])).whole()
    stranger = scene.begin(LEGACY, token="x" * 40).whole()
    misled = Exchange(scene.connect(), written("GET /healthz HTTP/1.1", [("Host", "evil.example")])).whole()

    assert (health.status, health.body) == (200, b"ok\n")
    assert (nowhere.status, stranger.status, misled.status) == (404, 401, 421)
    assert stranger.headers["www-authenticate"].startswith("Bearer ")


def test_both_servers_have_their_share_of_the_calls(scene: Scene) -> None:
    first, _ = scene.hang(LEGACY)
    (scene.root / "there").unlink()
    second = scene.begin(MODERN, path="test_a.py")
    within(GONE_SECONDS, (scene.root / "there").exists)

    assert [is_busy(replica) for replica in scene.replicas] == [True, True]
    for exchange in (first, second):
        exchange.close()


@pytest.mark.parametrize("era", ERAS)
def test_a_server_that_is_killed_costs_its_calls_and_the_next_one_goes_to_the_other(scene: Scene, era: str) -> None:
    exchange, busy = scene.hang(era)

    busy.process.kill()
    told = seen_of(exchange)

    # A stream that had begun breaks off; an answer that had not is nginx's own.
    assert told == ("broken off" if era == LEGACY else 502)
    assert [scene.verdict(era) for _ in range(4)] == ["passed"] * 4
    busy.assert_gone()


def seen_of(exchange: Exchange) -> int | str:
    try:
        return exchange.whole().status
    except (HTTPException, OSError):
        exchange.close()
        return "broken off"


@pytest.mark.parametrize("era", ERAS)
def test_a_server_that_is_told_to_stop_answers_through_nginx_and_the_next_call_goes_to_the_other(
    scene: Scene, era: str
) -> None:
    exchange, busy = scene.hang(era)

    busy.process.terminate()
    answer = exchange.answer()

    assert answer["error"]["data"]["error_type"] == "interrupted"
    assert [scene.verdict(era) for _ in range(4)] == ["passed"] * 4
    busy.assert_gone()
