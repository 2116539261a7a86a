"""The functions of a Python file, each with a fingerprint of its code.

In comes the content of a file; out come its units by name: the body of each function, the header of each function that
is not inside another one, and everything else as `<module>`, which runs when the file is imported. Fingerprints are of
the text, not of byte code or of a dumped tree, so they are equal for every version of Python and on every machine.
Moved lines, blank lines and lines with only a comment do not change them. Pure.
"""

import ast
import hashlib
import io
import re
import tokenize
from bisect import bisect_right
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field

MODULE = "<module>"
# Ends the name of a header's unit.
HEADER = "()"
# The first digit of a header's fingerprint: it runs code at import; it is in a class that has bases or a decorator.
RUNS = 1
INHERITS = 2

Units = Mapping[str, str]
Definition = ast.FunctionDef | ast.AsyncFunctionDef
_LOCALS = ".<locals>."
_PLAIN_DEFAULTS = (ast.Constant, ast.UnaryOp)


@dataclass
class _Unit:
    name: str
    start: int
    end: int
    flags: int = 0
    # Parts that belong to other units.
    holes: list[tuple[int, int]] = field(default_factory=list)


def units(content: bytes) -> Units | None:
    """None if it cannot be parsed."""
    split = _split(content)
    return None if split is None else split.fingerprints()


def mentions(content: bytes, words: Collection[str]) -> set[str]:
    """The units that use one of these names in code or in a string. Plain imports and `__all__` do not count."""
    split = _split(content)
    return {MODULE} if split is None else split.mentions(words)


def digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:16]


def _split(content: bytes) -> "_Source | None":
    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(content).readline)
        text = content.decode(encoding).replace("\r\n", "\n").replace("\r", "\n")
        return _Source(text.encode(), ast.parse(text))
    except (SyntaxError, ValueError, LookupError, RecursionError, MemoryError):
        return None


class _Source:
    def __init__(self, content: bytes, tree: ast.Module) -> None:
        self.content = content
        self.tree = tree
        self.lines = [0, *(match.end() for match in re.finditer(rb"\n", content))]
        self.comments = self._comment_lines()
        self.units = [_Unit(MODULE, 0, len(content))]
        self._visit(tree, "", self.units[0], 0)

    def fingerprints(self) -> Units:
        found: dict[str, str] = {}
        for unit in self.units:
            code = digest(found.get(unit.name, "").encode() + self._text(unit))
            found[unit.name] = f"{unit.flags}{code[1:]}" if unit.name.endswith(HEADER) else code
        return found

    def mentions(self, words: Collection[str]) -> set[str]:
        skipped = {id(each) for node in self.tree.body if _is_export_list(node) for each in ast.walk(node)}
        nodes = (node for node in ast.walk(self.tree) if id(node) not in skipped and _mentions(node, words))
        return {self._unit_at(node) for node in nodes}

    def _unit_at(self, node: ast.AST) -> str:
        place = self._place(getattr(node, "lineno", 1), getattr(node, "col_offset", 0))
        inside = [unit for unit in self.units if unit.start <= place < unit.end]
        name = min(inside, key=lambda unit: unit.end - unit.start, default=self.units[0]).name
        return MODULE if name.endswith(HEADER) else name

    def _visit(self, node: ast.AST, prefix: str, owner: _Unit, flags: int) -> None:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, Definition):
                self._add(child, prefix, owner, flags)
            elif isinstance(child, ast.ClassDef):
                inherits = INHERITS if child.bases or child.keywords or child.decorator_list else 0
                self._visit(child, f"{prefix}{child.name}.", owner, inherits)
            else:
                self._visit(child, prefix, owner, flags)

    def _add(self, node: Definition, prefix: str, owner: _Unit, flags: int) -> None:
        name = prefix + node.name
        start, body = self._start(node), self._start(node.body[0])
        end = self._place(node.end_lineno or node.lineno, node.end_col_offset or 0)
        unit = _Unit(name, body, end)
        is_nested = _LOCALS in name
        owner.holes.append((body if is_nested else start, end))
        self.units += [unit] if is_nested else [unit, _Unit(name + HEADER, start, body, flags | _runs(node))]
        for statement in node.body:
            self._visit(ast.Module([statement], []), name + _LOCALS, unit, 0)

    def _start(self, node: ast.stmt) -> int:
        decorators = getattr(node, "decorator_list", ())
        first = min([node, *decorators], key=lambda each: each.lineno)
        # The character before the first decorator is its @, perhaps with spaces between: the line has nothing else.
        return self.lines[first.lineno - 1] if decorators else self._place(first.lineno, first.col_offset)

    def _place(self, line: int, column: int) -> int:
        return self.lines[line - 1] + column

    def _comment_lines(self) -> set[int]:
        """Lines with nothing or only a comment, that are not inside of a string."""
        in_strings: set[int] = set()
        for node in ast.walk(self.tree):
            if isinstance(node, (ast.Constant, ast.JoinedStr)) and (node.end_lineno or 0) > node.lineno:
                in_strings.update(range(node.lineno, node.end_lineno or 0))
        texts = (line.lstrip() for line in self.content.split(b"\n"))
        return {number for number, text in enumerate(texts) if not text or text.startswith(b"#")} - in_strings

    def _text(self, unit: _Unit) -> bytes:
        parts, place = [], unit.start
        for start, end in [*sorted(unit.holes), (unit.end, unit.end)]:
            parts.append(b"".join(self._without_comments(place, start)))
            place = max(place, end)
        # Of parts, not of holes: a function that is added must not change the text around it.
        return b"".join(parts)

    def _without_comments(self, start: int, end: int) -> Iterator[bytes]:
        line = bisect_right(self.lines, start) - 1
        while start < end:
            stop = min(end, self.lines[line + 1] if line + 1 < len(self.lines) else end)
            if line not in self.comments:
                text = self.content[start:stop]
                yield text if text.strip() else b""
            start, line = stop, line + 1


