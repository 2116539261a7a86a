"""What the text of one Python file says about other modules.

In come the content of a file and the names that the project has; out come the modules that the file may import. It is
a scan, not a parser: it finds every import statement wherever it stands (in functions, behind `;`, in strings and
comments too), dotted names that are used or quoted, and words that show imports which no text names. It may find too
much and never too little. Pure. Which files the names belong to is decided in `modules`.
"""

import re
import unicodedata
from dataclasses import dataclass

# The bytes of a name: beyond ASCII every byte, whatever the encoding.
_NAME = rb"\w\x80-\xff"
# More names in one line or one list than a person writes; a file that has more is not read any further.
_LONGEST_LINE = 1_000
_LONGEST_LIST = 50_000
# Stands for the names that were not read.
UNREAD = "\0"
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
_LONGEST_ORIGIN = 300
# Everything that is not of a dotted name as a space; quotes and colons as one kind of quote.
_WORDS = bytes(byte if re.match(rb"[%s.]" % _NAME, bytes([byte])) else ord(" ") for byte in range(256))
_QUOTES = bytes.maketrans(b"':", b'""')
# In parts.
_LONGEST_NAME = 20
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
_LOADING = re.compile(
    rb"spec_from_file|FileLoader|run_path|run_module|walk_packages|iter_modules|entry_point|exec_module|load_module"
    rb"|resolve_name|load_source|import_file|import_path"
)
_LOADERS = frozenset({"importlib", "pkgutil", "runpy", "imp", "pkg_resources", "zipimport", "stevedore", "pluggy"})
_LISTING = re.compile(rb"glob\b|iterdir|listdir|scandir|walk\(")
_LAZY = (b"__getattr__", b"import_module", b"__import__", b"azy", b"exec(", b"eval(", b"globals()")
_STARTING = (b"subprocess", b"_process", b"pytester", b"testdir", b"script_runner")
_STARTERS = frozenset({"pexpect", "sh", "plumbum", "invoke", "fabric", "docker"})
_OS_STARTING = re.compile(rb"os\.(?:system|popen|exec|spawn|posix_spawn|startfile)")
_PATHS = (b"sys.path", b"PYTHONPATH", b"syspath", b"meta_path")
# Hooks for the whole session. pytest calls the others of a conftest only for tests below it.
_HOOK = re.compile(rb"^def pytest_(?!runtest|generate_tests|fixture|pyfunc|pycollect|assert|make_param)", re.MULTILINE)
_PLUGINS = re.compile(rb"^[ \t]*+pytest_plugins\b", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Mentions:
    # Dotted names of import statements. Relative ones begin with their dots.
    imports: frozenset[str] = frozenset()
    # Names of packages all of whose modules may be used: they have an alias, or a star imports from them.
    whole: frozenset[str] = frozenset()
    # Dotted names that are used or quoted; single names in quotes; names of scripts without their ending.
    dotted: frozenset[str] = frozenset()
    quoted: frozenset[str] = frozenset()
    scripts: frozenset[str] = frozenset()
    # Why it may import any module, if it may.
    untold: str | None = None
    # Imports on demand; starts processes; changes where modules are looked for; has hooks of the session; has plugins.
    lazy: bool = False
    starts: bool = False
    paths: bool = False
    hooks: bool = False
    plugins: bool = False


@dataclass(frozen=True)
class Names:
    """The names of a project: of its folders, of those that can begin a dotted name anywhere, of its modules."""

    folders: frozenset[str]
    tops: frozenset[str]
    modules: frozenset[str]


class Scanner:
    """Scans files one after the other, and parses equal statements once."""

    def __init__(self, names: Names) -> None:
        self._folders = names.folders
        self._tops = frozenset(map(str.encode, names.tops))
        self._modules = frozenset(map(str.encode, names.modules))
        self._parsed: dict[tuple[bytes, bytes], tuple[tuple[str, bool], ...]] = {}

    def scan(self, content: bytes, *, is_package: bool = False) -> Mentions:
        found = self._imported(content)
        imports = frozenset(name for name, _ in found)
        packages = {name.partition(".")[0] for name in imports}
        starts = _starts_processes(content, packages)
        has_hooks = b"pytest_" in content
        return Mentions(
            imports=imports,
            whole=frozenset(name for name, is_whole in found if is_whole),
            dotted=self._dotted(content, packages.union(name.rpartition(".")[2] for name in imports)),
            quoted=self._quoted(content),
            scripts=_scripts(content) if b".py" in content else frozenset(),
            untold=_why_untold(content, imports, packages) or _why_listing(content, starts=starts),
            lazy=is_package and any(word in content for word in _LAZY),
            starts=starts,
            paths="sys.path" in imports or any(word in content for word in _PATHS),
            hooks=has_hooks and _HOOK.search(content) is not None,
            plugins=has_hooks and _PLUGINS.search(content) is not None,
        )

    def _imported(self, content: bytes) -> set[tuple[str, bool]]:
        """The names of all import statements, and whether each stands for all modules of a package."""
        found: set[tuple[str, bool]] = set()
        for statement in _IMPORT.finditer(content):
            start = statement.start()
            before = content[max(0, start - _LONGEST_ORIGIN) : start]
            origin = _FROM.search(before) if b"from" in _last_line(before) else None
            key = (b"" if origin is None else origin.group(1), statement.group(1))
            if key not in self._parsed:
                self._parsed[key] = tuple(_parsed(*key))
            found.update(self._parsed[key])
        return found

    def _dotted(self, content: bytes, imported: set[str]) -> set[str]:
        """Names that begin with a folder which the file has imported, or which can be imported anywhere."""
        folders = self._tops.union(map(str.encode, self._folders & imported))
        pieces = content.translate(_WORDS).split(b".")
        found = set()
        for number, piece in enumerate(pieces[:-1], 1):
            head = piece[piece.rfind(b" ") + 1 :]
            if head in folders:
                rest = b".".join(pieces[number : number + _LONGEST_NAME]).partition(b" ")[0]
                found.add(head + b"." + rest)
        return set(map(_text, found))

    def _quoted(self, content: bytes) -> frozenset[str]:
        """Names of modules that stand alone in quotes, or before a colon."""
        return frozenset(map(_text, self._modules.intersection(content.translate(_QUOTES).split(b'"'))))


def _last_line(text: bytes) -> bytes:
    return text if b"\\" in text else text[text.rfind(b"\n") + 1 :]


def _parsed(module: bytes, listed: bytes) -> list[tuple[str, bool]]:
    """The names of one statement, `from module import listed` or `import listed`."""
    origin = module.translate(None, b" \t\f\\\r\n")
    prefix = origin if not origin or origin.endswith(b".") else origin + b"."
    found = []
    for entry in _COMMENT.sub(b"", listed).translate(_GLUE).split(b","):
        words = _words(entry)
        if not words:
            continue
        is_star = words[0].startswith(b"*")
        found.append((_text(origin if is_star else prefix + words[0]), is_star or words[1:2] == [b"as"]))
        if b"\\" in module:
            # The line of `from` may be a comment that ends in a backslash.
            found.append((_text(words[0]), False))
    if len(listed) >= (_LONGEST_LIST if listed.lstrip().startswith(b"(") else _LONGEST_LINE):
        found.append((UNREAD, False))
    return found or [(_text(origin), False)]


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


def _why_untold(content: bytes, imports: frozenset[str], packages: set[str]) -> str | None:
    if content.startswith((b"\xff\xfe", b"\xfe\xff")) or b"\0" in content or _has_odd_encoding(content):
        return "is not encoded as Python files usually are"
    if (b"import_module" in content or b"__import__" in content) and _COMPUTED.search(content):
        return "imports modules by names that it computes"
    if UNREAD in imports:
        return "has an import statement that is too long to read"
    if not packages.isdisjoint(_LOADERS) and _LOADING.search(content):
        return "looks for modules to load"
    return None


def _why_listing(content: bytes, *, starts: bool) -> str | None:
    runs = starts or b".py" in content or b"exec(" in content or b"executable" in content
    return "looks for files to run" if b"*.py" in content or (runs and _LISTING.search(content)) else None


def _has_odd_encoding(content: bytes) -> bool:
    said = _CODING.match(content) if b"coding" in content[:1000] else None
    return said is not None and not said.group(1).lower().replace(b"_", b"-").decode().startswith(_ASCII_BASED)


def _starts_processes(content: bytes, packages: set[str]) -> bool:
    by_os = b"os." in content and _OS_STARTING.search(content) is not None
    return by_os or any(word in content for word in _STARTING) or not packages.isdisjoint(_STARTERS)
