"""pipenv: keeps environments in a folder of the user, and is asked which one is the project's."""

from pathlib import Path

from pytest_mcp.process.job import Exit
from pytest_mcp.python import user_dirs
from pytest_mcp.python.asked import AskedManager
from pytest_mcp.python.manager import Variables
from pytest_mcp.python.query import Question, Unanswered, complaint

_SOURCES = ("Pipfile", "Pipfile.lock", ".venv")
_SETTINGS = {
    "PIPENV_ACTIVE": None,
    "PIPENV_PIPFILE": None,
    "PIPENV_IGNORE_VIRTUALENVS": "1",
    "PIPENV_VERBOSITY": "-1",
    "PIPENV_DONT_LOAD_ENV": "1",
    # Look for a Pipfile in the folder itself only.
    "PIPENV_MAX_DEPTH": "1",
}
# pipenv's own words, on stderr.
_NONE_YET = "No virtualenv has been created"


class Pipenv(AskedManager):
    name = "pipenv"
    files = ("Pipfile", "Pipfile.lock")
    lock = "Pipfile.lock"

    def question(self, folder: Path, variables: Variables) -> Question:
        chosen = variables.get("WORKON_HOME")
        usual = f"{variables.get('XDG_DATA_HOME') or '~/.local/share'}/virtualenvs"
        store = folder / user_dirs.expanded(chosen or usual, variables)
        if not store.is_dir():
            # pipenv would create the folder.
            raise Unanswered(self.nothing_yet)
        sources = (*(folder / name for name in _SOURCES), store)
        return Question(self.name, ("--venv",), folder, variables, _SETTINGS, sources)

    def read(self, ended: Exit) -> list[Path]:
        if ended.code == 0:
            return [path for path in map(Path, ended.stdout.split("\n")) if path.is_absolute()]
        if _NONE_YET in ended.stderr:
            return []
        raise complaint(self.name, ended)
