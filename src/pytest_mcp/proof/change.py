"""The two sides of a change: what git has of each changed file at the base, and what is there now."""

import ast
import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

from pytest_mcp.api.errors import Fault, InvalidParams
from pytest_mcp.changed import reach, working_tree
from pytest_mcp.changed.git_commands import CannotTell, Repository
from pytest_mcp.changed.project_files import MAX_FILE, SETTINGS, is_of_tests, read_regular
from pytest_mcp.changed.working_tree import Base, TreeComparison
from pytest_mcp.config.model import Config
from pytest_mcp.investigation.base import find_base
from pytest_mcp.process.background import in_thread
from pytest_mcp.proof.suite import parsed
from pytest_mcp.report.coverage import lines_in
from pytest_mcp.run.attempt import Deadline
from pytest_mcp.run.run import ALL_LINES, Reach

_REGULAR = (b"100644", b"100755")
_IN_WORDS = (".md", ".rst", ".txt")


@dataclass(frozen=True)
class TwoSides:
    """Paths are relative to the root."""

    comparison: TreeComparison
    reach: Reach
    before: Mapping[str, str | None]
    now: Mapping[str, str | None]
    # Whether tests may depend on the documents that changed.
    are_documents_read: bool = False

    @property
    def tests(self) -> list[str]:
        """Changed files that stay as they are now when the source of the base is tried."""
        return sorted(path for path in self.comparison.changes.files if is_kept(path) and self._is_other_code(path))

    @property
    def sources(self) -> list[str]:
        """All others, but for documents that no test depends on."""
        files = [path for path in self._others() if self.are_documents_read or not path.endswith(_IN_WORDS)]
        return sorted(path for path in files if self._is_other_code(path))

    @property
    def documents(self) -> frozenset[str]:
        return frozenset(path for path in self._others() if path.endswith(_IN_WORDS))

    def _others(self) -> list[str]:
        return [path for path in reach.without_caches(self.comparison.changes).files if not is_kept(path)]

    def _is_other_code(self, path: str) -> bool:
        """Whether more than comments and white space changed."""
        before, now = parsed(self.before.get(path)), parsed(self.now.get(path))
        if not path.endswith(".py") or before is None or now is None:
            return True
        with suppress(RecursionError):
            return ast.dump(before) != ast.dump(now)
        return True

    def lines(self) -> dict[str, frozenset[int]]:
        """New and replaced lines of the changed Python source."""
        added = self.comparison.added_lines().ranges or {}
        found = {}
        for path in self.sources:
            source = self.now.get(path)
            if source is not None and path.endswith(".py") and path in added:
                whole = range(1, len(source.splitlines()) + 1)
                found[path] = frozenset(whole if added[path] == ALL_LINES else lines_in(added[path]))
        return found

    def new_names(self) -> frozenset[str]:
        """Words that the source has now and had not at the base; parts of the paths of new files too."""
        before, now = (
            {word for path in self.sources if (text := side.get(path)) is not None for word in _words(f"{path} {text}")}
            for side in (self.before, self.now)
        )
        return frozenset(now - before)


def is_kept(path: str) -> bool:
    return is_of_tests(path) or PurePosixPath(path).name in SETTINGS


async def compare(config: Config, ref: str | None, deadline: Deadline) -> tuple[Repository, Base, TwoSides]:
    """With the commit that the ref stands for. Raises InvalidParams if there is none, or no repository."""
    found = await find_base(config, ref, deadline)
    if found.base is None or found.repository is None:
        why = (found.problem or "there is no base").removeprefix("not tried: ")
        raise InvalidParams([Fault("base", why, "no_changes", ref)])
    try:
        return found.repository, found.base, await find_change(found.repository, found.base)
    except CannotTell as error:
        raise InvalidParams([Fault("base", f"cannot be compared: {error}", "no_changes", ref)]) from error


async def find_change(repository: Repository, base: Base) -> TwoSides:
    """Raises CannotTell."""
    comparison = await working_tree.since(repository, base, lines=True)
    root = repository.config.root
    prefix = "" if root == repository.top else f"{repository.root.as_posix()}/"
    files = sorted(comparison.changes.files)
    known = {path: comparison.committed.get(prefix + path) for path in files}
    stored = {path: file.hash for path, file in known.items() if file is not None and file.mode in _REGULAR}
    contents = await repository.contents(list(stored.values()))
    before = {path: _text(contents.get(name)) for path, name in stored.items()}
    reached = await reach.tests_reached(comparison)
    now = await in_thread(
        lambda: {path: _text(read_regular(root / path, MAX_FILE)) for path in files if (root / path).is_file()}
    )
    empty = dict.fromkeys(files)
    found = TwoSides(comparison, reached, {**empty, **before}, now)
    # Beside other sources documents decide nothing.
    if found.sources or not found.documents:
        return found
    changes = replace(comparison.changes, files=found.documents, outside=frozenset())
    alone = await in_thread(lambda: reach.reach_of(changes, {}, root))
    return replace(found, are_documents_read=bool(alone.files) or alone.reason is not None)


def text_of(path: Path) -> str | None:
    """None if it is no file with text."""
    with suppress(OSError):
        return _text(read_regular(path, MAX_FILE))
    return None


def _text(content: bytes | None) -> str | None:
    try:
        return None if content is None else content.decode("utf-8")
    except UnicodeDecodeError:
        return None


def _words(text: str) -> frozenset[str]:
    return frozenset(re.findall(r"\w+", text))
