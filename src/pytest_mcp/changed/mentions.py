"""What the text of one Python file says about other modules.

Import statements are parsed. All else is a scan of the text: for statements in strings, for dotted names that are used
or quoted, and for words that show imports which no text names. It may find too much and never too little. Which files
the names belong to is decided in `import_graph`.
"""

import ast
import re
import unicodedata
from collections.abc import Iterable, Iterator
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import NamedTuple

# The bytes of a name: beyond ASCII every byte, whatever the encoding.
_NAME = rb"\w\x80-\xff"
# Everything that is not of a dotted name as a space; quotes and colons as one kind of quote.
_WORDS = bytes(byte if re.match(rb"[%s.]" % _NAME, bytes([byte])) else ord(" ") for byte in range(256))
# The parts of a statement that contain others.
_BLOCKS = ("body", "orelse", "handlers", "finalbody", "cases")
# Statements of one line, as in examples of docstrings and in code that is executed.
_IN_STRINGS = re.compile(
    rb"(?:\bfrom[ \t]++([a-zA-Z0-9_.]{1,300}+)[ \t]++)?\bimport[ \t]++([a-zA-Z0-9_., \t*]{1,1000}+)"
)
_UNPARSED = "cannot be parsed by the server's Python"
_QUOTES = bytes.maketrans(b"':", b'""')
# In parts.
_MAX_NAME = 20
_NOT_OF_A_SCRIPT = re.compile(rb"[^%s\-]" % _NAME)
# Files that many folders have. To name one is not to run it.
_EVERY_FOLDER = frozenset({"__init__", "conftest"})
# Calls of these with a plain name in quotes are found as that name; every other use can import anything.
_LITERAL = rb"""(?!\s*+\(\s*+(["'])[A-Za-z_][\w.]*+\1\s*+[,)])"""
_COMPUTED = re.compile(rb"(?<!import )(?:import_module|__import__)%s|import import_module[ \t]+as" % _LITERAL)
_IMPORTING = (b"import_module", b"__import__")
# Packages of the standard library and others that load modules, and the names of theirs that do.
_LOADERS = frozenset({"importlib", "pkgutil", "runpy", "imp", "pkg_resources", "zipimport", "stevedore", "unittest"})
_LOADING = (
    *(b"spec_from_file", b"FileLoader", b"run_path", b"run_module", b"walk_packages", b"iter_modules", b"entry_point"),
    *(b"exec_module", b"load_module", b"resolve_name", b"load_source", b"import_file", b"import_path", b".discover("),
    b"loadTestsFrom",
)
# Packages that read the source of a project.
_READERS = frozenset({"mypy", "pylint", "flake8", "pyflakes", "pycodestyle", "black", "isort", "bandit", "vulture"})
_READERS |= {"grimp", "importlinter", "pytest_archon", "archunitpython", "compileall", "py_compile", "pyright"}
_LISTING = (b"glob(", b"iterdir", b"listdir", b"scandir", b"walk(", b"copytree")
# With a listing: it may run the files, or they may be the project's.
_RUNNING = (b".py", b"exec(", b"executable", b"__file__", b"cwd(", b"rootpath", b"rootdir")
# `}.py`, `%s.py`, `+ ".py"` and `with_suffix(".py"`. A pattern that begins with plain text is searched for quickly.
_COMPUTED_FILE = re.compile(
    rb"""\.py(?:(?<=\}\.py)\b|(?<=%[sr]\.py)\b|(?<=\+["']\.py)|(?<=\+\ ["']\.py)|(?<=with_suffix\(["']\.py))"""
)
# Frameworks that import what they find.
_DISCOVERING = (b"autodiscover", b"INSTALLED_APPS", b"find_modules")
_LAZY = (b"__getattr__", b"import_module", b"__import__", b"azy", b"exec(", b"eval(", b"globals()")
_STARTING = (b"subprocess", b"pytester", b"testdir", b"script_runner")
# `run_process` and `worker_processes`, but not `test_decorated_processors` and `post_process`.
_OF_PROCESSES = re.compile(rb"_process(?<!pre_process)(?<!post_process)(?<!test_process)(?:es)?(?![a-z])")
_STARTERS = frozenset({"pexpect", "sh", "plumbum", "invoke", "fabric", "docker"})
_OS_STARTING = re.compile(rb"os\.(?:system|popen|exec|spawn|posix_spawn|startfile)")
_PATHS = (b"sys.path", b"PYTHONPATH", b"syspath", b"meta_path", b"__path__")
# Hooks for the whole session. pytest calls the others of a conftest only for tests below it.
_HOOK = re.compile(rb"^def pytest_(?!runtest|generate_tests|fixture|pyfunc|pycollect|assert|make_param)", re.MULTILINE)
_PLUGINS = re.compile(rb"^[ \t]*+pytest_plugins\b", re.MULTILINE)


