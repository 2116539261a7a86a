"""When two runs are of the same code."""

from pathlib import Path

import pytest

from pytest_mcp.changed import working_tree
from pytest_mcp.changed.code_state import CodeState, CodeWatch
from pytest_mcp.config.model import History, Options, configure
from tests.support.projects.checkouts import Checkout, new_checkout, without_supervisor


async def test_equal_code_has_an_equal_hash_and_everything_else_another_one(checkout: Checkout) -> None:
    head = checkout.git("rev-parse", "HEAD").strip()
    watch = CodeWatch(checkout.config())
    clean = await watch.state()
    checkout.write(a="changed = 1")
    changed = await watch.state()
    checkout.write(new="untracked = 1")
    added = await watch.state()
    (checkout.top / "new.py").chmod(0o755)
    executable = await watch.state()
    (checkout.top / "new.py").unlink()
    (checkout.top / "b.py").unlink()
    deleted = await watch.state()
    checkout.git("checkout", "--", ".")
    restored = await watch.state()
    committed = checkout.commit()
    after = await watch.state()

    assert (clean.commit, clean.dirty) == (head, False)
    assert restored == clean
    assert (after.commit, after.dirty) == (committed, False)
    states = [clean, changed, added, executable, deleted, after]
    assert len({state.hash for state in states}) == len(states)
    assert [state.dirty for state in states] == [False, True, True, True, True, False]
    assert await CodeWatch(checkout.config()).state() == after


async def test_what_runs_leave_behind_and_the_history_itself_are_no_code(checkout: Checkout) -> None:
    config = checkout.config()._replace(history=History(str(checkout.top / "history.db")))
    before = await CodeWatch(config).state()
    for name in ("history.db", "history.db-wal", "__pycache__/a.pyc", ".pytest_cache/v/nodeids"):
        (checkout.top / name).parent.mkdir(parents=True, exist_ok=True)
        (checkout.top / name).write_bytes(b"x")

    assert await CodeWatch(config).state() == before


async def test_git_is_not_asked_again_while_no_file_changes(
    checkout: Checkout, monkeypatch: pytest.MonkeyPatch
) -> None:
    watch = CodeWatch(checkout.config())
    before = await watch.state()
    monkeypatch.setattr(working_tree, "uncommitted", None)

    assert await watch.state() == before


async def test_the_look_of_a_call_is_that_of_git_status_whatever_it_is_compared_with(checkout: Checkout) -> None:
    checkout.git("switch", "--quiet", "-c", "topic")
    checkout.commit(b="b = 2\n")
    checkout.write(a="a = 2\n")
    expected = await CodeWatch(checkout.config()).state()
    look = await working_tree.since_ref(checkout.config(), "main")

    assert look.changes.files == {"a.py", "b.py"}
    assert await CodeWatch(checkout.config()).state(look) == expected


async def test_a_change_in_a_repository_inside_is_another_state(checkout: Checkout) -> None:
    inner = new_checkout(checkout.top / "inner")
    watch = CodeWatch(checkout.config())
    before = await watch.state()
    inner.write(a="a = 3\n")

    assert before.hash is not None
    assert (await watch.state()).hash not in (before.hash, None)


async def test_before_the_first_commit_nothing_is_known(tmp_path: Path) -> None:
    (tmp_path / "project").mkdir()
    checkout = Checkout((tmp_path / "project").resolve())
    checkout.git("init", "--quiet")
    checkout.write(a="")

    with without_supervisor():
        assert await CodeWatch(checkout.config()).state() == CodeState()


async def test_without_a_repository_nothing_is_known_and_without_git_only_the_commit(
    checkout: Checkout, tmp_path: Path
) -> None:
    assert await CodeWatch(configure(Options(root=str(tmp_path)), {})).state() == CodeState()
    assert await CodeWatch(checkout.config(PATH="/no/such/folder")).state() == CodeState(
        checkout.git("rev-parse", "HEAD").strip()
    )
