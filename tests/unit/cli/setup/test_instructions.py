"""The paragraph for agents: removing it restores every byte around it."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_mcp.cli.setup.editing.config_file import ConfigFileError
from pytest_mcp.cli.setup.instructions import added, file, with_paragraph, without_paragraph

TEXTS = st.lists(st.sampled_from([b"\n", b"\r\n", b"# Rules", b" ", "ü".encode(), b"\xff", b"<!-- a -->"])).map(
    b"".join
)


@given(TEXTS)
def test_removing_the_paragraph_restores_the_bytes(content: bytes) -> None:
    written = with_paragraph(content)

    assert b"execute_tests" in written
    assert with_paragraph(written) == written
    assert without_paragraph(written) == content


def test_a_file_that_was_created_for_it_goes_with_it_unless_something_else_is_in_it() -> None:
    created = with_paragraph(None)

    assert without_paragraph(created) is None
    assert without_paragraph(created + b"\nMine.\n") == b"\nMine.\n"
    assert without_paragraph(b"Mine.\n\n" + created) == b"Mine.\n"


def test_an_older_paragraph_is_replaced_in_its_place() -> None:
    old = b"a\r\n\r\n<!-- pytest-mcp:begin -->\r\nold\r\n<!-- pytest-mcp:end -->\r\nb"

    new = with_paragraph(old)

    assert new.startswith(b"a\r\n\r\n<!-- pytest-mcp:begin -->\r\n## Tests\r\n")
    assert new.endswith(b"\r\n<!-- pytest-mcp:end -->\r\nb")
    assert b"old" not in new


@pytest.mark.parametrize(
    "content",
    [
        b"<!-- pytest-mcp:begin -->\n",
        b"<!-- pytest-mcp:begin -->\n<!-- pytest-mcp:end -->\n<!-- pytest-mcp:begin -->\n<!-- pytest-mcp:end -->",
        "## Tests".encode("utf-16"),
    ],
)
def test_what_cannot_be_edited_safely_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "AGENTS.md"
    path.write_bytes(content)

    with pytest.raises(ConfigFileError):
        added(path)


@pytest.mark.parametrize("content", [b"# Rules\n\n@AGENTS.md\n", b"@./AGENTS.md", b"x\r\n@AGENTS.md\r\n"])
def test_a_file_that_includes_the_shared_one_stands_for_it(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "CLAUDE.md").write_bytes(content)

    assert file(tmp_path, "CLAUDE.md") == tmp_path / "AGENTS.md"


def test_a_link_to_the_shared_file_stands_for_it(tmp_path: Path) -> None:
    (tmp_path / "CLAUDE.md").symlink_to("AGENTS.md")

    assert file(tmp_path, "CLAUDE.md") == tmp_path / "AGENTS.md"
    assert file(tmp_path, "GEMINI.md") == tmp_path / "GEMINI.md"