class Mentions(NamedTuple):
    # Dotted names of import statements. Relative ones begin with their dots.
    imports: frozenset[str] = frozenset()
    # Packages all of whose modules may be used: they have an alias, a star imports from them, or they are in quotes.
    whole: frozenset[str] = frozenset()
    # Dotted names that are used or quoted; modules in quotes, alone or before a colon; scripts without their ending.
    dotted: frozenset[str] = frozenset()
    quoted: frozenset[str] = frozenset()
    scripts: frozenset[str] = frozenset()
    # Why it may import any module, if it may.
    untold: str | None = None
    # Imports on demand; starts processes; changes where modules are looked for; is a plugin of pytest.
    lazy: bool = False
    starts: bool = False
    paths: bool = False
    plugin: bool = False


@dataclass(frozen=True)
class Names:
    """The names of a project: of its folders, of those that can begin a dotted name anywhere, of its modules.

    `packages` are the dotted names of its folders.
    """

    folders: frozenset[str]
    packages: frozenset[str]
    tops: frozenset[str]
    modules: frozenset[str]


class Scanner:
    """Scans files one after the other."""

    def __init__(self, names: Names) -> None:
        self._folders = names.folders
        self._tops = _encoded(names.tops)
        self._quotable_folders = _encoded(names.folders)
        self._packages = _encoded(names.packages)
        self._modules = _encoded(names.modules)
        self._quotable = self._quotable_folders | self._packages | self._modules

    def scan(self, content: bytes, path: str = "") -> Mentions:
        try:
            imports, whole = _imports(content)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return Mentions(untold=_UNPARSED)
        words = {name.partition(".")[0] for name in imports} | {name.rpartition(".")[2] for name in imports}
        quoted = self._quotable.intersection(content.translate(_QUOTES).split(b'"'))
        starts = _starts_processes(content, words)
        uses_files = starts or not quoted.isdisjoint(self._quotable_folders)
        return Mentions(
            imports=frozenset(imports),
            whole=frozenset(whole.union(map(_text, self._packages & quoted))),
            dotted=self._dotted(content, _encoded(self._folders & words)),
            quoted=frozenset(map(_text, self._modules & quoted)),
            scripts=_scripts(content) if b".py" in content else frozenset(),
            untold=_why_untold(content, words, uses_files=uses_files),
            lazy=path.endswith("__init__.py") and _has(content, _LAZY),
            starts=starts,
            # It changes where modules are looked for.
            paths="sys.path" in imports or _has(content, _PATHS),
            plugin=_is_plugin(content, is_conftest=path.endswith("conftest.py")),
        )

    def _dotted(self, content: bytes, folders: AbstractSet[bytes]) -> frozenset[str]:
        """Names that begin with one of these folders, or with a top."""
        tops = self._tops
        pieces = content.translate(_WORDS).split(b".")
        names = set()
        for number, piece in enumerate(pieces[:-1], 1):
            head = piece[piece.rfind(b" ") + 1 :]
            if head in tops or head in folders:
                rest, space, _ = pieces[number].partition(b" ")
                if not space:
                    rest = b".".join(pieces[number : number + _MAX_NAME]).partition(b" ")[0]
                names.add(head + b"." + rest)
        return frozenset(map(_text, names))


