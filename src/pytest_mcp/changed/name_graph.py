"""Which definitions the test files of a project reach, by the names that their code mentions.

The nodes are of these kinds, each with what it stands for:
- `test`, a test file: all that is in it, the conftest files above it;
- `file`: its code that runs at import; `value`: the module, handed around, so that any attribute of it may be used;
- `def`: a definition; `gone` and `came`: that there is one no more, or now, which matters to code that imports it;
- `any`: an attribute of something unknown; `own`: one of self in a class; `called`: either, for one class;
- `fixture`: a fixture's name; `text`: a word in quotes; `prefix`: the beginning of a name that is computed;
- `flag`: code that finds names in some way that no syntax tree shows.
A method needs its class to be reached, and its name. It has too many edges rather than too few.
"""

import builtins
import re
from collections.abc import Callable, Iterable, Iterator
from itertools import chain as chain_all

from pytest_mcp.changed.definitions import AS_PROGRAM, AT_IMPORT
from pytest_mcp.changed.mentions import Chain, FileMentions, Mention, Origin
from pytest_mcp.changed.module_names import Modules
from pytest_mcp.changed.project_files import is_of_tests
from pytest_mcp.changed.spread import Key, Spread

BUILTINS = frozenset(dir(builtins)) | {"__name__", "__file__", "__path__", "__package__", "__spec__", "__builtins__"}
# Classes whose subclasses have no method called for this reason alone.
_PLAIN_BASES = frozenset(
    {
        *("object", "ABC", "Generic", "Protocol", "Enum", "IntEnum", "StrEnum", "Flag", "IntFlag", "NamedTuple"),
        *("namedtuple", "TypedDict", "dict", "list", "tuple", "set", "frozenset", "str", "int", "float", "bytes"),
        *("OrderedDict", "defaultdict", "type", "UserDict", "UserList", "local", "SimpleNamespace"),
    }
)
# pytest, unittest, Python and its standard library call these without a mention.
_UNMENTIONED = re.compile(
    r"(?:__\w+__|test\w*|setup\w*|teardown\w*|setUp\w*|tearDown\w*|async(?:SetUp|TearDown)|runTest|pytest_\w+"
    r"|_missing_|_generate_next_value_|write|writelines|read1?|readinto1?|readline|readlines|flush|close|isatty|fileno"
    r"|readable|writable|seekable|seek|tell|emit|utcoffset|dst|tzname|keys|run|default|mro)\Z"
)
_SESSION_HOOK = re.compile(r"pytest_(?!runtest|generate_tests|fixture|pyfunc|pycollect|assert|make_param)")
_WORD = re.compile(r"[A-Za-z_]\w+")
_CODE = re.compile(r"\.([A-Za-z_]\w{1,60})|\b([A-Za-z_]\w{1,60})\(")
_SCRIPT = re.compile(r"([\w-]+)\.py\b")
_IMPORTED = re.compile(r"\b(?:from|import)[ \t]+([A-Za-z_][\w.]{0,200})(?:[ \t]+import[ \t]+\(?([\w, \t*]{1,500}))?")
# Longer texts are read as words in tests only.
_MAX_NAME = 200
_MODULE_HOOKS = ("__getattr__", "__dir__")
# In a class and those that it inherits from.
_MAX_FAMILY = 40


