"""Import modules faster. Standard library only."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def loading() -> Iterator[None]:
    """While modules are imported there is no garbage, and looking for it takes a tenth of that time."""
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