def _runs(node: Definition) -> int:
    defaults = [each for each in (*node.args.defaults, *node.args.kw_defaults) if each is not None]
    return RUNS if node.decorator_list or not all(isinstance(each, _PLAIN_DEFAULTS) for each in defaults) else 0


def _is_export_list(node: ast.stmt) -> bool:
    targets = node.targets if isinstance(node, ast.Assign) else []
    return any(isinstance(target, ast.Name) and target.id == "__all__" for target in targets)


def _mentions(node: ast.AST, words: Collection[str]) -> bool:
    match node:
        case ast.Name():
            return node.id in words
        case ast.Attribute():
            return node.attr in words
        case ast.alias():
            return node.name.rpartition(".")[2] in words and node.asname not in (None, node.name)
        case ast.Constant(value=str() as text):
            return any(_is_in(word, text) for word in words)
    return False


def _is_in(word: str, text: str) -> bool:
    """As a word of the text; or the text is the beginning of a name that is computed, as `visit_` is."""
    begins = text.endswith("_") and len(text) > 1 and word.startswith(text)
    return begins or (word in text and re.search(rf"\b{re.escape(word)}\b", text) is not None)


@dataclass(frozen=True)
class Difference:
    """`bodies` are functions whose code differs; `names` those that came, went or have another header."""

    bodies: frozenset[str] = frozenset()
    names: frozenset[str] = frozenset()
    at_import: bool = False


def compare(old: Units | None, new: Units | None) -> Difference:
    if old is None or new is None:
        return Difference(at_import=True)
    differing = {name for name in old.keys() | new.keys() if old.get(name) != new.get(name)}
    headers = {name for name in differing if name.endswith(HEADER)}
    wide = MODULE in differing or any(_is_wide(name, old.get(name), new.get(name)) for name in headers)
    changed = frozenset(name.removesuffix(HEADER) for name in headers)
    bodies = frozenset(differing - headers - {MODULE}) | changed
    words = frozenset(name.rpartition(".")[2] for name in changed if not _is_collected(name))
    return Difference(bodies, words, wide)


def _is_wide(name: str, old: str | None, new: str | None) -> bool:
    """Whether more than calls by its name can depend on this header."""
    flags = int((old or "0")[0]) | int((new or "0")[0])
    plain = name.removesuffix(HEADER).rpartition(".")[2]
    is_new = old is None or new is None
    is_special = plain.startswith(("__", "pytest_"))
    return bool(flags & RUNS) or is_special or (is_new and bool(flags & INHERITS))


def _is_collected(name: str) -> bool:
    """pytest itself calls these, and collects them anew."""
    return name.rpartition(".")[2].startswith("test")
