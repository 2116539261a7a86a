"""When two files of a checkout are equal."""

import os
from pathlib import Path

from pytest_mcp.changed.project_files import digest_of


def test_files_are_equal_by_content_and_mode_and_links_by_their_target(tmp_path: Path) -> None:
    folder = tmp_path.resolve()
    for name, content in {"a": "x", "b": "x", "c": "y", "d": "x"}.items():
        (folder / name).write_text(content, encoding="utf-8")
    (folder / "d").chmod(0o755)
    for name, target in {"one": "a", "two": "a", "other": "b"}.items():
        (folder / name).symlink_to(target)

    assert digest_of(folder / "a") == digest_of(folder / "b")
    assert digest_of(folder / "one") == digest_of(folder / "two")
    assert len({digest_of(folder / name) for name in ("a", "c", "d", "one", "other", "gone")}) == 6


def test_a_file_behind_a_linked_folder_is_not_there_and_a_pipe_is_not_read(tmp_path: Path) -> None:
    folder = tmp_path.resolve()
    (folder / "real").mkdir()
    (folder / "real" / "a").write_bytes(b"x")
    (folder / "linked").symlink_to("real")
    os.mkfifo(folder / "pipe")

    assert digest_of(folder / "linked/a") == digest_of(folder / "real/gone")
    assert len({digest_of(folder / name) for name in ("real/a", "real/gone", "pipe")}) == 3
