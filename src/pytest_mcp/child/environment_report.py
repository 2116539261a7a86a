"""The pytest plugin that reports what pytest runs with: environment, plugins, the settings that matter.

Loaded only where the job asks for it, or when a run has not passed (then without marks). It reports everything before
any code of the project is loaded, which may hang, and once more after: conftests register marks too, those below the
root not before their folders are collected.
"""

from __future__ import annotations

import sys
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import pytest
from import_origins import parts_in_project
from left_out import mark_of, registered_marks

if TYPE_CHECKING:
    from channel import Channel

    from pytest_mcp.process.job import Job


class EnvironmentReport:
    def __init__(self, channel: Channel, job: Job) -> None:
        self.emit = channel.emit
        self.root = job["root"]
        self.marks: list[str] = []

    @pytest.hookimpl(tryfirst=True)
    def pytest_load_initial_conftests(self, early_config: Any) -> None:
        # Only explains, so it may be missing; it must never raise into pytest.
        with suppress(Exception):
            # No plugin has been configured yet, so these are the marks of the settings file alone.
            self.marks = registered_marks(early_config)
            self.watch(early_config)
            self.report(early_config)

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        with suppress(Exception):
            self.report(session.config)

    def watch(self, config: Any) -> None:
        """Marks that plugins register are not the project's; who registers one is known only at that moment."""
        add = config.addinivalue_line

        def addinivalue_line(name: str, line: str) -> None:
            add(name, line)
            with suppress(Exception):
                if name == "markers" and parts_in_project(sys._getframe(1).f_code.co_filename, self.root) is not None:
                    self.marks.append(mark_of(line))

        config.addinivalue_line = addinivalue_line

    def report(self, config: Any) -> None:
        self.emit(
            "portrait",
            prefix=sys.prefix,
            rootdir=str(config.rootpath),
            inifile=str(config.inipath) if config.inipath else None,
            plugins=plugins_of(config),
            testpaths=list(map(str, config.getini("testpaths"))),
            addopts=list(map(str, config.getini("addopts"))),
            python_files=list(map(str, config.getini("python_files"))),
            markers=list(dict.fromkeys(self.marks)),
        )


def plugins_of(config: Any) -> list[str]:
    """Each distribution once, as in the header of a run: its name without the prefix `pytest-`."""
    names = ["%s-%s" % (dist.project_name, dist.version) for _, dist in config.pluginmanager.list_plugin_distinfo()]
    return list(dict.fromkeys(name[len("pytest-") :] if name.startswith("pytest-") else name for name in names))
