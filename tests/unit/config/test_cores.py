"""How many cores there are, by control groups as containers and services have them."""

import os
from collections.abc import Mapping
from pathlib import Path

import pytest

from pytest_mcp.config import cores
from tests.support.projects.project_files import write_files

GROUPS = "sys/fs/cgroup"


@pytest.fixture(autouse=True)
def _on_a_large_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _pid: set(range(64)), raising=False)


@pytest.mark.parametrize(
    ("files", "usable"),
    [
        ({}, 64),
        ({"proc/self/cgroup": "0::/\n", f"{GROUPS}/cpu.max": "200000 100000\n"}, 2),
        ({"proc/self/cgroup": "0::/\n", f"{GROUPS}/cpu.max": "max 100000\n"}, 64),
        ({"proc/self/cgroup": "0::/\n", f"{GROUPS}/cpu.max": "150000 100000\n"}, 2),
        ({"proc/self/cgroup": "0::/\n", f"{GROUPS}/cpu.max": "10000 100000\n"}, 1),
        ({"proc/self/cgroup": "0::/\n", f"{GROUPS}/cpu.max": "nonsense\n"}, 64),
        (
            {"proc/self/cgroup": "0::/a/b\n", f"{GROUPS}/a/cpu.max": "300000 100000", f"{GROUPS}/a/b/cpu.max": "max 1"},
            3,
        ),
        # Docker without a namespace for groups: the container sees its own at the top, by the name that the host uses.
        (
            {
                "proc/self/cgroup": "7:memory:/docker/1f\n4:cpu,cpuacct:/docker/1f\n0::/docker/1f\n",
                f"{GROUPS}/cpu,cpuacct/cpu.cfs_quota_us": "400000\n",
                f"{GROUPS}/cpu,cpuacct/cpu.cfs_period_us": "100000\n",
            },
            4,
        ),
        (
            {
                "proc/self/cgroup": "4:cpu:/\n",
                f"{GROUPS}/cpu/cpu.cfs_quota_us": "-1\n",
                f"{GROUPS}/cpu/cpu.cfs_period_us": "100000\n",
            },
            64,
        ),
    ],
)
def test_a_control_group_limits_the_cores(tmp_path: Path, files: Mapping[str, str], usable: int) -> None:
    write_files(tmp_path, files)

    assert cores.usable(tmp_path) == usable
