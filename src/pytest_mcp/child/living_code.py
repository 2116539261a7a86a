"""Puts mutated code into the functions that live in this process, or says that this would not be honest.

A mutant is a changed span of a file's bytes with as many lines as before. The file is compiled before and after. What
differs inside of functions is exchanged in all living functions that were made from it, wherever they are held: in
registries, by decorators, as closures. What differs outside of functions (class bodies, defaults, decorators,
constants) has run already, and so may a suspended generator; then only a new import would be honest.
"""

from __future__ import annotations

import dis
import functools
import gc
import os
import sys
from types import CodeType, FunctionType, GeneratorType
from typing import Any, Callable, Iterator, NamedTuple, Tuple

CACHE: Any = type(functools.lru_cache(maxsize=None)(len))

# The path of a file, the first line of a function and its name.
Key = Tuple[str, int, str]


class NotHonest(Exception):
    """A fork cannot show what this mutant does; the message says why."""


class Same(Exception):
    """It is no mutant: compiled it is the same, or it cannot be compiled."""


class Patch(NamedTuple):
    """Functions, each with its mutated code; and the caches to clear."""

    codes: list[tuple[FunctionType, CodeType]]
    caches: list[Any]

    def apply(self) -> None:
        for function, code in self.codes:
            function.__code__ = code
        clear(self.caches)


class LivingCode:
    """What lives in this process of chosen files. `path_of` is the path below the root, if the name is that of one."""

    def __init__(self, path_of: Callable[[str], str | None], root: str) -> None:
        self.root = root
        self.functions: dict[Key, list[FunctionType]] = {}
        self.caches: list[Any] = []
        self.suspended: set[Key] = set()
        # Files with any code that has run here.
        self.loaded: set[str] = set()
        self.sources: dict[str, bytes] = {}
        self.compiled: dict[str, CodeType] = {}
        for module in list(sys.modules.values()):
            path = path_of(getattr(module, "__file__", None) or "<none>")
            if path is not None:
                self.loaded.add(path)
        for each in gc.get_objects():
            kind = type(each)
            if kind is FunctionType:
                self.add_function(each, path_of(each.__code__.co_filename))
            elif kind is CACHE and self.is_ours(each):
                self.caches.append(each)
            elif kind is GeneratorType and each.gi_frame is not None:
                code = each.gi_code
                self.suspended.add((path_of(code.co_filename) or "", code.co_firstlineno, code.co_name))

    def add_function(self, function: FunctionType, path: str | None) -> None:
        if path is not None:
            self.loaded.add(path)
            code = function.__code__
            self.functions.setdefault((path, code.co_firstlineno, code.co_name), []).append(function)

    def source(self, path: str) -> bytes:
        if path not in self.sources:
            with open(os.path.join(self.root, path), "rb") as handle:
                self.sources[path] = handle.read()
        return self.sources[path]

    def patch(self, path: str, start: int, end: int, text: bytes) -> Patch:
        """Raises NotHonest or Same."""
        source = self.source(path)
        old, new = self.code(path), compiled(source[:start] + text + source[end:], path)
        if is_same(old, new):
            raise Same
        if path not in self.loaded:
            # It will be imported in the fork, from the mutated file.
            return Patch([], [])
        return Patch(list(self.exchanged(path, old, new)), self.caches)

    def code(self, path: str) -> CodeType:
        if path not in self.compiled:
            self.compiled[path] = compiled(self.source(path), path)
        return self.compiled[path]

    def lines_with_code(self, path: str) -> set[int]:
        """Without those of a `def`, which run when it is defined."""
        todo = [self.code(path)]
        lines: set[int] = set()
        while todo:
            code = todo.pop()
            todo += nested(code)
            lines.update(line for _, line in dis.findlinestarts(code) if line)
        return lines

    def exchanged(self, path: str, old: CodeType, new: CodeType) -> Iterator[tuple[FunctionType, CodeType]]:
        for before, after, is_outermost in outermost(differing(old, new)):
            key = (path, before.co_firstlineno, before.co_name)
            if key in self.suspended:
                raise NotHonest("a generator that began during the imports has it")
            functions = self.functions.get(key, ())
            if is_outermost and not functions:
                raise NotHonest("no function that lives here was made from it")
            for function in functions:
                if not is_same(function.__code__, before):
                    raise NotHonest("something has changed its code")
                if function.__code__.co_freevars != after.co_freevars:
                    raise NotHonest("it would need other variables")
                yield function, after.replace(co_filename=function.__code__.co_filename)

    def is_ours(self, cache: Any) -> bool:
        code = getattr(getattr(cache, "__wrapped__", None), "__code__", None)
        return isinstance(code, CodeType) and code.co_filename.startswith(self.root + os.sep)


def clear(caches: list[Any]) -> None:
    for cache in caches:
        cache.cache_clear()


def compiled(source: bytes, path: str) -> CodeType:
    try:
        code: CodeType = compile(source, path, "exec", dont_inherit=True)
        return code
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise Same from error


def key_of(code: CodeType) -> tuple[int, str]:
    return code.co_firstlineno, code.co_name


def nested(code: CodeType) -> list[CodeType]:
    return [each for each in code.co_consts if isinstance(each, CodeType)]


def differing(old: CodeType, new: CodeType) -> Iterator[tuple[CodeType, CodeType]]:
    """The functions whose code differs, the outermost first. Raises NotHonest if code outside of functions does."""
    is_function = is_of_function(old)
    if is_function:
        yield old, new
    elif not is_same(old, new, deep=False):
        raise NotHonest("it runs during the imports")
    inside, others = nested(old), nested(new)
    if [key_of(each) for each in inside] != [key_of(each) for each in others]:
        if is_function:
            return
        raise NotHonest("it runs during the imports")
    for before, after in zip(inside, others):
        if not is_same(before, after):
            yield from differing(before, after)


def outermost(pairs: Iterator[tuple[CodeType, CodeType]]) -> Iterator[tuple[CodeType, CodeType, bool]]:
    """Each with whether it is in no other function of them."""
    inner: set[int] = set()
    for before, after in pairs:
        yield before, after, id(before) not in inner
        inner.update(map(id, nested(before)))


def is_of_function(code: CodeType) -> bool:
    """Code of modules and class bodies has no fast local variables."""
    return bool(code.co_flags & 0x1)  # CO_OPTIMIZED


def is_same(one: CodeType, other: CodeType, *, deep: bool = True) -> bool:
    """Whether both do the same, wherever their columns are."""
    if one.co_code != other.co_code or key_of(one) != key_of(other) or one.co_flags != other.co_flags:
        return False
    names = ("co_names", "co_varnames", "co_freevars", "co_cellvars", "co_argcount", "co_kwonlyargcount")
    if any(getattr(one, name) != getattr(other, name) for name in names):
        return False
    if getattr(one, "co_exceptiontable", b"") != getattr(other, "co_exceptiontable", b""):
        return False
    return len(one.co_consts) == len(other.co_consts) and all(
        is_same_constant(mine, theirs, deep) for mine, theirs in zip(one.co_consts, other.co_consts)
    )


def is_same_constant(one: Any, other: Any, deep: bool) -> bool:
    if isinstance(one, CodeType) and isinstance(other, CodeType):
        return is_same(one, other) if deep else key_of(one) == key_of(other)
    if type(one) is not type(other):
        return False
    if isinstance(one, tuple):
        return len(one) == len(other) and all(is_same_constant(*pair, deep) for pair in zip(one, other))
    # 0.0 and -0.0 are equal.
    return repr(one) == repr(other) if isinstance(one, (float, complex, frozenset)) else bool(one == other)
