"""What each definition of a Python file mentions, by the names in its syntax tree.

A chain is a name that is not local, with the attributes behind it: `shop.cart.total`. Attributes of anything else are
known by their names alone. Annotations are no mentions, but for the fields of classes and for functions with
decorators, where a framework may read them.
"""

import ast
import re
from collections.abc import Callable, Iterable, Iterator

from pytest_mcp.changed import telltales
from pytest_mcp.changed.definitions import (
    AS_PROGRAM,
    DOCSTRING,
    FUNCTIONS,
    Definition,
    bound_name,
    definitions,
    is_describing,
)
from pytest_mcp.changed.keeping import arguments, callee, chain_of, kept_depths, running
from pytest_mcp.changed.mention import Call, Chain, FileMentions, Mention, Origin

_WORD = re.compile(r"[A-Za-z_]\w*")
# The methods of a class that get what it is called with.
_MAKING = ("__init__", "__new__", "__post_init__")


def scan(tree: ast.Module) -> FileMentions:
    found = FileMentions()
    for each in definitions(tree):
        mention = mention_of(each)
        if each.kind == "addition" and not is_describing(each.node):
            found.additions.add(each.name)
        found.imported += [(mention, not each.heads)] if each.kind == "import" else []
        found.definitions.setdefault(each.name, Mention(each.kind, owner=each.owner)).update(mention)
        if each.name != AS_PROGRAM:
            _note_run(found, each)
            found.needed |= set() if each.kind == "function" else mention.chains
            found.needed |= {chain for chain, _ in mention.decorators}
    return found


def mention_of(each: Definition) -> Mention:
    reader = _Reader(Mention(each.kind, owner=each.owner))
    node = each.node
    if each.kind not in ("addition", "statement"):
        reader.mention.bound.add(_is_data(node))
    if isinstance(node, ast.ClassDef):
        _read_class(reader, node)
    elif isinstance(node, FUNCTIONS):
        is_method = bool(each.owner) and not any(_last(one) == "staticmethod" for one in node.decorator_list)
        reader.function(node, is_method=is_method)
        _read_decorators(reader.mention, node)
        is_known = not each.owner or node.name in _MAKING
        # `def __init__(*given)` has it in what it is given.
        first = next((given.arg for given in arguments(node.args)), "")
        reader.mention.leaks = kept_depths(node, first if each.owner else "") if is_known else set()
    elif (
        each.name == DOCSTRING
        or (isinstance(node, ast.Assign | ast.AnnAssign) and "__all__" in each.name)
        or is_describing(node)
    ):
        return reader.mention
    else:
        reader.visit(node)
    for head in each.heads:
        reader.visit(head)
    return reader.finished()


def _is_data(node: ast.AST) -> bool:
    value = node.value if isinstance(node, ast.Assign | ast.AnnAssign) else None
    is_made = isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and value.func.id in telltales.DATA
    return is_made or isinstance(value, ast.Dict | ast.List | ast.Set | ast.Tuple | ast.Constant | ast.JoinedStr)


def _read_class(reader: "_Reader", node: ast.ClassDef) -> None:
    mention = reader.mention
    for base in node.bases:
        chain = chain_of(base)
        # A base that is computed may be anything.
        mention.bases.append(chain or ("<computed>",))
    reader.class_body(node, with_methods=False)
    _read_decorators(mention, node)
    mention.has_metaclass = any(each.arg == "metaclass" for each in node.keywords)
    # A metaclass gets the class as a decorator does.
    mention.decorators += [
        (chain_of(each.value) or ("<computed>",), False) for each in node.keywords if each.arg == "metaclass"
    ]


def _read_decorators(mention: Mention, node: ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) -> None:
    for each in node.decorator_list:
        is_called = isinstance(each, ast.Call)
        chain = chain_of(each.func if isinstance(each, ast.Call) else each) or ("<computed>",)
        mention.decorators.append((chain, is_called))
        if "fixture" in chain[-1]:
            mention.fixture = node.name
            for keyword in each.keywords if isinstance(each, ast.Call) else ():
                value = keyword.value.value if isinstance(keyword.value, ast.Constant) else True
                if keyword.arg == "autouse" and value:
                    mention.autouse = True
                elif keyword.arg == "name":
                    mention.fixture = str(value)


def _last(node: ast.AST) -> str | None:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else None


def _note_run(found: FileMentions, each: Definition) -> None:
    reader = _Reader(found.run)
    found.calls |= {called for called, _ in _calls(each)}
    if isinstance(each.node, (*FUNCTIONS, ast.ClassDef)):
        reader.visit_all(each.node.decorator_list)
    for node in running([each.node, *each.heads] if not each.owner else ()):
        if isinstance(node, ast.Call):
            chain = chain_of(node.func)
            reader.visit(node if _last(node.func) in telltales.FLAGS else node.func)
            for given in [*node.args, *(keyword.value for keyword in node.keywords)]:
                if chain and (name := chain_of(given)):
                    found.given.add((chain, name))
        elif isinstance(node, ast.Attribute) and chain_of(node) is None:
            found.run.attributes.add(node.attr)
    reader.finished()


