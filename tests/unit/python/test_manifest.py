"""A project is read by the files that its tools keep, with limits. Names are as the packaging library sees them."""

import os
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from pytest_mcp.python.manifest import package_names, read_manifest

NAMES = st.from_regex(r"[A-Za-z0-9]([A-Za-z0-9._-]{0,6}[A-Za-z0-9])?", fullmatch=True) | st.just("pytest")
EXTRAS = st.sampled_from(["", "[testing]", " [a, b]"])
VERSIONS = st.sampled_from(["", ">=8", " >= 8, <9", "==8.*", "~=8.1", "!=7", " (>=8)", " @ https://example.org/x.whl"])
MARKERS = st.sampled_from(["", " ; python_version < '3'", " ; extra == 'x'"])


def test_a_file_in_another_encoding_and_a_pipe_say_nothing(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_bytes(b"\xff\xfe[\x00")
    (tmp_path / "pipe").mkdir()
    os.mkfifo(tmp_path / "pipe/pyproject.toml")

    assert read_manifest(tmp_path).pyproject == read_manifest(tmp_path / "pipe").pyproject == {}


@given(st.tuples(NAMES, EXTRAS, VERSIONS, MARKERS).map("".join))
def test_a_requirement_has_the_name_that_packaging_reads(text: str) -> None:
    assert package_names([f" {text}"]) == {canonicalize_name(Requirement(text).name)}
