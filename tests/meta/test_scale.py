"""The examples of docs/scale.md fit the command and the server; `make scale` checks them against published schemas."""

import shlex
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from pytest_mcp.config import endpoint
from pytest_mcp.config.options import SETTINGS
from pytest_mcp.server.http_guard import HEALTH, METHODS
from pytest_mcp.server.http_server import LAST_SECONDS
from tests.support.paths import ROOT

EXAMPLES = ROOT / "examples" / "scale"


def documents(name: str) -> list[Any]:
    return list(yaml.safe_load_all((EXAMPLES / name).read_text(encoding="utf-8")))


def container(manifest: Any) -> Any:
    (only,) = manifest["spec"]["template"]["spec"]["containers"]
    return only


(JOB,) = documents("job.yaml")
DEPLOYMENT, SERVICE = documents("server.yaml")
(WORKFLOW,) = documents("workflow.yml")
SERVED = dict(argument.removeprefix("--").split("=", 1) for argument in container(DEPLOYMENT)["args"])


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


def test_the_server_of_the_deployment_starts_and_accepts_its_probes() -> None:
    known = {setting.flag.removeprefix("--") for setting in SETTINGS}
    parsed = endpoint.parse(SERVED["http"], token="t" * 64, token_file=None, allowed_hosts=SERVED["allowed-hosts"])
    probes = [container(DEPLOYMENT)[name]["httpGet"] for name in ("readinessProbe", "livenessProbe")]

    assert set(SERVED) <= known
    assert [probe["path"] for probe in probes] == [HEALTH, HEALTH]
    assert "GET" in METHODS[HEALTH]
    assert all(parsed.admits_host(header["value"]) for probe in probes for header in probe["httpHeaders"])
    assert container(DEPLOYMENT)["ports"][0]["containerPort"] == parsed.port
    assert parsed.admits_host(SERVICE["metadata"]["name"])


def test_the_token_is_where_the_server_looks_for_it() -> None:
    (mounted,) = [each["mountPath"] for each in container(DEPLOYMENT)["volumeMounts"] if each["name"] == "token"]

    assert Path(SERVED["token-file"]).parent == Path(mounted)


def test_a_pod_has_time_to_end_its_runs() -> None:
    pod = DEPLOYMENT["spec"]["template"]["spec"]
    delay = container(DEPLOYMENT)["lifecycle"]["preStop"]["sleep"]["seconds"]

    assert pod["terminationGracePeriodSeconds"] > delay + LAST_SECONDS


def test_the_service_leads_to_the_deployment() -> None:
    labels = DEPLOYMENT["spec"]["template"]["metadata"]["labels"]

    assert SERVICE["spec"]["selector"] == DEPLOYMENT["spec"]["selector"]["matchLabels"] == labels
    assert SERVICE["spec"]["ports"][0]["targetPort"] == container(DEPLOYMENT)["ports"][0]["name"]


def test_the_workflow_merges_what_its_shards_upload_also_if_some_fail() -> None:
    shard, merge = WORKFLOW["jobs"]["shard"], WORKFLOW["jobs"]["merge"]
    numbers = shard["strategy"]["matrix"]["shard"]
    ran = " ".join(step.get("run", "") for step in shard["steps"])
    (upload,) = [step for step in shard["steps"] if "upload-artifact" in step.get("uses", "")]

    assert numbers == list(range(1, len(numbers) + 1))
    assert "--shard ${{ matrix.shard }}/${{ strategy.job-total }} > " + upload["with"]["path"] in ran
    assert shard["strategy"]["fail-fast"] is False
    assert [merge["needs"], merge["if"], upload["if"]] == ["shard", "${{ !cancelled() }}", "${{ !cancelled() }}"]
    assert WORKFLOW["permissions"] == {"contents": "read"}
