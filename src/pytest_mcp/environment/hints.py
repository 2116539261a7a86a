"""Notices about a project's surroundings: one sentence for each thing that may cause tests to fail.

Pure: facts in, sentences out. Notices about the run itself are in `notices`.
"""

from pytest_mcp.environment.host import Surroundings, TemporaryFolder
from pytest_mcp.python.members import Members
from pytest_mcp.report import notices
from pytest_mcp.run.events import Portrait

# A run keeps its records and its output there.
LITTLE_SPACE = 100 * 1024 * 1024


def of_surroundings(around: Surroundings, portrait: Portrait | None, tests: int) -> list[str]:
    return [
        *_wrong_folder(around, tests),
        *_shared_environment(around, portrait),
        *_temporary_folder(around.temporary),
        *_members(around.members),
        *notices.memory_setting(around.max_memory),
    ]


def _wrong_folder(around: Surroundings, tests: int) -> list[str]:
    if around.looks_like_a_project or tests:
        return []
    return [f"{around.root} has no project file (pyproject.toml, setup.py, tests and the like) and no Python file."]


def _shared_environment(around: Surroundings, portrait: Portrait | None) -> list[str]:
    if portrait is None or portrait.prefix != around.server.prefix:
        return []
    shared = f"The server runs in the project's own environment, {portrait.prefix}"
    return [f"{shared}: packages of one may break the other. Install the server in an environment of its own."]


def _members(found: Members | None) -> list[str]:
    if found is None:
        return []
    more = [f"{found.more} more members are not listed; name one in path."] if found.more else []
    return more if found.is_complete else [*more, "Not every folder was searched for members of this monorepo."]


def _temporary_folder(folder: TemporaryFolder) -> list[str]:
    if folder.path is None or not folder.writable:
        return [
            f"The temporary folder{f' {folder.path}' if folder.path else ''} cannot be written to; no test can run."
        ]
    notes = []
    if folder.ignored is not None:
        notes.append(f"{folder.ignored} names a folder that cannot be used; {folder.path} is used instead.")
    if folder.free_bytes is not None and folder.free_bytes < LITTLE_SPACE:
        notes.append(f"{folder.path}, where runs keep their records, has only {folder.free_bytes >> 20} MB left.")
    return notes
