"""Import the modules of a command faster. Standard library only."""

import gc
import importlib
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import Any

_LOADER = "pydantic.plugin._loader"


@contextmanager
def loading() -> Iterator[None]:
    """While modules are imported there is no garbage, and looking for it takes a tenth of that time."""
    _skip_plugins()
    gc.disable()
    try:
        yield
    finally:
        # Modules are never garbage.
        gc.freeze()
        gc.enable()


def _skip_plugins() -> None:
    """pydantic looks for plugins in every installed package, which takes a tenth of a command's time.

    Its variable PYDANTIC_DISABLE_PLUGINS saves only a quarter of that. A pydantic without this module is not changed;
    one that needs more of it gets the real one.
    """
    loader = ModuleType(_LOADER)
    loader.__dict__.update(get_plugins=tuple, __getattr__=_of_the_real_loader)
    sys.modules.setdefault(_LOADER, loader)


def _of_the_real_loader(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    del sys.modules[_LOADER]
    return getattr(importlib.import_module(_LOADER), name)
