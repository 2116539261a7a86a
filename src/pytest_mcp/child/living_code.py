"""Puts mutated code into the functions that live in this process, or says that this would not be honest.

A mutant is a changed span of a file's bytes with as many lines as before. The top-level statement around it is compiled
before and after. What differs inside of functions is exchanged in all living functions that were made from it, wherever
they are held: in registries, by decorators, as closures. What differs outside of functions (class bodies, defaults,
decorators, constants) has run already, and so may a suspended generator; then only a new import is honest.
"""

from __future__ import annotations
import __future__

import ast
import dis
import functools
import gc
import os
import sys
from types import CodeType, FunctionType, GeneratorType
from typing import Any, Callable, Iterator, NamedTuple, Tuple

CACHE: Any = type(functools.lru_cache(maxsize=None)(len))
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)

# The path of a file, the first line of a function and its name; the first and the last line of a top-level statement.
Key = Tuple[str, int, str]
Span = Tuple[int, int]


class Context(NamedTuple):
    """What of a file has a part in how one of its statements is compiled: its features, and the names it imports."""

    flags: int
    imports: list[Any]


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
        self.statements: dict[str, list[Span]] = {}
        self.sources: dict[str, bytes] = {}
        self.contexts: dict[str, Context] = {}
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
        mutated = source[:start] + text + source[end:]
        first, last = self.statement_at(path, source.count(b"\n", 0, start) + 1)
        context = self.context(path)
        old = compiled(part(source, first, last), path, context)
        new = compiled(part(mutated, first, last), path, context)
        if is_same(old, new):
            raise Same
        if path not in self.loaded:
            # It will be imported in the fork, from the mutated file.
            return Patch([], [])
        codes = list(self.exchanged(path, old, new, part(mutated, first, last), context))
        return Patch(codes, self.caches)

    def lines_with_code(self, path: str) -> set[int]:
        """Without those of a `def`, which run when it is defined."""
        todo = [compiled(self.source(path), path, Context(0, []))]
        lines: set[int] = set()
        while todo:
            code = todo.pop()
            todo += nested(code)
            lines.update(line for _, line in dis.findlinestarts(code) if line)
        return lines

    def statement_at(self, path: str, line: int) -> Span:
        if path not in self.statements:
            self.statements[path] = [span_of(node) for node in ast.parse(self.source(path)).body]
        for span in self.statements[path]:
            if span[0] <= line <= span[1]:
                return span
        raise Same

    def context(self, path: str) -> Context:
        if path not in self.contexts:
            flags, imports = 0, []
            for node in in_module_scope(ast.parse(self.source(path))):
                if isinstance(node, ast.ImportFrom) and node.module == "__future__":
                    flags |= functools.reduce(
                        int.__or__, (getattr(__future__, each.name).compiler_flag for each in node.names)
                    )
                elif isinstance(node, (ast.Import, ast.ImportFrom)):
                    imports.append(node)
            self.contexts[path] = Context(flags, imports)
        return self.contexts[path]

    def exchanged(
        self, path: str, old: CodeType, new: CodeType, text: bytes, context: Context
    ) -> Iterator[tuple[FunctionType, CodeType]]:
        pairs = list(differing(old, new))
        lost = {key_of(after): missing(before, after) for before, after in pairs if missing(before, after)}
        if lost:
            # A function takes only code with the free variables that it has.
            again = compiled(text, path, context, lost)
            pairs = list(differing(old, again))
        for before, after, is_outermost in ((*pair, place) for pair, place in outermost(pairs)):
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


def span_of(node: Any) -> Span:
    first = min([node.lineno] + [each.lineno for each in getattr(node, "decorator_list", ())])
    return first, node.end_lineno


def part(source: bytes, first: int, last: int) -> bytes:
    """These lines where they are: behind empty ones."""
    lines = source.split(b"\n")
    return b"\n" * (first - 1) + b"\n".join(lines[first - 1 : last]) + b"\n"


def in_module_scope(node: Any) -> Iterator[Any]:
    """All nodes that are not inside of a function or class."""
    yield node
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, (*FUNCTIONS, ast.ClassDef, ast.Lambda, ast.expr)):
            yield from in_module_scope(child)


def compiled(text: bytes, path: str, context: Context, lost: Any = None) -> CodeType:
    """`lost` names variables that functions must have, though they do not use them."""
    try:
        module = compile(text, path, "exec", context.flags | ast.PyCF_ONLY_AST, dont_inherit=True)
        module.body[:0] = context.imports
        for node in ast.walk(module) if lost else ():
            names = lost.get((span_of(node)[0], node.name)) if isinstance(node, FUNCTIONS) else None
            if names:
                keep_names(node, names)
        code: CodeType = compile(ast.fix_missing_locations(module), path, "exec", context.flags, dont_inherit=True)
        return code
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise Same from error


def keep_names(node: Any, names: set[str]) -> None:
    uses: list[ast.stmt] = [ast.Expr(ast.Name(name, ast.Load())) for name in sorted(names)]
    dead = ast.If(ast.Constant(False), uses, [])
    for each in ast.walk(dead):
        ast.copy_location(each, node.body[-1])
    node.body.append(dead)


def key_of(code: CodeType) -> tuple[int, str]:
    return code.co_firstlineno, code.co_name


def missing(before: CodeType, after: CodeType) -> set[str]:
    return set(before.co_freevars).difference(after.co_freevars)


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


def outermost(pairs: list[tuple[CodeType, CodeType]]) -> Iterator[tuple[tuple[CodeType, CodeType], bool]]:
    """Each with whether it is in no other function of them."""
    inner: set[int] = set()
    for before, after in pairs:
        yield (before, after), id(before) not in inner
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
