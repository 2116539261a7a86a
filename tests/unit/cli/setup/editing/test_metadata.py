"""Mode, group, attributes and access lists of a settings file stay when it is written."""

import os
import struct
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from pytest_mcp.cli.setup.editing.config_file import (
    added,
    removed,
    write,
)
from tests.support.invented.settings_files import ENTRY, KEYS, written


def an_acl() -> bytes:
    """An access control list that lets one more user read: version 2, then tag, permissions and number of each row."""
    rows = [
        (0x01, 6, 0xFFFFFFFF),
        (0x02, 4, 12345),
        (0x04, 4, 0xFFFFFFFF),
        (0x10, 4, 0xFFFFFFFF),
        (0x20, 0, 0xFFFFFFFF),
    ]
    return struct.pack("<I", 2) + b"".join(struct.pack("<HHI", *row) for row in rows)


@pytest.mark.skipif(sys.platform != "linux", reason="Python has no way to set them elsewhere")
@pytest.mark.parametrize(
    ("name", "value"), [("user.note", lambda: b"mine"), ("system.posix_acl_access", an_acl)], ids=["user", "acl"]
)
def test_extended_attributes_of_a_file_stay(tmp_path: Path, name: str, value: Callable[[], bytes]) -> None:
    path = written(tmp_path / "a.json", b"{}")
    try:
        os.setxattr(path, name, value())
    except OSError as error:
        pytest.skip(f"this file system has none: {error}")
    before = (path.stat().st_mode, os.getxattr(path, name))

    write(added(path, KEYS, ENTRY))
    write(removed(path, KEYS))

    assert (path.stat().st_mode, os.getxattr(path, name)) == before


@pytest.mark.skipif(sys.platform != "linux", reason="Python has no way to set them elsewhere")
def test_a_file_does_not_get_the_access_list_of_its_folder(tmp_path: Path) -> None:
    path = written(tmp_path / "a.json", b"{}")
    try:
        os.setxattr(tmp_path, "system.posix_acl_default", an_acl())
    except OSError as error:
        pytest.skip(f"this file system has none: {error}")
    before = os.listxattr(path)

    write(added(path, KEYS, ENTRY))

    assert os.listxattr(path) == before


def test_the_group_of_a_file_stays(tmp_path: Path) -> None:
    path = written(tmp_path / "a.json", b"{}")
    path.chmod(0o640)
    known = path.stat()
    others = [group for group in os.getgroups() if group != known.st_gid] or [known.st_gid + 1]
    try:
        os.chown(path, -1, others[0])
    except PermissionError:
        pytest.skip("this user is in one group only")

    write(added(path, KEYS, ENTRY))

    now = path.stat()
    assert (now.st_gid, now.st_uid, now.st_mode) == (others[0], known.st_uid, known.st_mode)
    assert now.st_ino != known.st_ino
