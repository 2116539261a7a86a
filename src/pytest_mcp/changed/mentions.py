"""What the text of one Python file says about other modules.

It is a scan, not a parser: it finds every import statement wherever it stands (in functions, behind `;`, in strings and
comments too), dotted names that are used or quoted, and words that show imports which no text names. It may find too
much and never too little. Which files the names belong to is decided in `import_graph`.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import NamedTuple

# The bytes of a name: beyond ASCII every byte, whatever the encoding.
_NAME = rb"\w\x80-\xff"
# More names in one line or one list than a person writes; a file that has more is not read any further.
_MAX_LINE = 1_000
_MAX_LIST = 50_000
# Stands for the names that were not read.
UNREAD = "\0"
_TOO_LONG = "has an import statement that is too long to read"
# The names behind `import`, in one line that may be continued or in a list with comments. They are not consumed: what
# looks like a list may be a comment, with a real statement in its next line. Every length is limited, since the next
# search begins inside of it.
_LISTED = (
    rb"(?=((?:[ \t\f]++|\\(?:\r\n?|\n)){0,99}+(?:\((?:[%(n)s.,*\s\\]{1,50000}+|#[^\r\n]{0,2000}+){0,999}+"
    rb"|[%(n)s.,* \t\f]{0,1000}+(?:\\(?:\r\n?|\n)[%(n)s.,* \t\f]{0,1000}+){0,50}+)))"
) % {b"n": _NAME}
_IMPORT = re.compile(rb"import(?![%s])%s" % (_NAME, _LISTED))
# What precedes `import`: a line ends only behind a backslash.
_FROM = re.compile(rb"from((?:[.%s \t\f]|\\(?:\r\n?|\n))*+)\Z" % _NAME)
_MAX_ORIGIN = 300
_LINE_END = re.compile(rb"\r\n?|\n")
# Everything that is not of a dotted name as a space; quotes and colons as one kind of quote.
_WORDS = bytes(byte if re.match(rb"[%s.]" % _NAME, bytes([byte])) else ord(" ") for byte in range(256))
_QUOTES = bytes.maketrans(b"':", b'""')
# In parts.
_MAX_NAME = 20
_NOT_OF_A_SCRIPT = re.compile(rb"[^%s\-]" % _NAME)
# Files that many folders have. To name one is not to run it.
_EVERY_FOLDER = frozenset({"__init__", "conftest"})
_COMMENT = re.compile(rb"#[^\r\n]*+")
_GLUE = bytes.maketrans(b"(\\\r\n\t\f", b"      ")
# Encodings in which an ASCII character is its byte; a file in another one cannot be scanned.
_CODING = re.compile(rb"(?:[^\n]{0,500}\n)?[ \t\f]*+#[^\n]{0,500}?coding[:=][ \t]*+([-\w.]++)")
_ASCII_BASED = ("utf-8", "utf8", "latin", "iso-8859", "iso8859", "cp125", "ascii", "us-ascii", "koi8", "euc", "windows")

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
# The packages that matter here.
_PACKAGES = _LOADERS | _READERS | _STARTERS | {"glob"}
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


class Statement(NamedTuple):
    """What one import statement names.

    `packages` are those that matter here; `folders` are those of the project that are no tops.
    """

    names: tuple[str, ...]
    whole: frozenset[str]
    packages: frozenset[str]
    folders: frozenset[bytes]


class Scanner:
    """Scans files one after the other, and parses equal statements once."""

    def __init__(self, names: Names) -> None:
        self._folders = names.folders
        self._tops = _encoded(names.tops)
        self._quotable_folders = _encoded(names.folders)
        self._packages = _encoded(names.packages)
        self._modules = _encoded(names.modules)
        self._quotable = self._quotable_folders | self._packages | self._modules
        # By the text before and behind `import`.
        self._statements: dict[tuple[bytes, bytes], Statement] = {}

    def scan(self, content: bytes, path: str = "") -> Mentions:
        statements = list(self._statements_in(content))
        imports = set[str]().union(*(each.names for each in statements))
        whole = set[str]().union(*(each.whole for each in statements))
        packages = set[str]().union(*(each.packages for each in statements))
        folders = set[bytes]().union(*(each.folders for each in statements))
        quoted = self._quotable.intersection(content.translate(_QUOTES).split(b'"'))
        starts = _starts_processes(content, packages)
        uses_files = starts or not quoted.isdisjoint(self._quotable_folders)
        untold = _why_untold(content, packages, uses_files=uses_files)
        return Mentions(
            imports=frozenset(imports),
            whole=frozenset(whole.union(map(_text, self._packages & quoted))),
            dotted=self._dotted(content, folders),
            quoted=frozenset(map(_text, self._modules & quoted)),
            scripts=_scripts(content) if b".py" in content else frozenset(),
            untold=_TOO_LONG if UNREAD in imports else untold,
            lazy=path.endswith("__init__.py") and _imports_on_demand(content),
            starts=starts,
            paths=_changes_paths(content, imports),
            plugin=_is_plugin(content, is_conftest=path.endswith("conftest.py")),
        )

    def _statements_in(self, content: bytes) -> Iterator[Statement]:
        for match in _IMPORT.finditer(content):
            start = match.start()
            key = (content[_beginning(content, start) : start], match[1])
            if (statement := self._statements.get(key)) is None:
                statement = self._statements[key] = self._parsed(*key)
            yield statement

    def _parsed(self, before: bytes, listed: bytes) -> Statement:
        found = [_names(origin, listed) for origin in _origins(before)]
        names = frozenset().union(*(each for each, _ in found))
        whole = frozenset().union(*(each for _, each in found))
        firsts = {name.partition(".")[0] for name in names}
        folders = self._folders.intersection(firsts.union(name.rpartition(".")[2] for name in names))
        return Statement(tuple(names), whole, _PACKAGES & firsts, _encoded(folders) - self._tops)

    def _dotted(self, content: bytes, folders: set[bytes]) -> frozenset[str]:
        """Names that begin with one of these folders, or with a top."""
        tops = self._tops
        pieces = content.translate(_WORDS).split(b".")
        found = set()
        for number, piece in enumerate(pieces[:-1], 1):
            head = piece[piece.rfind(b" ") + 1 :]
            if head in tops or head in folders:
                rest, space, _ = pieces[number].partition(b" ")
                if not space:
                    rest = b".".join(pieces[number : number + _MAX_NAME]).partition(b" ")[0]
                found.add(head + b"." + rest)
        return frozenset(map(_text, found))


def _encoded(names: Iterable[str]) -> frozenset[bytes]:
    """Names of files need not be UTF-8."""
    return frozenset(name.encode("utf-8", "surrogateescape") for name in names)


def _beginning(content: bytes, start: int) -> int:
    """Where the text begins in which `from` can stand: its line, or more if a backslash continues the line before."""
    earliest = max(0, start - _MAX_ORIGIN)
    line = content.rfind(b"\n", earliest, start) + 1
    end = content[line - 3 : line] if line > 1 else b""
    return earliest if b"\\" in end and end.rstrip().endswith(b"\\") else max(line, earliest)


def _origins(before: bytes) -> set[bytes]:
    """What stands between `from` and `import`. Any line that a backslash continues may be a comment."""
    origin = _FROM.search(before)
    if origin is None or b"\\" not in origin[1]:
        return {b"" if origin is None else origin[1]}
    starts = [0, *(end.end() for end in _LINE_END.finditer(before))]
    found = (_FROM.search(before, start) for start in starts)
    return {b"" if each is None else each[1] for each in found}


def _names(module: bytes, listed: bytes) -> tuple[frozenset[str], frozenset[str]]:
    """The modules and whole packages of one statement, `from module import listed` or `import listed`."""
    origin = module.translate(None, b" \t\f\\\r\n")
    prefix = origin if not origin or origin.endswith(b".") else origin + b"."
    names, whole = set(), set()
    bare = _COMMENT.sub(b"", listed) if b"#" in listed else listed
    for entry in bare.translate(_GLUE).split(b","):
        words = _words(entry)
        if not words:
            continue
        is_star = words[0].startswith(b"*")
        name = _text(origin if is_star else prefix + words[0])
        names.add(name)
        if is_star or words[1:2] == [b"as"]:
            whole.add(name)
    if len(listed) >= (_MAX_LIST if listed.lstrip().startswith(b"(") else _MAX_LINE):
        names.add(UNREAD)
    return frozenset(names or [_text(origin)]), frozenset(whole)


def _scripts(content: bytes) -> frozenset[str]:
    """The last word before each `.py`, without its folders."""
    *before, _ = content.split(b".py")
    return frozenset(_text(_NOT_OF_A_SCRIPT.split(text[-100:])[-1]) for text in before) - _EVERY_FOLDER


def _words(entry: bytes) -> list[bytes]:
    """The name and what follows it. Python allows spaces around the dots of a name."""
    if b" ." not in entry and b". " not in entry:
        return entry.split()
    name, alias, rest = b" ".join(entry.split()).partition(b" as ")
    return [name.replace(b" ", b""), *([b"as", rest] if alias else [])]


def _text(name: bytes) -> str:
    """As Python compares names."""
    return name.decode() if name.isascii() else unicodedata.normalize("NFKC", name.decode("utf-8", "replace"))


def _why_untold(content: bytes, packages: AbstractSet[str], *, uses_files: bool) -> str | None:
    """Why a file that imports these packages may depend on any file.

    `uses_files`: it starts processes, or names a folder of the project in quotes.
    """
    if content.startswith((b"\xff\xfe", b"\xfe\xff")) or b"\0" in content or _has_odd_encoding(content):
        return "is not encoded as Python files usually are"
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


def _has_odd_encoding(content: bytes) -> bool:
    said = _CODING.match(content) if b"coding" in content[:1000] else None
    return said is not None and not said.group(1).lower().replace(b"_", b"-").decode().startswith(_ASCII_BASED)


def _starts_processes(content: bytes, packages: AbstractSet[str]) -> bool:
    by_os = b"os." in content and _OS_STARTING.search(content) is not None
    by_name = b"_process" in content and _OF_PROCESSES.search(content) is not None
    return by_os or by_name or _has(content, _STARTING) or not packages.isdisjoint(_STARTERS)


def _imports_on_demand(content: bytes) -> bool:
    return _has(content, _LAZY)


def _changes_paths(content: bytes, imports: AbstractSet[str]) -> bool:
    """Whether it changes where modules are looked for."""
    return "sys.path" in imports or _has(content, _PATHS)


def _is_plugin(content: bytes, *, is_conftest: bool) -> bool:
    """Whether it changes the session of pytest as a whole: by naming plugins or, in a conftest, by hooks."""
    if b"pytest_plugins" in content and _PLUGINS.search(content) is not None:
        return True
    return is_conftest and _HOOK.search(content) is not None
