"""Whether a function changes state that lives longer than its call, by its code and by the values of its first call.

In come a code object and a frame; out come the names of that state: a global name, an attribute of a class, a container
that either leads to. A name is how other functions reach the same state. Standard library only; Python 3.8 and newer.
"""

from __future__ import annotations

import dis
import re
from types import CodeType
from typing import Any, Iterator

from long_lived import ANY, LongLived, Name, is_state

CACHING = re.compile(r"cache|memo|once|lazy|singleton", re.IGNORECASE)
MUTABLE_DEFAULT = re.compile(r"= ?(?:\[|\{|[A-Za-z_][\w.]{0,99}\()")
MUTATORS = {"append", "add", "setdefault", "update", "insert", "extend", "register", "appendleft", "push"}
MUTATORS |= {"pop", "remove", "clear", "discard", "popitem", "popleft"}
GLOBAL, ATTRIBUTE, ITEM = dis.opmap["STORE_GLOBAL"], dis.opmap["STORE_ATTR"], dis.opmap["STORE_SUBSCR"]
LOADS = ("LOAD_GLOBAL", "LOAD_NAME", "LOAD_DEREF", "LOAD_CLASSDEREF")


def keeps_state(code: CodeType, frame: Any) -> bool:
    if GLOBAL in operations(code):
        return True
    if used_mutators(code) and any(is_state(value) for _, value in containers(code, frame)):
        return True
    return bool(assigned_outside(code))


def written_names(code: CodeType, frame: Any, long_lived: LongLived) -> set[Name]:
    names = {(ANY, name) for name in assigned_outside(code)}
    if GLOBAL in operations(code):
        stores = (each.argval for each in dis.get_instructions(code) if each.opname == "STORE_GLOBAL")
        names.update((code.co_filename, name) for name in stores)
    mutators = used_mutators(code)
    for name, value in containers(code, frame) if mutators else ():
        if is_changed(value, code, mutators):
            names.add((code.co_filename, name))
            names.update(long_lived.names.get(id(value), ()))
    if mutators and code.co_varnames[:1] in (("self",), ("cls",)):
        names.update((ANY, name) for name in class_containers(code, frame, mutators))
    return names


def operations(code: CodeType) -> bytes:
    return code.co_code[::2]


def used_mutators(code: CodeType) -> set[str]:
    return (MUTATORS & set(code.co_names)) | ({"__setitem__"} if ITEM in operations(code) else set())


def containers(code: CodeType, frame: Any) -> Iterator[tuple[str, Any]]:
    # Not by f_locals, unless needed: it makes a copy.
    for name in code.co_names:
        if name in frame.f_globals:
            yield name, frame.f_globals[name]
    if code.co_freevars:
        # Most closures live only as long as one call.
        local = frame.f_locals
        for name in filter(CACHING.search, code.co_freevars):
            yield name, local.get(name)


def is_changed(value: Any, code: CodeType, mutators: set[str]) -> bool:
    """It or one of its attributes that the code names has such a method."""
    inner = getattr(value, "__dict__", {}) if is_state(value) and type(value).__module__ != "builtins" else {}
    values = [value, *(inner[name] for name in code.co_names if name in inner)]
    return any(is_state(each) and any(hasattr(type(each), name) for name in mutators) for each in values)


def class_containers(code: CodeType, frame: Any, mutators: set[str]) -> Iterator[str]:
    """`self.x.append(...)` where `x` is an attribute of the class."""
    first = frame.f_locals.get(code.co_varnames[0])
    classes = first.__mro__ if issubclass(type(first), type) else type(first).__mro__
    for name in code.co_names:
        value = next((vars(each)[name] for each in classes if name in vars(each)), None)
        if isinstance(value, (list, dict, set)) and any(hasattr(type(value), each) for each in mutators):
            yield name


def assigned_outside(code: CodeType) -> list[str]:
    """`cls.x = ...`, `NAME.x = ...` or `type(self).x = ...`: the object is loaded just before."""
    found: list[str] = []
    before: Any = None
    for instruction in dis.get_instructions(code) if ATTRIBUTE in operations(code) else ():
        if instruction.opcode == ATTRIBUTE and before is not None and is_outside(before, code):
            found.append(instruction.argval)
        if instruction.opname not in ("CACHE", "EXTENDED_ARG"):
            before = instruction
    return found


def is_outside(load: Any, code: CodeType) -> bool:
    if "LOAD_FAST" in load.opname:
        # Newer Pythons load two names by one instruction.
        last = load.argval[-1] if isinstance(load.argval, tuple) else load.argval
        return bool(last == "cls" == code.co_varnames[0])
    if load.opname.startswith("CALL"):
        return "type" in code.co_names
    # The instance, if a function inside of the method uses it too.
    return load.argval != "self" and (load.opname in LOADS or load.argval == "__class__")


def changes_its_instance(code: CodeType) -> bool:
    """A method other than `__init__`, whose instance is new."""
    is_method = code.co_argcount > 0 and code.co_varnames[0] == "self" and code.co_name != "__init__"
    return is_method and (ATTRIBUTE in operations(code) or bool(used_mutators(code)))