class NameGraph:
    def __init__(self, modules: Modules, read: Callable[[str], FileMentions | None], words: Iterable[str]) -> None:
        self._modules = modules
        self._read = read
        # What the settings of pytest and of the package mention.
        self._words = tuple(words)
        self.spread = Spread(self._expand)
        # Files whose code cannot be known.
        self.unread: set[str] = set()
        self._methods: dict[tuple[str, str], dict[str, str]] = {}
        self._prefixes: set[str] = set()
        self._names: set[str] = set()
        self._known: dict[tuple[str, Chain], tuple[Key, ...]] = {}
        self._session_files = [path for path in modules.files if path.endswith("conftest.py") and self._has_hooks(path)]

    def run(self) -> None:
        """Also methods that no code that is reached mentions: only what is outside of the project can call them."""
        self.spread.run()
        for _ in range(3):
            unmentioned = [
                (("def", path, owner), ("def", path, name))
                for (path, owner), methods in list(self._methods.items())
                for method, name in methods.items()
                if not self.spread.bits(("called", path, owner, method))
            ]
            for start, end in unmentioned:
                self.spread.edge(start, end)
            self.spread.run()

    def definitions(self, path: str) -> dict[str, Mention]:
        read = self._read(path)
        return {} if read is None else read.definitions

    def _has_hooks(self, path: str) -> bool:
        return any(_SESSION_HOOK.match(name) for name in self.definitions(path))

    def _expand(self, key: Key) -> None:
        expand = getattr(self, f"_expand_{key[0]}", None)
        for end in () if expand is None else expand(*key[1:]):
            self.spread.edge(key, end)

    # --- files -------------------------------------------------------------------------------------

    def _expand_test(self, path: str) -> Iterator[Key]:
        yield "file", path
        yield from (("file", each) for each in self._modules.around(path, conftests=True))
        yield from (("file", each) for each in self._session_files)
        for name, mention in self.definitions(path).items():
            yield "def", path, name
            for each in mention.imports.values():
                # An imported fixture or test class is one of this file.
                ends = self._imported(path, each, (), set()) if each.name is not None else ()
                yield from (end for end in ends if end[0] == "def")
        for word in self._words:
            yield from self._dotted(word.replace(":", "."), is_text=True)
            yield "any", word

    def _expand_file(self, path: str) -> Iterator[Key]:
        yield from (("file", each) for each in self._modules.around(path))
        read = self._read(path)
        if read is None:
            self.unread.add(path)
            return
        for name, mention in read.definitions.items():
            is_import = mention.kind == "import" or name == AT_IMPORT
            yield from self._imports_of(path, mention) if is_import else ()
            for origin in mention.imports.values() if is_import else ():
                yield from (("def", each, "__all__") for each in self._stars(path, origin))
            self._note_definition(path, name, mention)
        yield from self._mentioned(path, read.run, "")
        yield "def", path, AT_IMPORT
        now, before = read.versions or (read, read)
        yield from self._needed(path, now, "gone")
        yield from self._needed(path, before, "came")
        for callee, given in read.given:
            if any(self._leaks(end, 0) for end in self._targets(path, callee)):
                yield from self._targets(path, given)
        for name in read.additions:
            for end in self._targets(path, (name,)):
                if end[0] == "def":
                    self.spread.edge(end, ("def", path, name))

    def _imports_of(self, path: str, mention: Mention) -> Iterator[Key]:
        """The files that importing runs."""
        for origin in mention.imports.values():
            names = [origin.module] if origin.name in (None, "*") else [origin.module, f"{origin.module}.{origin.name}"]
            for name in names:
                yield from (("file", each) for each in self._modules.of(path, origin.level, name.removeprefix(".")))
        for name in (*mention.modules, *mention.dotted):
            parts = name.lstrip(".").split(".")
            level = len(name) - len(name.lstrip("."))
            for length in range(1, len(parts) + 1):
                yield from (("file", each) for each in self._modules.of(path, level, ".".join(parts[:length])))

    def _note_definition(self, path: str, name: str, mention: Mention) -> None:
        """What reaches a definition that is not mentioned: what it is registered with, pytest, what lists classes."""
        edge, own = self.spread.edge, ("def", path, name)
        if name.rpartition(".")[2].startswith("pytest_") or mention.autouse or name in _MODULE_HOOKS:
            edge(("file", path), own)
        for plugin in mention.strings if name == "pytest_plugins" else ():
            for file in self._modules.named(plugin):
                edge(("file", path), ("file", file))
        if mention.fixture is not None:
            edge(("any", mention.fixture), ("fixture", mention.fixture))
            self.spread.pair(("file", path), ("fixture", mention.fixture), own)
        if mention.kind == "class":
            self.spread.pair(("file", path), ("flag", "subclasses"), own)
            for each in self._family(path, name)[1:]:
                for method in ("__init_subclass__", "__class_getitem__"):
                    if method in self._methods_of(*each):
                        edge(("file", path), ("def", each[0], f"{each[1]}.{method}"))
                        edge(("file", path), own)
        for chain, is_called in mention.decorators:
            for start in self._keepers(path, chain, is_called=is_called):
                self.spread.pair(("file", path), start, own)

    def _keepers(self, path: str, chain: Chain, *, is_called: bool) -> Iterator[Key]:
        """What keeps or calls that which it decorates."""
        if chain[0].startswith("<"):
            yield "file", path
            return
        targets = list(self._targets(path, chain))
        if any(self._leaks(end, int(is_called)) for end in targets):
            yield "file", path
        if len(chain) > 1:
            for end in self._targets(path, chain[:1]):
                if end[0] == "def" and self._kind(end) not in ("import", "function", "class", None):
                    yield end

    def _leaks(self, end: Key, depth: int) -> bool:
        mention = self.definitions(end[1]).get(end[2]) if end[0] == "def" else None
        return mention is not None and (mention.kind == "class" or depth in mention.leaks)

    def _kind(self, end: Key) -> str | None:
        mention = self.definitions(end[1]).get(end[2]) if end[0] == "def" else None
        return None if mention is None else mention.kind

    def _expand_value(self, path: str) -> Iterator[Key]:
        yield "file", path
        for name, mention in self.definitions(path).items():
            if not mention.owner:
                self._name(name, ("called", path, "", name))
                self.spread.pair(("value", path), ("called", path, "", name), ("def", path, name))
        if path.endswith("__init__.py"):
            folder = path.removesuffix("__init__.py")
            for each in self._modules.below(folder.removesuffix("/")):
                stem = each.removeprefix(folder).removesuffix(".py").removesuffix("/__init__")
                if "/" not in stem and each != path:
                    self.spread.pair(("value", path), ("any", stem), ("value", each))

    def _name(self, name: str, called: Key) -> None:
        """What is called if its name is mentioned anywhere, or found by a list or a beginning."""
        self.spread.edge(("any", name), called)
        self.spread.edge(("flag", "lists"), called)
        self._names.add(name)
        for prefix in self._prefixes:
            if name.startswith(prefix) or name.endswith(prefix):
                self.spread.edge(("prefix", prefix), ("any", name))

    # --- definitions -------------------------------------------------------------------------------

    def _expand_def(self, path: str, name: str) -> Iterator[Key]:
        mention = self.definitions(path).get(name)
        if mention is None:
            return
        around = name if mention.kind == "class" else mention.owner
        yield from self._mentioned(path, mention, around)
        yield from (("fixture", each) for each in mention.parameters)
        if mention.kind == "class":
            yield from self._class(path, name)

    def _mentioned(self, path: str, mention: Mention, around: str) -> Iterator[Key]:
        known = self.definitions(path)
        for chain in mention.chains:
            if around and f"{around}.{chain[0]}" in known:
                yield "def", path, f"{around}.{chain[0]}"
            ends = list(self._targets(path, chain, mention.imports))
            yield from ends
            if chain[-1] == "__dict__" and any(self._kind(end) != "import" for end in ends):
                yield "flag", "lists"
        yield from (("any", each) for each in mention.attributes)
        yield from (("own", path, around, each) if around else ("any", each) for each in mention.own)
        yield from self._imports_of(path, mention)
        for name in mention.modules:
            yield from (("value", each) for each in self._modules.of(path, 0, name))
            if name.startswith("."):
                yield from (("value", each) for each in self._modules.of(path, 1, name.lstrip(".")))
        yield from (("flag", each) for each in mention.flags)
        is_text = is_of_tests(path)
        for text in mention.strings:
            yield from self._quoted(text, is_text=is_text)
        if "module" in mention.flags:
            yield from (("value", path), ("flag", "computes"))
        if "computes" in mention.flags:
            yield from self._computed(mention.strings)

    def _class(self, path: str, name: str) -> Iterator[Key]:
        family = self._family(path, name)
        is_open = any(self._has_outside_base(*each) for each in family)
        for method, full in self._methods_of(path, name).items():
            called = ("called", path, name, method)
            self._name(method, called)
            self.spread.pair(("def", path, name), called, ("def", path, full))
            if is_open or _UNMENTIONED.match(method) or self._kind(("def", path, full)) == "class":
                yield "def", path, full
        for one in family:
            for other in family:
                for method in self._methods_of(*other):
                    self.spread.edge(("own", *one, method), ("called", *other, method))

    def _methods_of(self, path: str, owner: str) -> dict[str, str]:
        """By their last name."""
        if (path, owner) not in self._methods:
            found = {name: each for name, each in self.definitions(path).items() if each.owner == owner}
            self._methods[path, owner] = {name.rpartition(".")[2]: name for name in found}
        return self._methods[path, owner]

    def _family(self, path: str, name: str) -> list[tuple[str, str]]:
        """A class and those that it inherits from."""
        family = {(path, name): None}
        left = [(path, name)]
        while left and len(family) < _MAX_FAMILY:
            file, owner = left.pop()
            mention = self.definitions(file).get(owner)
            for chain in mention.bases if mention is not None else ():
                for end in self._targets(file, chain):
                    if self._kind(end) == "class" and (end[1], end[2]) not in family:
                        family[end[1], end[2]] = None
                        left.append((end[1], end[2]))
        return list(family)

    def _has_outside_base(self, path: str, name: str) -> bool:
        mention = self.definitions(path).get(name)
        return mention is not None and any(
            chain[-1] not in _PLAIN_BASES
            and not chain[-1].endswith(("Error", "Exception", "Warning"))
            and not any(self._kind(end) == "class" for end in self._targets(path, chain))
            for chain in mention.bases
        )

    # --- names that no chain shows -----------------------------------------------------------------

    def _quoted(self, text: str, *, is_text: bool) -> Iterator[Key]:
        """A text may name a module, something in one, or an attribute; a text in a test may be code."""
        if len(text) <= _MAX_NAME and _is_dotted(text):
            yield from self._dotted(text.replace(":", "."), is_text=is_text)
        elif text.isidentifier():
            yield "text", text
        if not is_text:
            yield from (("code", one or other) for one, other in _CODE.findall(text))
        else:
            yield from (("any", word) for word in _WORD.findall(text))
            for name, listed in _IMPORTED.findall(text):
                for each in [name, *(f"{name}.{word}" for word in _WORD.findall(listed))]:
                    yield from self._dotted(each, is_text=True)
        if ".py" in text:
            yield from (end for stem in _SCRIPT.findall(text) for end in self._program(stem))

    def _dotted(self, name: str, *, is_text: bool) -> Iterator[Key]:
        parts = tuple(name.split("."))
        if self._modules.is_inside(parts[0]):
            ends = self._module_chain("", Origin(0, parts[0], None), parts[1:], set())
            yield from (end for end in ends if end[0] != "value")
            for length in range(1, len(parts) + 1):
                for each in self._modules.named(".".join(parts[:length])):
                    yield from (("value" if is_text else "text", each), ("def", each, AS_PROGRAM), ("file", each))
        elif len(parts) > 1:
            yield from (("any", part) for part in parts)

    def _program(self, stem: str) -> Iterator[Key]:
        for each in self._modules.called(stem):
            yield from (("value", each), ("def", each, AS_PROGRAM), ("def", each, AT_IMPORT))

    def _expand_code(self, word: str) -> Iterator[Key]:
        self.spread.pair(("flag", "executes"), ("code", word), ("any", word))
        yield from ()

    def _expand_text(self, word: str) -> Iterator[Key]:
        if word in self._modules.files:
            self.spread.pair(("flag", "imports"), ("text", word), ("value", word))
            return
        self.spread.pair(("flag", "computes"), ("text", word), ("any", word))
        self.spread.pair(("flag", "imports"), ("text", word), ("any", word))
        if word.endswith("_"):
            self.spread.pair(("flag", "computes"), ("text", word), ("prefix", word))
        yield from ()

    def _computed(self, strings: Iterable[str]) -> Iterator[Key]:
        yield from (
            ("prefix", word)
            for text in strings
            if len(text) <= _MAX_NAME
            for word in _WORD.findall(text)
            if len(word) > 2
        )

    def _expand_prefix(self, prefix: str) -> Iterator[Key]:
        self._prefixes.add(prefix)
        yield from (("any", name) for name in self._names if name.startswith(prefix) or name.endswith(prefix))

    def _expand_flag(self, flag: str) -> Iterator[Key]:
        if flag == "imports":
            yield from (("value", path) for path in self._modules.files)
        if flag == "starts":
            for path in self._modules.files:
                if path.endswith("__main__.py") or AS_PROGRAM in self.definitions(path):
                    yield from (("value", path), ("def", path, AS_PROGRAM))

    # --- what a chain stands for -------------------------------------------------------------------

    def _needed(self, path: str, read: FileMentions, change: str) -> Iterator[Key]:
        """What the import of a file notices if it is gone, or if it came since the base."""
        imports = (mention.imports.values() for mention in read.definitions.values() if mention.kind == "import")
        ends = [self._imported(path, origin, (), set()) for each in imports for origin in each]
        for end in chain_all(*ends, *(self._targets(path, chain) for chain in read.needed)):
            if end[0] == "def":
                yield change, *end[1:]

    def _targets(
        self, path: str, chain: Chain, imports: dict[str, Origin] | None = None, seen: set[Key] | None = None
    ) -> Iterator[Key]:
        if imports and chain[0] in imports:
            yield from self._imported(path, imports[chain[0]], chain[1:], set())
        elif seen is not None:
            yield from self._looked_up(path, chain, seen)
        else:
            if (path, chain) not in self._known:
                self._known[path, chain] = tuple(self._looked_up(path, chain, set()))
            yield from self._known[path, chain]

    def _looked_up(self, path: str, chain: Chain, seen: set[Key]) -> Iterator[Key]:
        root, rest = chain[0], chain[1:]
        if (path, root) in seen:
            return
        seen.add((path, root))
        mention = self.definitions(path).get(root)
        if mention is not None:
            yield from self._bound(path, mention, chain, seen)
        else:
            bound = self._starred(path, chain, seen)
            yield from bound
            if root not in BUILTINS and not any(end[0] == "def" for end in bound):
                yield from (("any", each) for each in chain)
        if rest and root in BUILTINS:
            yield from (("any", each) for each in rest)

    def _bound(self, path: str, mention: Mention, chain: Chain, seen: set[Key]) -> Iterator[Key]:
        root, rest = chain[0], chain[1:]
        yield "def", path, root
        if root in mention.imports:
            yield from self._imported(path, mention.imports[root], rest, seen)
        if mention.kind == "class" and rest:
            nested = f"{root}.{rest[0]}"
            if self._kind(("def", path, nested)) == "class":
                yield from self._bound(path, self.definitions(path)[nested], (nested, *rest[1:]), seen)
            yield "own", path, root, rest[0]
            yield from (("any", each) for each in rest[1:])
        elif mention.kind != "import":
            yield from (("any", each) for each in rest)

    def _starred(self, path: str, chain: Chain, seen: set[Key]) -> list[Key]:
        """What star imports bind it to."""
        stars = self.definitions(path).get("*")
        origins = stars.imports.values() if stars is not None else ()
        ends = (self._targets(each, chain, None, seen) for origin in origins for each in self._stars(path, origin))
        return list(chain_all(*ends))

    def _stars(self, path: str, origin: Origin) -> Iterator[str]:
        if origin.name == "*":
            yield from self._modules.of(path, origin.level, origin.module)

    def _imported(self, path: str, origin: Origin, rest: Chain, seen: set[Key]) -> Iterator[Key]:
        if origin.name is None:
            yield from self._module_chain(path, origin, rest, seen)
        elif origin.name != "*":
            yield from self._module_chain(path, origin, (origin.name, *rest), seen)

    def _module_chain(self, path: str, origin: Origin, rest: Chain, seen: set[Key]) -> Iterator[Key]:
        """An attribute of a module is a module in it, or something that it binds."""
        files = self._modules.of(path, origin.level, origin.module)
        if not rest:
            yield from (("value", each) for each in files)
            return
        inner = Origin(origin.level, f"{origin.module}.{rest[0]}".removeprefix("."), None)
        is_module = self._is_module(path, inner)
        yield from (("file", each) for each in self._modules.of(path, inner.level, inner.module))
        yield from self._module_chain(path, inner, rest[1:], seen) if is_module else ()
        for each in files:
            if rest[0] in self.definitions(each) or ("*" in self.definitions(each) and not is_module):
                yield from self._targets(each, rest, None, seen)
            else:
                yield "def", each, rest[0]
                yield from (("any", name) for name in rest[1:])

    def _is_module(self, path: str, origin: Origin) -> bool:
        return bool(self._modules.of(path, origin.level, origin.module)) or (
            not origin.level and self._modules.is_inside(origin.module)
        )


def _is_dotted(text: str) -> bool:
    parts = text.replace(":", ".").split(".")
    return len(parts) > 1 and all(map(str.isidentifier, parts))
