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
# Packages of the standard library and others that load modules, and the names of theirs that do.
_LOADERS = frozenset({"importlib", "pkgutil", "runpy", "imp", "pkg_resources", "zipimport", "stevedore", "unittest"})
_LOADING = re.compile(
    rb"spec_from_file|FileLoader|run_path|run_module|walk_packages|iter_modules|entry_point|exec_module|load_module"
    rb"|resolve_name|load_source|import_file|import_path|\.discover\(|loadTestsFrom"
)
# Packages that read the source of a project.
_READERS = frozenset({"mypy", "pylint", "flake8", "pyflakes", "pycodestyle", "black", "isort", "bandit", "vulture"})
_READERS |= {"grimp", "importlinter", "pytest_archon", "archunitpython", "compileall", "py_compile", "pyright"}
_LISTING = (b"glob(", b"iterdir", b"listdir", b"scandir", b"walk(", b"copytree")
# With a listing: it may run the files, or they may be the project's.
_RUNNING = (b".py", b"exec(", b"executable", b"__file__", b"cwd(", b"rootpath", b"rootdir")
_COMPUTED_FILE = re.compile(rb"""\}\.py\b|%[sr]\.py\b|\+ ?["']\.py|with_suffix\(["']\.py""")
# Frameworks that import what they find.
_DISCOVERING = (b"autodiscover", b"INSTALLED_APPS", b"find_modules")
_LAZY = (b"__getattr__", b"import_module", b"__import__", b"azy", b"exec(", b"eval(", b"globals()")
_STARTING = (b"subprocess", b"_process", b"pytester", b"testdir", b"script_runner")
_STARTERS = frozenset({"pexpect", "sh", "plumbum", "invoke", "fabric", "docker"})
_OS_STARTING = re.compile(rb"os\.(?:system|popen|exec|spawn|posix_spawn|startfile)")
_PATHS = (b"sys.path", b"PYTHONPATH", b"syspath", b"meta_path", b"__path__")
# Hooks for the whole session. pytest calls the others of a conftest only for tests below it.
_HOOK = re.compile(rb"^def pytest_(?!runtest|generate_tests|fixture|pyfunc|pycollect|assert|make_param)", re.MULTILINE)
_PLUGINS = re.compile(rb"^[ \t]*+pytest_plugins\b", re.MULTILINE)


def why_untold(content: bytes, packages: AbstractSet[str], *, names_folder: bool) -> str | None:
    """Why a file that imports these packages may depend on any file; `names_folder`: one of the project, in quotes."""
    if content.startswith((b"\xff\xfe", b"\xfe\xff")) or b"\0" in content or _has_odd_encoding(content):
        return "is not encoded as Python files usually are"
    if (b"import_module" in content or b"__import__" in content) and _COMPUTED.search(content):
        return "imports modules by names that it computes"
    if not packages.isdisjoint(_LOADERS) and _LOADING.search(content):
        return "looks for modules to load"
    if any(word in content for word in _DISCOVERING):
        return "lets a framework find modules"
    if not packages.isdisjoint(_READERS):
        return "reads the source of the project"
    return "looks for files" if _looks_for_files(content, packages, names_folder=names_folder) else None


def _looks_for_files(content: bytes, packages: AbstractSet[str], *, names_folder: bool) -> bool:
    if b".py" in content and (b"*.py" in content or _COMPUTED_FILE.search(content)):
        return True
    if not any(word in content for word in _LISTING) and "glob" not in packages:
        return False
    return names_folder or starts_processes(content, packages) or any(word in content for word in _RUNNING)


def _has_odd_encoding(content: bytes) -> bool:
    said = _CODING.match(content) if b"coding" in content[:1000] else None
    return said is not None and not said.group(1).lower().replace(b"_", b"-").decode().startswith(_ASCII_BASED)


def starts_processes(content: bytes, packages: AbstractSet[str]) -> bool:
    by_os = b"os." in content and _OS_STARTING.search(content) is not None
    return by_os or any(word in content for word in _STARTING) or not packages.isdisjoint(_STARTERS)


def imports_on_demand(content: bytes) -> bool:
    return any(word in content for word in _LAZY)


def changes_paths(content: bytes, imports: AbstractSet[str]) -> bool:
    """Whether it changes where modules are looked for."""
    return "sys.path" in imports or any(word in content for word in _PATHS)


def is_plugin(content: bytes, *, is_conftest: bool) -> bool:
    """Whether it changes the session of pytest as a whole: by naming plugins or, in a conftest, by hooks."""
    if b"pytest_" not in content:
        return False
    return _PLUGINS.search(content) is not None or (is_conftest and _HOOK.search(content) is not None)