def _encoded(names: Iterable[str]) -> frozenset[bytes]:
    """Names of files need not be UTF-8."""
    return frozenset(name.encode("utf-8", "surrogateescape") for name in names)


def _imports(content: bytes) -> tuple[set[str], set[str]]:
    """The modules that statements name, and those of them all of whose contents may be used."""
    names, whole = set[str](), set[str]()
    for statement in _statements(ast.parse(content)):
        if not isinstance(statement, ast.Import | ast.ImportFrom):
            continue
        origin = "." * statement.level + (statement.module or "") if isinstance(statement, ast.ImportFrom) else ""
        prefix = origin if not origin or origin.endswith(".") else f"{origin}."
        for alias in statement.names:
            name = origin if alias.name == "*" else prefix + alias.name
            names.add(name)
            if alias.name == "*" or alias.asname:
                whole.add(name)
    for origin, listed in _IN_STRINGS.findall(content):
        prefix = origin if not origin or origin.endswith(b".") else origin + b"."
        entries = [entry.split() for entry in listed.split(b",") if entry.strip()]
        names.update((origin if words[0] == b"*" else prefix + words[0]).decode() for words in entries)
    return names, whole


def _statements(tree: ast.AST) -> Iterator[ast.AST]:
    """Without expressions, which are most of a tree."""
    left = [tree]
    while left:
        node = left.pop()
        yield node
        for block in _BLOCKS:
            left += getattr(node, block, ())


def _scripts(content: bytes) -> frozenset[str]:
    """The last word before each `.py`, without its folders."""
    *before, _ = content.split(b".py")
    return frozenset(_text(_NOT_OF_A_SCRIPT.split(text[-100:])[-1]) for text in before) - _EVERY_FOLDER


def _text(name: bytes) -> str:
    """As Python compares names."""
    return name.decode() if name.isascii() else unicodedata.normalize("NFKC", name.decode("utf-8", "replace"))


def _why_untold(content: bytes, packages: AbstractSet[str], *, uses_files: bool) -> str | None:
    """Why a file that imports these packages may depend on any file.

    `uses_files`: it starts processes, or names a folder of the project in quotes.
    """
    if b"import_" in content and _has(content, _IMPORTING) and _COMPUTED.search(content):
        return "imports modules by names that it computes"
    if not packages.isdisjoint(_LOADERS) and _has(content, _LOADING):
        return "looks for modules to load"
    if _has(content, _DISCOVERING):
        return "lets a framework find modules"
    if not packages.isdisjoint(_READERS):
        return "reads the source of the project"
    return "looks for files" if _looks_for_files(content, packages, uses_files=uses_files) else None


def _has(content: bytes, words: tuple[bytes, ...]) -> bool:
    for word in words:  # noqa: SIM110 - `any` takes longer, and this runs a dozen times for every file
        if word in content:
            return True
    return False


def _looks_for_files(content: bytes, packages: AbstractSet[str], *, uses_files: bool) -> bool:
    if b".py" in content and (b"*.py" in content or _COMPUTED_FILE.search(content)):
        return True
    if "glob" not in packages and not _has(content, _LISTING):
        return False
    return uses_files or _has(content, _RUNNING)


def _starts_processes(content: bytes, packages: AbstractSet[str]) -> bool:
    by_os = b"os." in content and _OS_STARTING.search(content) is not None
    by_name = b"_process" in content and _OF_PROCESSES.search(content) is not None
    return by_os or by_name or _has(content, _STARTING) or not packages.isdisjoint(_STARTERS)


def _is_plugin(content: bytes, *, is_conftest: bool) -> bool:
    """Whether it changes the session of pytest as a whole: by naming plugins or, in a conftest, by hooks."""
    if b"pytest_plugins" in content and _PLUGINS.search(content) is not None:
        return True
    return is_conftest and _HOOK.search(content) is not None
