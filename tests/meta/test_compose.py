"""examples/compose.yaml fits the server and its image."""

from typing import Any

import yaml

from pytest_mcp.config import endpoint
from pytest_mcp.config.options import SETTINGS
from pytest_mcp.server.http_guard import HEALTH
from pytest_mcp.server.http_server import LAST_SECONDS
from tests.support.paths import ROOT

COMPOSED: Any = yaml.safe_load((ROOT / "examples" / "compose.yaml").read_text(encoding="utf-8"))
SERVER = COMPOSED["services"]["server"]
SERVED = dict(argument.removeprefix("--").split("=", 1) for argument in SERVER["command"])


def test_the_composed_server_starts_and_accepts_its_health_check() -> None:
    parsed = endpoint.parse(SERVED["http"], token="t" * 64, token_file=None, allowed_hosts=SERVED["allowed-hosts"])

    assert set(SERVED) <= {setting.flag.removeprefix("--") for setting in SETTINGS}
    assert f"http://127.0.0.1:{parsed.port}{HEALTH}" in SERVER["healthcheck"]["test"][-1]
    assert parsed.admits_host(f"127.0.0.1:{parsed.port}")
    assert SERVER["ports"] == [f"127.0.0.1:{parsed.port}:{parsed.port}"]


def test_the_composed_server_gets_its_token_its_project_and_time_to_stop() -> None:
    places = [volume.rpartition(":")[2] for volume in SERVER["volumes"]]
    image = (ROOT / "packaging" / "Containerfile").read_text(encoding="utf-8")

    assert SERVED["token-file"] == f"/run/secrets/{SERVER['secrets'][0]}"
    assert COMPOSED["secrets"].keys() == set(SERVER["secrets"])
    assert f"mkdir {' '.join(places)}" in image
    assert int(SERVER["stop_grace_period"].rstrip("s")) > LAST_SECONDS
