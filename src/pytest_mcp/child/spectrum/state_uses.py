"""State that tests have left to each other: which tests changed it, and which functions can use it.

In come the names of state that differs after a test, in the end also the modules of the project and all functions that
ran; out come, for each name, the tests that changed it and the functions that mention it. A name in a module is used
there, or as an attribute of a module. An attribute of a class is used by functions that mention it, in tests that also
have a way to that class. Of a counter only the functions that count matter, not what else its tests executed. Standard
library only; Python 3.8 and newer.
"""

from __future__ import annotations

import os
from types import CodeType, ModuleType
from typing import Iterable, Iterator, NamedTuple

from long_lived import ALL, LongLived, Name
from state_code import StateCode


class State(NamedTuple):
    # Numbers of tests.
    tests: list[int]
    # If it is a counter.
    counting: list[CodeType]
    using: list[CodeType]
    # Of a class: functions with a way to it.
    leading: list[CodeType]


class Left:
    def __init__(self) -> None:
        self.tests: dict[Name, list[int]] = {}

    def add(self, test: int, names: Iterable[Name]) -> None:
        for name in names:
            self.tests.setdefault(name, []).append(test)

    def states(self, long_lived: LongLived, modules: Iterable[ModuleType], known: list[CodeType]) -> Iterator[State]:
        uses, source = Uses(modules, known), StateCode()
        ways = long_lived.ways_to({name.owner for name in self.tests if name.owner})
        leading = {owner: list(uses.of_any(names, source)) for owner, names in ways.items()}
        for name, tests in sorted(self.tests.items()):
            using = list(uses.of_any([name], source))
            writes = [(code, source.writes(code, name.name, is_attribute=bool(name.owner))) for code in uses.of(name)]
            stores = [store for _, stores in writes for store in stores]
            if using and stores and all(stores):
                yield State([], [code for code, stores in writes if stores], using, leading.get(name.owner, []))
            elif using:
                yield State(tests, [], using, leading.get(name.owner, []))


class Uses:
    def __init__(self, modules: Iterable[ModuleType], known: list[CodeType]) -> None:
        # By file, the names that stand for modules there, with the files of those.
        self.modules = {
            str(module.__file__): {
                name: getattr(value, "__file__", None)
                for name, value in list(vars(module).items())
                if type(value) is ModuleType
            }
            for module in modules
        }
        self.words = {id(code): words_of(code) for code in known}
        self.by_word: dict[str, list[CodeType]] = {}
        for code in known:
            for word in self.words[id(code)]:
                self.by_word.setdefault(word, []).append(code)
        self.known = known

    def of_any(self, names: Iterable[Name], source: StateCode) -> Iterator[CodeType]:
        """The functions that use one of these names, and do not only add to what it stands for."""
        found = {id(code): code for name in names for code in self.of(name) if not source.only_adds(code, name.name)}
        return iter(found.values())

    def of(self, state: Name) -> list[CodeType]:
        if state.name == ALL:
            own = [code for code in self.known if code.co_filename == state.file]
            return own + self.by_word.get(module_name(state.file), [])
        return [code for code in self.by_word.get(state.name, ()) if state.owner or self.sees(code, state.file)]

    def sees(self, code: CodeType, file: str) -> bool:
        """Whether names of that module are used here: it is its own, or it names the module."""
        words = self.words[id(code)]
        if file == code.co_filename or module_name(file) in words:
            return True
        aliases = self.modules.get(code.co_filename, {})
        return any(aliases[word] == file for word in words & aliases.keys())


def words_of(code: CodeType) -> set[str]:
    """Strings too: a name can be looked up by one. An import names its module with dots.

    With its own name and, from Python 3.11 on, that of its class: a decorator can have given it objects.
    """
    strings = [each for each in code.co_consts if type(each) is str]
    own = getattr(code, "co_qualname", code.co_name).split(".")
    words = {*code.co_names, *code.co_freevars, *strings, *own}
    return words.union(*(name.split(".") for name in code.co_names if "." in name))


def module_name(file: str) -> str:
    folder, name = os.path.split(file)
    return os.path.basename(folder) if name == "__init__.py" else name.partition(".")[0]
