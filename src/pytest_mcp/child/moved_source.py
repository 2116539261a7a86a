"""Has a copy of a checkout tested instead of the checkout, whose packages may be installed in editable mode.

In come both folders. Entries of sys.path that lead into the checkout lead into the copy afterwards. Whatever is
imported from the checkout nevertheless is reported as imported from elsewhere. Standard library and pytest only.
"""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from typing import Any, Callable, Generator, Iterator

import pytest
from import_origins import INSTALLED, relative_parts


class MovedSource:
    def __init__(self, emit: Callable[..., Any], checkout: str, copy: str) -> None:
        self.emit = emit
        self.checkout = checkout
        self.copy = copy
        sys.path[:] = [self.moved(entry) or entry for entry in sys.path]

    def moved(self, path: str) -> str | None:
        """The same place in the copy; None for what is no part of the project."""
        below = relative_parts(path, self.checkout)
        if below is None or any(part in INSTALLED for part in below) or self.is_of_python(path):
            return None
        return self.copy + os.sep.join(below)

    def is_of_python(self, path: str) -> bool:
        """An environment, and even Python itself, can be inside the checkout."""
        return any(path.startswith(prefix + os.sep) for prefix in {sys.prefix, sys.base_prefix, sys.exec_prefix})

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_sessionfinish(self) -> Generator[None, None, None]:
        # Modules can be anything, and nothing may be raised into pytest.
        with suppress(Exception):
            for name, path, own in self.not_moved():
                self.emit("imported_elsewhere", name=name, file=path, own=own)
        yield

    def not_moved(self) -> Iterator[tuple[str, str, str]]:
        """One module of each package that came from the checkout."""
        seen = set()
        for name, module in sorted(sys.modules.items()):
            path = getattr(module, "__file__", None)
            package = name.partition(".")[0]
            if not isinstance(path, str) or package in seen:
                continue
            own = self.moved(path)
            if own is not None:
                seen.add(package)
                yield package, path, own
