"""Names whose use shows that code finds other code in some way that no syntax tree shows."""

import re


def words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# They read the attribute that they are given by name; the modules that they import by name.
ACCESS = words("getattr setattr hasattr delattr")
IMPORTING = words(
    "import_module __import__ importorskip locate safeimport resolve_name import_string run_module run_path "
    "load_module import_object import_path import_from_string"
)
# They find every attribute of what they are given.
LISTING = words("__dict__ getmembers getmembers_static dir vars")
_WORDS = {
    # Modules that no name in the code shows.
    "imports": "iter_modules walk_packages entry_points iter_entry_points load_entry_point find_modules exec_module "
    "spec_from_file_location autodiscover autodiscover_tasks discover load_source loadTestsFromName stevedore "
    "loadTestsFromNames SourceFileLoader import_submodules",
    "computes": "attrgetter methodcaller __getattribute__",
    "executes": "eval exec compile",
    "starts": "Popen check_output check_call popen create_subprocess_exec create_subprocess_shell posix_spawn "
    "subprocess pexpect plumbum execv execve spawnv system os.system",
    "subclasses": "__subclasses__",
    # The names of their own module.
    "module": "globals modules",
    "docs": "__doc__ getdoc cleandoc DocTestFinder testmod",
    "source": "getsource getsourcelines getsourcefile findsource linecache getblock",
    "annotations": "signature get_type_hints __annotations__ get_annotations getfullargspec",
    "files": "glob iglob rglob iterdir listdir scandir walk copytree FileSystemLoader",
}
STARTING_FIXTURES = words("pytester testdir script_runner")
# What each of these words, as an attribute or at the end of a chain, makes of a definition.
FLAGS = {word: flag for flag, listed in _WORDS.items() for word in words(listed)}
FLAGS |= dict.fromkeys(IMPORTING, "imports") | dict.fromkeys(LISTING, "lists") | dict.fromkeys(ACCESS, "computes")
FLAGS |= dict.fromkeys(STARTING_FIXTURES, "starts")
# What calls of these with less than three arguments make of a definition, if the first is no literal.
COMPUTED = dict.fromkeys((".patch", "mock.patch", "mocker.patch", "monkeypatch.setattr"), "imports")
COMPUTED |= {"getfixturevalue": "fixtures"}
# Words that only mean this where nothing stands before them.
BARE = words("dir vars globals modules eval exec compile system discover")
BUILT_IN = words("dir vars globals eval exec compile system")
# Functions that take a function and do not call it at once.
HARMLESS = words(
    "wraps update_wrapper partial isinstance issubclass callable len type repr str hasattr getattr signature "
    "getdoc id property staticmethod classmethod bool iscoroutinefunction isgeneratorfunction isfunction isclass "
    "iscoroutine cast __init__ __new__"
)
DATA = words("dict list set frozenset tuple str bytes")
# Others, whose result alone matters: of Python, its standard library and pytest.
QUIET = HARMLESS | words(
    "dict list tuple set frozenset str int float bytes bytearray object range sorted reversed zip map filter enumerate "
    "min max sum abs any all ord chr slice complex super namedtuple NamedTuple TypedDict TypeVar ParamSpec "
    "NewType TypeVarTuple Literal Union Optional compile escape getLogger Path PurePath dedent dataclass field "
    "lru_cache cache cached_property total_ordering contextmanager asynccontextmanager abstractmethod overload final "
    "singledispatch runtime_checkable itemgetter attrgetter methodcaller defaultdict OrderedDict Counter deque "
    "ChainMap MappingProxyType Enum auto count chain product Lock RLock Event local ContextVar Decimal Fraction "
    "timedelta datetime date time timezone UUID Struct format join split rsplit splitlines strip lstrip rstrip lower "
    "upper title replace get items keys values copy encode decode startswith endswith index union intersection "
    "difference dirname basename abspath realpath normpath exists resolve joinpath with_name with_suffix "
    "version_info python_version fixture parametrize skipif skip xfail usefixtures filterwarnings param array arange "
    "urljoin urlparse quote linspace zeros ones asarray log sqrt deg2rad radians "
)
# pytest, unittest, Python and its standard library call these without a mention.
UNMENTIONED = re.compile(
    r"(?:__\w+__|test\w*|setup\w*|teardown\w*|setUp\w*|tearDown\w*|async(?:SetUp|TearDown)|runTest|pytest_\w+"
    r"|_missing_|_generate_next_value_|write|writelines|read1?|readinto1?|readline|readlines|flush|close|isatty|fileno"
    r"|readable|writable|seekable|seek|tell|emit|utcoffset|dst|tzname|keys|run|default|mro)\Z"
)
