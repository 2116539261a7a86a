"""Run by the Python of an environment: `settings_oracle.py FOLDER`, with pytest's own search as the oracle.

Each case is a project that is written twice: alone in its tree, where pytest searches by itself, and below folders
with settings of their own, where it is given the options that `child/ini_files.py` decides on. Both must end
up with the same rootdir, file, settings and conftest limit, or with the same error. Prints what differs.
"""

from __future__ import annotations

import importlib
import inspect
import json
import os
import random
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[3] / "src" / "pytest_mcp" / "child"))

import ini_files
import pytest

pytest_config: Any = importlib.import_module("_pytest.config")

# Every form that some version of pytest reads, and those that look like one.
FORMS: dict[str, tuple[str, bytes]] = {
    "table": ("pyproject.toml", b"[tool.pytest.ini_options]\nmarkers = ['own']\n"),
    "table with spaces": ("pyproject.toml", b"[ tool . pytest . ini_options ]\nmarkers = ['own']\n"),
    "dotted keys": ("pyproject.toml", b"tool.pytest.ini_options.markers = ['own']\n"),
    "dotted below a table": ("pyproject.toml", b"[tool]\npytest.ini_options.markers = ['own']\n"),
    "inline table": ("pyproject.toml", b"tool = {pytest = {ini_options = {markers = ['own']}}}\n"),
    "quoted keys": ("pyproject.toml", b'["tool"."pyt\\u0065st".ini_options]\nmarkers = ["own"]\n'),
    "empty ini_options": ("pyproject.toml", b"[tool.pytest.ini_options]\n"),
    "empty tool.pytest": ("pyproject.toml", b"[tool.pytest]\n"),
    "native": ("pyproject.toml", b"[tool.pytest]\nmarkers = ['own']\n"),
    "native and old": ("pyproject.toml", b"[tool.pytest]\nstrict = true\n[tool.pytest.ini_options]\nmarkers = ['a']\n"),
    "other table of pytest": ("pyproject.toml", b"[tool.pytest.other]\nx = 1\n"),
    "section in a string": ("pyproject.toml", b'text = """\n[tool.pytest.ini_options]\n"""\n'),
    "section in a comment": ("pyproject.toml", b"#\n# [tool.pytest.ini_options]\n"),
    "no settings": ("pyproject.toml", b"[project]\nname = 'x'\n"),
    "empty pyproject": ("pyproject.toml", b""),
    "bad TOML": ("pyproject.toml", b"[tool.pytest.ini_options\n"),
    "tool is a number": ("pyproject.toml", b"tool = 1\n"),
    "not UTF-8": ("pyproject.toml", b"x = '\xff'\n"),
    "pytest.ini": ("pytest.ini", b"[pytest]\nmarkers = own\n"),
    "empty pytest.ini": ("pytest.ini", b""),
    "other section": ("pytest.ini", b"[other]\nx = 1\n"),
    "indented section": ("pytest.ini", b"  [pytest]\nmarkers = own\n"),
    "bad ini": ("pytest.ini", b"[pytest\n"),
    ".pytest.ini": (".pytest.ini", b"[pytest]\nmarkers = own\n"),
    "empty .pytest.ini": (".pytest.ini", b""),
    "pytest.toml": ("pytest.toml", b"[pytest]\nmarkers = ['own']\n"),
    "pytest.toml as pyproject": ("pytest.toml", b"[tool.pytest.ini_options]\nmarkers = ['own']\n"),
    "empty pytest.toml": ("pytest.toml", b""),
    ".pytest.toml": (".pytest.toml", b"[pytest]\nmarkers = ['own']\n"),
    "keys outside a table": ("pytest.toml", b"markers = ['own']\n"),
    "tox.ini": ("tox.ini", b"[pytest]\nmarkers = own\n"),
    "tox.ini with a comment": ("tox.ini", b"[pytest]  # here\nmarkers = own\n"),
    "indented in tox.ini": ("tox.ini", b"[tox]\nx =\n  1\n  [pytest]\n"),
    "spaces in the section": ("tox.ini", b"[ pytest ]\nmarkers = own\n"),
    "tox alone": ("tox.ini", b"[tox]\nenvlist = py\n"),
    "setup.cfg": ("setup.cfg", b"[tool:pytest]\nmarkers = own\n"),
    "old section": ("setup.cfg", b"[pytest]\nmarkers = own\n"),
    "setup.cfg alone": ("setup.cfg", b"[metadata]\nname = x\n"),
    "setup.py": ("setup.py", b""),
}
ABOVE = ("pytest.ini", "bad ini", "table", "no settings", "tox.ini", "old section", "pytest.toml", "setup.py")
TARGETS: tuple[list[str], ...] = (
    [],
    ["a"],
    ["a/b/test_b.py"],
    ["a", "c"],
    ["a/b/test_b.py", "c/test_c.py"],
    ["a/b", "a"],
)
FOLDERS = (".", "a", "a/b", "c")
RANDOM_CASES = 150
# They differ between the versions.
PARAMETERS = tuple(inspect.signature(pytest_config.determine_setup).parameters)


