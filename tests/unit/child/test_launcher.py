"""`child/launcher.py`: its modules and those of a project can have the same names."""

import sys
from pathlib import Path
from types import ModuleType

import pytest

from pytest_mcp.run import events
from tests.support.child import events_of, ours


def test_a_module_is_loaded_once_and_stays_out_of_the_way_of_others(monkeypatch: pytest.MonkeyPatch) -> None:
    theirs = ModuleType("describe")
    monkeypatch.setitem(sys.modules, "describe", theirs)
    path, importers = [*sys.path], {*sys.path_importer_cache}

    reporter, worker = ours("reporter"), ours("xdist_worker")

    assert worker.Reporter is reporter.Reporter
    assert ours("describe").Clipper is reporter.Clipper
    assert sys.modules["describe"] is theirs
    assert "reporter" not in sys.modules
    assert (sys.path, {*sys.path_importer_cache}) == (path, importers)


def test_a_project_with_modules_of_our_names_uses_its_own_and_so_does_the_child(tmp_path: Path) -> None:
    names = ("admission", "describe", "environment_report", "import_origins", "left_out", "xdist_controller")
    imports = "".join(f"import {name}\nassert {name}.THEIRS\n" for name in names)
    files = {f"{name}.py": "THEIRS = True\n" for name in names}

    told = events_of(tmp_path / "project", {**files, "test_a.py": f"{imports}def test_a(): assert 0\n"})

    kinds = {type(event) for event in told}
    assert events.Portrait in kinds
    assert told[-1] == events.Returned(1)
