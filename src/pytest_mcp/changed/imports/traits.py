"""Words in a Python file that show imports which no text names.

In come the content of a file and the names that it imports; out comes why it may depend on any file of the project, if
it may, and a few traits. Words count wherever they stand, so a file can be said to do too much, never too little. Pure.
"""

import re
from collections.abc import Set as AbstractSet

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
PACKAGES = _LOADERS | _READERS | _STARTERS | {"glob"}
_OS_STARTING = re.compile(rb"os\.(?:system|popen|exec|spawn|posix_spawn|startfile)")
_PATHS = (b"sys.path", b"PYTHONPATH", b"syspath", b"meta_path", b"__path__")
# Hooks for the whole session. pytest calls the others of a conftest only for tests below it.
_HOOK = re.compile(rb"^def pytest_(?!runtest|generate_tests|fixture|pyfunc|pycollect|assert|make_param)", re.MULTILINE)
_PLUGINS = re.compile(rb"^[ \t]*+pytest_plugins\b", re.MULTILINE)


def why_untold(content: bytes, packages: AbstractSet[str], *, uses_files: bool) -> str | None:
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


def starts_processes(content: bytes, packages: AbstractSet[str]) -> bool:
    by_os = b"os." in content and _OS_STARTING.search(content) is not None
    by_name = b"_process" in content and _OF_PROCESSES.search(content) is not None
    return by_os or by_name or _has(content, _STARTING) or not packages.isdisjoint(_STARTERS)


def imports_on_demand(content: bytes) -> bool:
    return _has(content, _LAZY)


def changes_paths(content: bytes, imports: AbstractSet[str]) -> bool:
    """Whether it changes where modules are looked for."""
    return "sys.path" in imports or _has(content, _PATHS)


def is_plugin(content: bytes, *, is_conftest: bool) -> bool:
    """Whether it changes the session of pytest as a whole: by naming plugins or, in a conftest, by hooks."""
    if b"pytest_plugins" in content and _PLUGINS.search(content) is not None:
        return True
    return is_conftest and _HOOK.search(content) is not None
