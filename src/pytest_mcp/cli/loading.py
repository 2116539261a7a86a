"""Import the modules of a command faster. Standard library only."""

import gc
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType


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

    Its variable PYDANTIC_DISABLE_PLUGINS saves only a quarter of that. A pydantic without this module is not changed.
    """
    loader = ModuleType("pydantic.plugin._loader")
    loader.__dict__["get_plugins"] = tuple
    sys.modules.setdefault(loader.__name__, loader)
