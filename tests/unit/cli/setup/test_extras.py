"""The paragraph for agents: where it is written, and what is left when it is removed."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_mcp.cli.setup.clients import CLIENTS
from pytest_mcp.cli.setup.extras import instructions
from pytest_mcp.cli.setup.settings_file import Change, SettingsError, write
from tests.support.commands.plans import MACHINE, plan

(CLAUDE,) = [client for client in CLIENTS if client.name == "claude-code"]
LINES = st.lists(st.sampled_from(["\n", "\r\n", "# Rules", " ", "ü", "<!-- a -->"])).map("".join)


def paragraph(root: Path, *, remove: bool = False) -> Change:
    asked = plan(root, remove=remove, extras=frozenset({"instructions"}), machine=MACHINE._replace(home=root / "home"))
    (extra,) = instructions([CLAUDE], [CLAUDE], asked)
    return extra.change


@given(text=LINES)
def test_all_words_around_the_paragraph_stay_when_it_comes_and_goes(
    tmp_path_factory: pytest.TempPathFactory, text: str
) -> None:
    root = tmp_path_factory.mktemp("shop")
    path = root / "CLAUDE.md"
    path.write_bytes(text.encode())

    write(paragraph(root))
    there = path.read_bytes()
    again = paragraph(root)
    write(paragraph(root, remove=True))

    assert b"execute_tests" in there
    assert not again.is_needed
    assert (path.read_bytes().decode() if path.exists() else "").rstrip() == text.rstrip()


def test_the_paragraph_of_an_older_version_is_replaced_in_its_place_and_goes_with_its_file(tmp_path: Path) -> None:
    path = tmp_path / "CLAUDE.md"
    path.write_text(
        "a\n\n<!-- pytest-mcp:begin, in a file created by setup -->\nold\n<!-- pytest-mcp:end -->\nb\n",
        encoding="utf-8",
    )

    write(paragraph(tmp_path))
    new = path.read_text(encoding="utf-8")
    path.write_text(new[2:-2], encoding="utf-8")
    write(paragraph(tmp_path, remove=True))

    assert new.startswith("a\n\n<!-- pytest-mcp:begin -->\n## Tests\n")
    assert new.endswith("\n<!-- pytest-mcp:end -->\nb\n")
    assert not path.exists()


@pytest.mark.parametrize(
    "content",
    [
        b"<!-- pytest-mcp:begin -->\n",
        b"<!-- pytest-mcp:end -->\n<!-- pytest-mcp:begin -->\n",
        b"<!-- pytest-mcp:begin -->\n<!-- pytest-mcp:end -->\n" * 2,
        "## Tests".encode("utf-16"),
    ],
)
def test_what_cannot_be_edited_safely_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "CLAUDE.md").write_bytes(content)

    with pytest.raises(SettingsError):
        paragraph(tmp_path)


@pytest.mark.parametrize("content", [b"# Rules\n\n@AGENTS.md\n", b"x\r\n@./AGENTS.md\r\n", None])
def test_a_file_that_includes_the_shared_one_or_is_a_link_to_it_stands_for_it(
    tmp_path: Path, content: bytes | None
) -> None:
    if content is None:
        (tmp_path / "CLAUDE.md").symlink_to("AGENTS.md")
    else:
        (tmp_path / "CLAUDE.md").write_bytes(content)

    assert paragraph(tmp_path).path == tmp_path / "AGENTS.md"
