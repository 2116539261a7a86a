"""Which definitions the test files of a project reach, by the names that their code mentions.

The nodes are of these kinds, each with what it stands for:
- `test`, a test file: all that is in it, the conftest files above it;
- `file`: its code that runs at import; `value`: the module, handed around, so that any attribute of it may be used;
- `def`: a definition; `gone` and `came`: that there is one no more, or now, which matters to code that imports it;
- `any`: an attribute of something unknown; `own`: one of self in a class; `called`: either, for one class;
- `fixture`: a fixture's name; `text`: a word in quotes; `prefix`: the beginning of a name that is computed;
- `annotated`: what the annotations of a definition mention;
- `flag`: code that finds names in some way that no syntax tree shows.
A method needs its class to be reached, and its name. It has too many edges rather than too few.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from itertools import chain as chain_all

from pytest_mcp.changed.definitions import AS_PROGRAM, AT_IMPORT
from pytest_mcp.changed.imports import Imports
from pytest_mcp.changed.lookup import Lookup
from pytest_mcp.changed.mention import Chain, FileMentions, Mention, Origin
from pytest_mcp.changed.module_names import Modules
from pytest_mcp.changed.project_files import is_of_tests
from pytest_mcp.changed.spread import Key, Spread
from pytest_mcp.changed.telltales import UNMENTIONED

_SESSION_HOOK = re.compile(r"pytest_(?!runtest|generate_tests|fixture|pyfunc|pycollect|assert|make_param)")
_WORD = re.compile(r"[A-Za-z_]\w*")
_CODE = re.compile(r"\.([A-Za-z_]\w{0,60})|\b([A-Za-z_]\w{0,60})\(")
_SCRIPT = re.compile(r"([\w-]+)\.py\b")
_IMPORTED = re.compile(r"\b(?:from|import)[ \t]+([A-Za-z_][\w.]{0,200})(?:[ \t]+import[ \t]+\(?([\w, \t*]{1,500}))?")
# Longer texts are read as words in tests only.
_MAX_NAME = 200
_MODULE_HOOKS = ("__getattr__", "__dir__")


class NameGraph:
    def __init__(
        self,
        modules: Modules,
        lookup: Lookup,
        imports: Imports,
        words: Iterable[str],
        programs: Iterable[str],
    ) -> None:
        self._modules = modules
        self._lookup = lookup
        self._imports = imports
        # What the settings of pytest and of the package mention.
        self._words = tuple(words)
        # The functions that the package's entry points name.
        self._programs = tuple(programs)
        self.spread = Spread(self._expand)
        self._prefixes: set[str] = set()
        self._names: set[str] = set()
        self._session_files = [path for path in modules.files if path.endswith("conftest.py") and self._has_hooks(path)]

    def run(self) -> None:
        """Also methods that no code that is reached mentions: only what is outside of the project can call them."""
        self.spread.run()
        linked: set[Key] = set()
        while unmentioned := self._unmentioned() - linked:
            for path, owner, name in unmentioned:
                self.spread.edge(("def", path, owner), ("def", path, name))
            linked |= unmentioned
            self.spread.run()

    def _unmentioned(self) -> set[Key]:
        return {
            (path, owner, name)
            for (path, owner), methods in self._lookup.methods.items()
            for method, name in methods.items()
            if not self.spread.bits(("called", path, owner, method))
        }

    def _has_hooks(self, path: str) -> bool:
        return any(_SESSION_HOOK.match(name) for name in self._lookup.definitions(path))

    def _expand(self, key: Key) -> None:
        expand = _EXPANDING.get(key[0])
        if expand is not None:
            for end in expand(self, *key[1:]):
                self.spread.edge(key, end)

    # --- files -------------------------------------------------------------------------------------

    def _expand_test(self, path: str) -> Iterator[Key]:
        yield "file", path
        yield from (("file", each) for each in self._modules.around(path, conftests=True))
        yield from (("file", each) for each in self._session_files)
        for name, mention in self._lookup.definitions(path).items():
            yield "def", path, name
            for each in mention.origins():
                # An imported fixture or test class is one of this file.
                if each.name is not None:
                    ends = self._lookup.imported(path, each, (), set())
                    yield from (end for end in ends if end[0] == "def")
                for file in self._lookup.stars(path, each):
                    names = filter(UNMENTIONED.match, self._lookup.definitions(file))
                    yield from (("def", file, star) for star in names)
        for word in self._words:
            yield from self._dotted(word.replace(":", "."), is_text=True)
            yield "any", word

    def _expand_file(self, path: str) -> Iterator[Key]:
        yield from (("file", each) for each in self._modules.around(path))
        read = self._lookup.read(path)
        if read is None:
            return
        for name, mention in read.definitions.items():
            if mention.kind == "import" or name == AT_IMPORT:
                yield from self._imported(path, mention)
                for origin in mention.origins():
                    yield from (("def", each, "__all__") for each in self._lookup.stars(path, origin))
            self._note_definition(path, name, mention)
        chains = {chain for chain in read.run.chains if len(chain) == 1 or not self._lookup.is_data(path, chain[0])}
        yield from self._mentioned(path, replace(read.run, chains=chains), "")
        yield "def", path, AT_IMPORT
        now, before = read.versions or (read, read)
        yield from self._needed(path, now, "gone")
        yield from self._needed(path, before, "came")
        for callee, given in read.given:
            if any(self._lookup.keeps(end, 0) for end in self._lookup.targets(path, callee)):
                yield from self._lookup.targets(path, given)
        for name in read.additions:
            for end in self._lookup.targets(path, (name,)):
                if end[0] == "def":
                    self.spread.edge(end, ("def", path, name))

    def _imported(self, path: str, mention: Mention) -> Iterator[Key]:
        yield from (("file", each) for each in self._imports.of(path, mention))

    def _note_definition(self, path: str, name: str, mention: Mention) -> None:
        """What reaches a definition that is not mentioned: what it is registered with, pytest, what lists classes."""
        edge, own = self.spread.edge, ("def", path, name)
        if name.rpartition(".")[2].startswith("pytest_") or mention.autouse or name in _MODULE_HOOKS:
            edge(("file", path), own)
        if name == "pytest_plugins":
            for file in chain_all.from_iterable(map(self._modules.named, mention.strings)):
                edge(("file", path), ("file", file))
        if mention.fixture is not None:
            edge(("any", mention.fixture), ("fixture", mention.fixture))
            edge(("flag", "fixtures"), ("fixture", mention.fixture))
            self.spread.pair(("file", path), ("fixture", mention.fixture), own)
        if mention.kind == "class":
            self.spread.pair(("file", path), ("flag", "subclasses"), own)
            for each in self._lookup.family(path, name)[1:]:
                for method in ("__init_subclass__", "__class_getitem__"):
                    if method in self._lookup.methods_of(*each):
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
        targets = list(self._lookup.targets(path, chain))
        if any(self._lookup.keeps(end, int(is_called)) for end in targets):
            yield "file", path
        if len(chain) > 1:
            for end in self._lookup.targets(path, chain[:1]):
                if end[0] == "def" and self._lookup.kind(end) not in ("import", None):
                    yield end

    def _expand_value(self, path: str) -> Iterator[Key]:
        yield "file", path
        for name, mention in self._lookup.definitions(path).items():
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
        mention = self._lookup.definitions(path).get(name)
        if mention is None:
            return
        around = name if mention.kind == "class" else mention.owner
        yield from self._mentioned(path, mention, around)
        yield from (("fixture", each) for each in mention.parameters)
        if {"imports", "computes"} <= mention.flags and name not in _MODULE_HOOKS:
            # Both names may stand in a file of data.
            yield "flag", "loads"
        if mention.annotated:
            self.spread.pair(("def", path, name), ("flag", "annotations"), ("annotated", path, name))
        if mention.kind == "class":
            yield from self._class(path, name)

    def _expand_annotated(self, path: str, name: str) -> Iterator[Key]:
        mention = self._lookup.definitions(path)[name]
        for chain in mention.annotated:
            yield from self._lookup.targets(path, chain, mention.imports)

    def _mentioned(self, path: str, mention: Mention, around: str) -> Iterator[Key]:
        known = self._lookup.definitions(path)
        for chain in mention.chains:
            if around and f"{around}.{chain[0]}" in known:
                yield "def", path, f"{around}.{chain[0]}"
            yield from self._lookup.targets(path, chain, mention.imports)
            if "__dict__" in chain[1:]:
                ends = list(self._lookup.targets(path, chain[: chain.index("__dict__", 1)], mention.imports))
                yield from ends
                if any(self._lookup.kind(end) != "import" for end in ends):
                    yield "flag", "lists"
        yield from (("any", each) for each in mention.attributes)
        yield from (("own", path, around, each) if around else ("any", each) for each in mention.own)
        yield from self._imported(path, mention)
        for name in mention.modules:
            yield from (("value", each) for each in self._modules.of(path, 0, name))
            if name.startswith("."):
                yield from (("value", each) for each in self._modules.of(path, 1, name.lstrip(".")))
        is_text = is_of_tests(path)
        # A package starts other programs: editors, compilers. Tests start the project's.
        starts = is_text or any(chain[-1] == "executable" for chain in mention.chains)
        yield from (("flag", each) for each in mention.flags if each != "starts" or starts)
        for text in mention.strings:
            yield from self._quoted(text, is_text=is_text)
        if mention.flags & {"module", "executes"}:
            yield from (("value", path), ("flag", "computes"))
        if "computes" in mention.flags:
            yield from self._computed(mention.strings)

    def _class(self, path: str, name: str) -> Iterator[Key]:
        family = self._lookup.family(path, name)
        is_open = any(self._lookup.has_outside_base(*each) for each in family)
        for method, full in self._lookup.methods_of(path, name).items():
            called = ("called", path, name, method)
            self._name(method, called)
            self.spread.pair(("def", path, name), called, ("def", path, full))
            if is_open or UNMENTIONED.match(method) or self._lookup.kind(("def", path, full)) == "class":
                yield "def", path, full
        for one in family:
            for other in family:
                for method in self._lookup.methods_of(*other):
                    self.spread.edge(("own", *one, method), ("called", *other, method))

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
            ends = self._lookup.module_chain("", Origin(0, parts[0], None), parts[1:], set())
            yield from (end for end in ends if end[0] != "value")
            for length in range(1, len(parts) + 1):
                for each in self._modules.named(".".join(parts[:length])):
                    yield from (("value" if is_text else "text", each), ("def", each, AS_PROGRAM), ("file", each))
        elif len(parts) > 1:
            yield from (("any", part) for part in parts)

    def _program(self, stem: str) -> Iterator[Key]:
        for each in self._modules.called(stem):
            yield from (("value", each), ("def", each, AS_PROGRAM), ("def", each, AT_IMPORT))

    def _expand_code(self, word: str) -> tuple[()]:
        self.spread.pair(("flag", "executes"), ("code", word), ("any", word))
        return ()

    def _expand_text(self, word: str) -> tuple[()]:
        is_file = word in self._modules.files
        self.spread.pair(("flag", "imports"), ("text", word), ("value" if is_file else "any", word))
        if not is_file:
            self.spread.pair(("flag", "computes"), ("text", word), ("any", word))
        if word.endswith("_"):
            self.spread.pair(("flag", "computes"), ("text", word), ("prefix", word))
        return ()

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
        if flag in ("imports", "loads"):
            yield from (("value", path) for path in self._modules.files)
        if flag == "loads":
            for path in self._modules.files:
                names = self._lookup.definitions(path).items()
                yield from (("def", path, name) for name, mention in names if not mention.owner)
        if flag in ("imports", "starts"):
            for program in self._programs:
                yield from self._dotted(program, is_text=True)
        if flag == "starts":
            for path in self._modules.files:
                if path.endswith("__main__.py") or AS_PROGRAM in self._lookup.definitions(path):
                    yield from (("value", path), ("def", path, AS_PROGRAM))

    def _needed(self, path: str, read: FileMentions, change: str) -> Iterator[Key]:
        """What the import of a file notices if it is gone, or if it came since the base."""
        imports = (mention.origins() for mention in read.definitions.values() if mention.kind == "import")
        ends = [self._lookup.imported(path, origin, (), set()) for each in imports for origin in each]
        for end in chain_all(*ends, *(self._lookup.targets(path, chain) for chain in read.needed)):
            if end[0] == "def":
                yield change, *end[1:]


def _is_dotted(text: str) -> bool:
    parts = text.replace(":", ".").split(".")
    return len(parts) > 1 and all(map(str.isidentifier, parts))


# The other kinds are reached, and lead to nothing of their own.
_EXPANDING: dict[str, Callable[..., Iterable[Key]]] = {
    "test": NameGraph._expand_test,
    "file": NameGraph._expand_file,
    "value": NameGraph._expand_value,
    "def": NameGraph._expand_def,
    "annotated": NameGraph._expand_annotated,
    "code": NameGraph._expand_code,
    "text": NameGraph._expand_text,
    "prefix": NameGraph._expand_prefix,
    "flag": NameGraph._expand_flag,
}