def cases() -> list[Any]:
    """Files of the project by their paths, the forms above it, the targets."""
    each: list[Any] = [({Path(name): text}, [above], []) for name, text in FORMS.values() for above in ABOVE[:3]]
    chance = random.Random(12)
    mixed = []
    for _ in range(RANDOM_CASES):
        forms = [(chance.choice(FOLDERS), FORMS[chance.choice(list(FORMS))]) for _ in range(chance.randrange(4))]
        files = {Path(folder, name): text for folder, (name, text) in forms}
        mixed.append((files, chance.sample(ABOVE, chance.randrange(3)), chance.choice(TARGETS)))
    return [*each, *mixed]


def written(files: dict[Path, bytes]) -> None:
    for path, text in files.items():
        path.write_bytes(text)


def project(root: Path) -> Path:
    for path in (root / target for target in ("a/test_a.py", "a/b/test_b.py", "c/test_c.py")):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    return root


def searched(root: Path, options: list[str], targets: list[str]) -> Any:
    """What pytest makes of it, in words that do not depend on where the project lies."""
    os.chdir(root)
    given = dict(option.split("=", 1) for option in options if "=" in option)
    known = {
        "inifile": options[1] if options[:1] == ["-c"] else None,
        "override_ini": None,
        "args": targets,
        "rootdir_cmd_arg": given.get("--rootdir"),
        "invocation_dir": root,
    }
    try:
        found = pytest_config.determine_setup(**{name: known[name] for name in PARAMETERS if name in known})
    except (Exception, pytest.fail.Exception) as error:  # noqa: BLE001 - an error is an outcome like any other
        return [type(error).__name__, str(error).replace(str(root), "ROOT")]
    rootdir, file, settings = found[:3]
    # As `Config` does it; before pytest 7.4 there was no limit without a file, and here nothing lies above.
    natural = file.parent if file else rootdir if pytest.version_tuple >= (7, 4) else root
    limit = Path(given.get("--confcutdir", natural))
    values = {name: getattr(value, "value", value) for name, value in settings.items()}
    return [path and os.path.relpath(path, root) for path in (rootdir, file, limit)] + [values]


def differences(base: Path) -> list[Any]:
    found = []
    alone, below = project(base / "alone" / "root"), project(base / "below" / "between" / "root")
    for files, above, targets in cases():
        case = {root / path: text for root in (alone, below) for path, text in files.items()}
        for height, form in enumerate(above):
            case[below.parents[height] / FORMS[form][0]] = FORMS[form][1]
        written(case)
        expected = searched(alone, [], [str(alone / target) for target in targets])
        named = [str(below / target) for target in targets]
        actual = searched(below, ini_files.confinement(named, str(below)).options, named)
        if expected != actual:
            found.append([sorted(map(str, files.items())), above, targets, expected, actual])
        for path in case:
            path.unlink()
    return found


if __name__ == "__main__":
    sys.stdout.write(json.dumps(differences(Path(sys.argv[1]).resolve())))
