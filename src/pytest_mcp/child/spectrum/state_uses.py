"""Which functions can use state that other functions keep.

In come the modules of the project, a code object and the name of the state; out comes whether that code mentions it: by
its name in the module that has it, as an attribute of a module, or, for an attribute of a class, anywhere. Standard
library only; Python 3.8 and newer.
"""

from __future__ import annotations

import os
from types import CodeType, ModuleType
from typing import Iterable

from long_lived import ANY, Name


class Uses:
    def __init__(self, modules: Iterable[ModuleType]) -> None:
        # By file, the names that stand for modules there.
        self.modules = {
            str(module.__file__): {name for name, value in vars(module).items() if type(value) is ModuleType}
            for module in modules
        }
        self.words: dict[int, set[str]] = {}

    def may_use(self, code: CodeType, state: Name) -> bool:
        file, name = state
        words = self.words.get(id(code))
        if words is None:
            words = self.words[id(code)] = words_of(code)
        if name not in words:
            return False
        if file in (ANY, code.co_filename) or module_name(file) in words:
            return True
        return not words.isdisjoint(self.modules.get(code.co_filename, ()))


def words_of(code: CodeType) -> set[str]:
    """Strings too: a name can be looked up by one."""
    return {*code.co_names, *code.co_freevars, *(each for each in code.co_consts if type(each) is str)}


def module_name(file: str) -> str:
    folder, name = os.path.split(file)
    return os.path.basename(folder) if name == "__init__.py" else name.partition(".")[0]