def _calls(each: Definition) -> Iterator[tuple[Call, ast.AST]]:
    """What a definition calls at import, and what decorates it."""
    decorators = each.node.decorator_list if isinstance(each.node, (*FUNCTIONS, ast.ClassDef)) else []
    for decorator in decorators:
        chain, depth = callee(decorator)
        yield (chain, depth + 1), decorator
    for node in running(decorators if each.owner else [each.node, *each.heads]):
        if isinstance(node, ast.Call):
            yield callee(node), node


def calls_at_import(tree: ast.Module) -> set[tuple[Call, str, str]]:
    """Each with the definition that calls, and how it is written."""
    return {(called, each.name, ast.dump(node)) for each in definitions(tree) for called, node in _calls(each)}


class _Reader:
    """Reads one definition. What it finds is resolved when the function that it stands in ends."""

    def __init__(self, mention: Mention) -> None:
        self.mention = mention
        self._loads: list[Chain] = []
        self._stores: set[str] = set()
        self._globals: set[str] = set()

    def finished(self) -> Mention:
        mention = self.mention
        mention.chains.update(self._loads)
        longer = [chain for chain in mention.chains if len(chain) > 1]
        ends = {word for chain in longer for word in (chain[0], chain[-1], ".".join(chain[-2:]))}
        words = {chain[0] for chain in mention.chains if len(chain) == 1} | ends - telltales.BUILT_IN - {"__dict__"}
        words |= (mention.attributes - telltales.BARE) | (mention.parameters & telltales.STARTING_FIXTURES)
        mention.flags.update(telltales.FLAGS[word] for word in words & telltales.FLAGS.keys())
        return mention

    def visit(self, node: ast.AST) -> None:
        known = _READERS.get(type(node))
        if known is not None:
            known(self, node)
        else:
            for child in ast.iter_child_nodes(node):
                self.visit(child)

    def visit_all(self, nodes: Iterable[ast.AST | None]) -> None:
        for node in nodes:
            if node is not None:
                self.visit(node)

    def name(self, node: ast.Name) -> None:
        if isinstance(node.ctx, ast.Load):
            self._loads.append((node.id,))
        else:
            self._stores.add(node.id)

    def attribute(self, node: ast.Attribute) -> None:
        parts = [node.attr]
        value = node.value
        while isinstance(value, ast.Attribute):
            parts.append(value.attr)
            value = value.value
        parts.reverse()
        if isinstance(value, ast.Name):
            self._loads.append((value.id, *parts))
        elif isinstance(value, ast.Call) and _last(value.func) == "super":
            self.mention.own.add(parts[0])
            self.mention.attributes.update(parts[1:])
        else:
            self.mention.attributes.update(parts)
            self.visit(value)

    def call(self, node: ast.Call) -> None:
        name, first = _last(node.func), node.args[0] if node.args else None
        second = node.args[1] if len(node.args) > 1 else None
        flag = telltales.COMPUTED.get(name or "") or telltales.COMPUTED.get(
            ".".join(("", *(chain_of(node.func) or ()))[-2:])
        )
        if flag and len(node.args) < 3 and not isinstance(first, ast.Constant | None):
            self.mention.flags.add(flag)
        if name in telltales.ACCESS and isinstance(second, ast.Constant):
            self.mention.attributes.add(str(second.value))
        elif name in telltales.IMPORTING and isinstance(first, ast.Constant) and isinstance(first.value, str):
            self.mention.modules.add(first.value)
        elif name in telltales.LISTING and first is not None and (chain := chain_of(first)):
            self._loads.append((*chain, "__dict__"))
            self.mention.attributes |= {"__dict__"} if chain in (("self",), ("cls",)) else set()
        else:
            self.visit(node.func)
        self.visit_all([*node.args, *node.keywords])

    def constant(self, node: ast.Constant) -> None:
        if isinstance(node.value, str | bytes) and node.value:
            text = node.value if isinstance(node.value, str) else node.value.decode("latin-1")
            self.mention.strings.add(text)

    def statement(self, node: ast.Expr) -> None:
        # Not a docstring.
        if not isinstance(node.value, ast.Constant):
            self.visit(node.value)

    def imports(self, node: ast.Import | ast.ImportFrom) -> None:
        for alias in node.names:
            self.mention.imports.setdefault(bound_name(alias), set()).add(origin(node, alias))
            self.mention.dotted |= {alias.name} if isinstance(node, ast.Import) else set()

    def annotated(self, node: ast.AnnAssign) -> None:
        self.visit_all([node.target, node.value])

    def scope(self, read: Callable[[], None], own: str | None = None) -> None:
        """Reads what has names of its own."""
        outer = self._loads, self._stores, self._globals
        self._loads, self._stores, self._globals = [], set(), set()
        read()
        loads, stores = self._loads + [(name,) for name in self._globals], self._stores - self._globals
        self._loads, self._stores, self._globals = outer
        for chain in loads:
            if chain[0] == own and len(chain) > 1:
                self.mention.own.add(chain[1])
                self.mention.attributes.update(chain[2:])
            elif chain[0] in stores and chain[0] not in self.mention.imports:
                self.mention.attributes.update(chain[1:])
            else:
                self._loads.append(chain)

    def function(self, node: ast.AST, *, is_method: bool = False) -> None:
        assert isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda), "see _READERS"
        given = arguments(node.args)
        decorators = [] if isinstance(node, ast.Lambda) else node.decorator_list
        self.visit_all([*decorators, *node.args.defaults, *node.args.kw_defaults])
        if not isinstance(node, ast.Lambda):
            self._annotations([*(each.annotation for each in given), node.returns], is_read=bool(decorators))
            self._stores.add(node.name)
        names = {each.arg for each in given}
        self.mention.parameters |= names
        body = [node.body] if isinstance(node, ast.Lambda) else node.body

        def read() -> None:
            self._stores |= names
            self.visit_all(body)

        self.scope(read, given[0].arg if is_method and given else None)

    def _annotations(self, nodes: Iterable[ast.AST | None], *, is_read: bool) -> None:
        given = [each for each in nodes if each is not None]
        self.visit_all(given if is_read else ())
        for each in (inner for node in given for inner in ast.walk(node)):
            if isinstance(each, ast.Constant) and isinstance(each.value, str):
                self.mention.annotated |= {(word,) for word in _WORD.findall(each.value)}
            elif chain := chain_of(each):
                self.mention.annotated.add(chain)

    def class_body(self, node: ast.ClassDef, *, with_methods: bool = True) -> None:
        self.visit_all([*node.decorator_list, *node.bases, *node.keywords])
        self._stores.add(node.name)
        for each in node.body:
            self._in_class(each, with_methods=with_methods)

    def _in_class(self, node: ast.stmt, *, with_methods: bool) -> None:
        if not with_methods and isinstance(node, (*FUNCTIONS, ast.ClassDef)):
            self.visit_all(node.decorator_list)
        elif isinstance(node, ast.AnnAssign):
            self.visit_all([node.annotation, node.value])
        elif not with_methods and isinstance(node, ast.If | ast.Try):
            self.visit_all([getattr(node, "test", None)])
            for each in [*node.body, *node.orelse, *getattr(node, "finalbody", [])]:
                self._in_class(each, with_methods=False)
            for handler in getattr(node, "handlers", []):
                for each in handler.body:
                    self._in_class(each, with_methods=False)
        else:
            # What a class binds is no name of the functions in it.
            before = set(self._stores)
            self.visit(node)
            self._stores &= before

    def comprehension(self, node: ast.AST) -> None:
        self.scope(lambda: self.visit_all(ast.iter_child_nodes(node)))

    def changes(self, node: ast.Global) -> None:
        self._globals.update(node.names)

    def named(self, node: ast.AST) -> None:
        name = getattr(node, "name", None) or getattr(node, "rest", None)
        self._stores |= {name} if name else set()
        self.visit_all(ast.iter_child_nodes(node))


def origin(node: ast.Import | ast.ImportFrom, alias: ast.alias) -> Origin:
    if isinstance(node, ast.ImportFrom):
        return Origin(node.level, node.module or "", alias.name)
    # `import a.b` binds a, and `import a.b as c` binds a.b.
    return Origin(0, alias.name if alias.asname else alias.name.partition(".")[0], None)


_READERS: dict[type[ast.AST], Callable[..., None]] = {
    ast.Name: _Reader.name,
    ast.Attribute: _Reader.attribute,
    ast.Call: _Reader.call,
    ast.Constant: _Reader.constant,
    ast.Expr: _Reader.statement,
    ast.Global: _Reader.changes,
    ast.Import: _Reader.imports,
    ast.ImportFrom: _Reader.imports,
    ast.AnnAssign: _Reader.annotated,
    ast.FunctionDef: _Reader.function,
    ast.AsyncFunctionDef: _Reader.function,
    ast.Lambda: _Reader.function,
    ast.ClassDef: _Reader.class_body,
    **dict.fromkeys((ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp), _Reader.comprehension),
    **dict.fromkeys((ast.ExceptHandler, ast.MatchAs, ast.MatchStar, ast.MatchMapping), _Reader.named),
}
