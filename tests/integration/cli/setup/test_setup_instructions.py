"""`pytest-mcp setup --instructions`: a paragraph for agents in AGENTS.md or CLAUDE.md, and its removal."""

from pathlib import Path

from tests.support.commands.desk import Desk


def texts(desk: Desk) -> dict[str, bytes]:
    return {Path(name).name: content for name, content in desk.files().items() if name.endswith(".md")}


def test_each_client_gets_the_paragraph_where_it_reads_and_remove_restores_everything(desk: Desk) -> None:
    (desk.project / "AGENTS.md").write_bytes(b"# Rules\r\nNo tabs.")

    done = desk.typed("claude-code", "codex", "zed", "--instructions", "--yes")
    written = texts(desk)
    again = desk.typed("claude-code", "codex", "zed", "--instructions", "--yes")
    unchanged = texts(desk)
    one = desk.typed("--remove", "codex", "--yes")
    still = texts(desk)
    gone = desk.typed("--remove", "--yes")

    assert [each.returncode for each in (done, again, one, gone)] == [0, 0, 0, 0]
    assert written.keys() == {"AGENTS.md", "CLAUDE.md"}
    assert all(b"`execute_tests`" in content for content in written.values())
    assert done.stdout.count("+## Tests") == 2
    assert unchanged == written == still
    assert texts(desk) == {"AGENTS.md": b"# Rules\r\nNo tabs.\r\n"}


def test_at_a_terminal_the_paragraph_is_offered_and_shown(desk: Desk) -> None:
    code, said = desk.answered(b"y\n", "opencode", then=b"y\n")
    written = texts(desk)
    _, declined = desk.answered(b"y\n", "zed", then=b"\n")

    assert code == 0
    assert said.index("+## Tests") < said.index("[y/N]")
    assert list(written) == ["AGENTS.md"]
    assert "[y/N]" not in declined  # it is there already


def test_to_decline_an_offer_is_no_failure(desk: Desk) -> None:
    code, said = desk.answered(b"y\n", "opencode", then=b"n\n")

    assert (code, texts(desk)) == (0, {})
    assert "Not written." in said


def test_a_paragraph_that_no_client_belongs_to_any_more_is_removed(desk: Desk) -> None:
    desk.typed("codex", "--instructions", "--yes")
    (desk.project / ".codex" / "config.toml").unlink()

    done = desk.typed("--remove", "--yes")

    assert (done.returncode, texts(desk)) == (0, {})
    assert "No client has an entry" not in done.stdout


def test_a_link_that_leads_out_of_the_project_is_refused(desk: Desk) -> None:
    (desk.home / "rules.md").write_bytes(b"mine")
    (desk.project / "AGENTS.md").symlink_to(desk.home / "rules.md")

    done = desk.typed("codex", "--instructions", "--yes")

    assert (done.returncode, texts(desk)["rules.md"]) == (1, b"mine")
    assert "symlinks in a project are not followed" in done.stderr
