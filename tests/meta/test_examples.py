"""The examples fit the command, the server and its image; `make scale` checks them against published schemas."""

import shlex
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from pytest_mcp.config import endpoint
from pytest_mcp.config.options import SETTINGS
from pytest_mcp.server.http_guard import HEALTH
from pytest_mcp.server.http_server import LAST_SECONDS
from tests.support.paths import ROOT

EXAMPLES = ROOT / "examples"
FLAGS = {setting.flag.removeprefix("--") for setting in SETTINGS}


def documents(name: str) -> list[Any]:
    return list(yaml.safe_load_all((EXAMPLES / name).read_text(encoding="utf-8")))


def container(manifest: Any) -> Any:
    (only,) = manifest["spec"]["template"]["spec"]["containers"]
    return only


def settings(arguments: list[str]) -> dict[str, str]:
    return dict(argument.removeprefix("--").split("=", 1) for argument in arguments)


def endpoint_of(served: dict[str, str]) -> endpoint.Endpoint:
    return endpoint.parse(served["http"], token="t" * 64, token_file=None, allowed_hosts=served["allowed-hosts"])


(JOB,) = documents("scale/job.yaml")
DEPLOYMENT, SERVICE = documents("scale/server.yaml")
(WORKFLOW,) = documents("scale/workflow.yml")
COMPOSED: Any = documents("compose.yaml")[0]


@pytest.mark.parametrize("index", [0, 4])
def test_a_pod_runs_the_shard_of_its_index(tmp_path: Path, index: int) -> None:
    """In a real shell, with a program that prints its arguments."""
    program = tmp_path / "pytest-mcp"
    program.write_text('#!/bin/sh\nprintf "%s\\n" "$@"\n', encoding="utf-8")
    program.chmod(0o755)
    pod = container(JOB)
    variables = {entry["name"]: entry["value"] for entry in pod["env"]}
    script = pod["args"][0].replace("/dev/termination-log", shlex.quote(str(tmp_path / "log")))

    done = subprocess.run(
        [*pod["command"], script],
        env={"PATH": f"{tmp_path}:/usr/bin:/bin", "JOB_COMPLETION_INDEX": str(index), **variables},
        capture_output=True,
        text=True,
        check=True,
    )

    words = done.stdout.splitlines()
    assert words[words.index("--shard") + 1] == f"{index + 1}/{JOB['spec']['completions']}"
    assert "--json" in words


def test_the_server_of_the_deployment_starts_accepts_its_probes_and_finds_its_token() -> None:
    pod = container(DEPLOYMENT)
    served = settings(pod["args"])
    parsed = endpoint_of(served)
    probes = [pod[name]["httpGet"] for name in ("readinessProbe", "livenessProbe")]
    (mounted,) = [each["mountPath"] for each in pod["volumeMounts"] if each["name"] == "token"]

    assert set(served) <= FLAGS
    assert [probe["path"] for probe in probes] == [HEALTH, HEALTH]
    assert all(parsed.admits_host(header["value"]) for probe in probes for header in probe["httpHeaders"])
    assert pod["ports"][0]["containerPort"] == parsed.port
    assert parsed.admits_host(SERVICE["metadata"]["name"])
    assert Path(served["token-file"]).parent == Path(mounted)


def test_a_pod_has_time_to_end_its_runs() -> None:
    delay = container(DEPLOYMENT)["lifecycle"]["preStop"]["sleep"]["seconds"]

    assert DEPLOYMENT["spec"]["template"]["spec"]["terminationGracePeriodSeconds"] > delay + LAST_SECONDS


def test_the_workflow_merges_what_its_shards_upload_also_if_some_fail() -> None:
    shard, merge = WORKFLOW["jobs"]["shard"], WORKFLOW["jobs"]["merge"]
    ran = " ".join(step.get("run", "") for step in shard["steps"])
    (upload,) = [step for step in shard["steps"] if "upload-artifact" in step.get("uses", "")]

    assert "--shard ${{ matrix.shard }}/${{ strategy.job-total }} > " + upload["with"]["path"] in ran
    assert shard["strategy"]["fail-fast"] is False
    assert [merge["needs"], merge["if"], upload["if"]] == ["shard", "${{ !cancelled() }}", "${{ !cancelled() }}"]


def test_the_composed_server_starts_accepts_its_health_check_and_has_time_to_stop() -> None:
    server = COMPOSED["services"]["server"]
    served = settings(server["command"])
    parsed = endpoint_of(served)
    places = [volume.rpartition(":")[2] for volume in server["volumes"]]

    assert set(served) <= FLAGS
    assert f"http://127.0.0.1:{parsed.port}{HEALTH}" in server["healthcheck"]["test"][-1]
    assert parsed.admits_host(f"127.0.0.1:{parsed.port}")
    assert served["token-file"] == f"/run/secrets/{server['secrets'][0]}"
    assert f"mkdir {' '.join(places)}" in (ROOT / "packaging" / "Containerfile").read_text(encoding="utf-8")
    assert int(server["stop_grace_period"].rstrip("s")) > LAST_SECONDS
