"""`child/spectrum/call_events.py` and what it knows of state, on every Python that this machine has."""

import json
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from scripts.environments import NoInterpreter, find_interpreter

line_events = import_module("pytest_mcp.child.spectrum.line_events")

SAMPLE = """
import array, collections, functools, itertools

COUNT = 0
KNOWN = {}
NUMBERS = itertools.count()
NAMES = ["a"]
ALLOWED = {"a": frozenset([1])}
READINGS = array.array("i", [0])
QUEUE = collections.deque()
BUFFER = bytearray(1)

class Registry:
    names = []
    setting = created = 0
    class Inner:
        found = {}
    def __init__(self):
        self.entries = {}
        Registry.created += 1
        self.created = Registry.created
    def add(self, key):
        self.entries[key] = make(key)
    def change(self):
        self.value = make(1)
    def share(self, key):
        self.names.append(make(key))
    @classmethod
    def configure(cls):
        value = make(3)
        cls.setting = value
    def look(self):
        return self.created

class Slotted:
    __slots__ = ("value",)

REGISTRY, SLOTTED = Registry(), Slotted()

def make(key): return key
def plain(): return make(1)
def local(): found = []; found.append(make(1)); return found
def count():
    global COUNT
    COUNT += 1
def know(): KNOWN["a"] = make("a")
def register(name, value):
    if name not in KNOWN:
        KNOWN[name] = [value]
    KNOWN[name].append(value)
def default(key, known={}):
    known[key] = make(key)
def typed(
    key: int = 1,
) -> int:
    return make(key)
@functools.lru_cache(maxsize=None)
def cached(): return make(2)
def closing():
    found = []
    def add(): found.append(make(1))
    return add
add_to_closure = closing()
def attribute():
    if not hasattr(attribute, "known"):
        attribute.known = make(1)
def generate():
    yield make(1)
def next_number(): return next(NUMBERS)
def restore():
    global NAMES
    NAMES = ["b"]
    NAMES = [make("a")]
def slot(): SLOTTED.value = make([])
def inner(): Registry.Inner.found["a"] = 1
def temporary():
    KNOWN["x"] = 1
    del KNOWN["x"]
def allow():
    del ALLOWED["a"]
    ALLOWED["a"] = set([1])
def read(): READINGS[0] = make(1)
def queue(): QUEUE.append(make(1))
def buffer(): BUFFER[0] = make(1)
def waiting(function):
    function()
    return make(1)
"""
# Prints what each function calls, and the names of the state that it changes.
SCRIPT = """
import cProfile, json, sys, threading
sys.path[:0] = sys.argv[1:3]
import call_events, sample
from long_lived import LongLived
from state_uses import Left
recorder = call_events.recorder(lambda name: name == sample.__file__)
long_lived, left = LongLived(), Left()
long_lived.changed([sample])
found, changed = {}, {}
def called(name, function):
    assert recorder.resume()
    function()
    recorder.pause()
    found[name] = sorted({code.co_name for code in recorder.take().values()} - {"<module>"})
    names = long_lived.changed([sample])
    changed[name] = sorted(name.name for name in names)
    left.add(len(found) - 1, names)
registry = sample.Registry()
recorder.end_imports()
long_lived.changed([sample])
for name in ("plain", "local", "count", "know", "typed", "cached", "add_to_closure", "attribute", "next_number",
             "restore", "slot", "inner", "temporary", "allow", "read", "queue", "buffer"):
    called(name, getattr(sample, name))
called("again", sample.cached)
called("default", lambda: sample.default(1))
called("register", lambda: sample.register("b", 1))
called("generate", lambda: list(sample.generate()))
called("other", lambda: registry.change())
called("init", lambda: sample.Registry())
called("add", lambda: sample.REGISTRY.add(1))
called("share", lambda: registry.share(1))
called("configure", sample.Registry.configure)
called("look", lambda: sample.REGISTRY.look())
def in_thread():
    thread = threading.Thread(target=sample.plain)
    thread.start()
    thread.join()
def set_again():
    function = sys.getprofile()
    sys.setprofile(None)
    sys.setprofile(function)
def replace():
    other = cProfile.Profile()
    other.enable()
    other.disable()
taken = []
called("thread", in_thread)
called("rest", lambda: sample.waiting(lambda: taken.append({code.co_name for code in recorder.take().values()})))
found["began"] = sorted(taken[0])
def take_in_thread():
    thread = threading.Thread(target=lambda: taken.append({code.co_name for code in recorder.take().values()}))
    thread.start()
    thread.join()
called("taken_in_thread", lambda: sample.waiting(take_in_thread))
found["taken_in_thread"] = sorted({*found["taken_in_thread"], *taken[1]})
called("set_again", set_again)
recorder.resume()
replace()
replaced = not recorder.pause()
called("afterwards", sample.plain)
recorder.resume()
sys.modules["greenlet"] = sys
uncertain = not recorder.pause()
recorder.take()
called("with_greenlets", sample.plain)
tests = list(found)
names = lambda codes: sorted({code.co_name for code in codes} - {"<module>", "Registry"})
states = [
    [[tests[test] for test in state.tests], names(state.counting), names(state.using)]
    for state in left.states(long_lived, [sample], list(recorder.known.values()))
]
recorder.remove()
print(json.dumps([type(recorder).__name__, found, changed, states, replaced, uncertain]))
"""
OWN = "{}.{}".format(*sys.version_info)


@pytest.fixture(scope="module", params=[OWN, "3.8", "3.12", "3.13"])
def version(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def recorded(version: str, tmp_path_factory: pytest.TempPathFactory) -> Any:
    try:
        python = Path(sys.executable) if version == OWN else find_interpreter(version)
    except NoInterpreter as error:
        pytest.skip(str(error))
    folder = tmp_path_factory.mktemp("sample")
    (folder / "sample.py").write_text(SAMPLE, encoding="utf-8")
    arguments = ("-c", SCRIPT, Path(str(line_events.__file__)).parent, folder)
    done = subprocess.run([python, *arguments], capture_output=True, text=True, check=False, cwd=folder)
    assert done.stderr == ""
    return json.loads(done.stdout)


def test_each_test_has_all_functions_that_it_called(recorded: Any, version: str) -> None:
    how, found, *_ = recorded

    assert how == ("CallProfiling" if tuple(map(int, version.split("."))) < (3, 12) else "CallMonitoring")
    assert found["plain"] == ["make", "plain"]
    assert found["generate"] == ["generate", "make"]
    assert found["typed"] == ["make", "typed"]
    assert found["other"] == ["change", "make"]
    # The second time, the cache has it.
    assert found["again"] == []
    assert found["thread"] == ["make", "plain"]
    # A function that still runs belongs to what was recorded when it began.
    assert (found["began"], found["rest"]) == (["waiting"], ["make"])


def test_a_recorder_knows_that_another_one_took_its_place(recorded: Any) -> None:
    how, found, *_, replaced, _ = recorded

    assert replaced == (how == "CallProfiling")
    assert found["afterwards"] == ["make", "plain"]


def test_calls_are_not_lost_if_another_thread_asks_for_them(recorded: Any) -> None:
    assert recorded[1]["taken_in_thread"] == ["make", "waiting"]


def test_the_profiler_is_not_used_with_greenlets_which_it_takes_for_one_stack(recorded: Any) -> None:
    how, found, *_, uncertain = recorded

    assert uncertain == (how == "CallProfiling")
    assert found["with_greenlets"] == ["make", "plain"]


def test_state_that_a_call_has_changed_is_known_by_its_names(recorded: Any) -> None:
    changed = recorded[2]

    assert {call: names for call, names in changed.items() if names} == {
        "count": ["COUNT"],
        "know": ["KNOWN"],
        "cached": ["cached"],
        "add_to_closure": ["add_to_closure"],
        "attribute": ["attribute"],
        "next_number": ["NUMBERS"],
        "slot": ["SLOTTED"],
        # The new value may have the address of the old one.
        "allow": ["ALLOWED"],
        "read": ["READINGS"],
        "queue": ["QUEUE"],
        "buffer": ["BUFFER"],
        "inner": ["found"],
        "default": ["default"],
        "register": ["KNOWN"],
        "init": ["created"],
        "add": ["REGISTRY"],
        "share": ["names"],
        "configure": ["setting"],
    }


def test_functions_that_can_use_such_state_are_known(recorded: Any) -> None:
    states = recorded[3]

    assert [["share"], [], ["share"]] in states
    # Of a counter only the functions that count matter.
    assert [[], ["count"], ["count"]] in states
    assert [[], ["__init__"], ["__init__", "look"]] in states
    # A function that only adds, and returns nothing, does not use what others have added.
    assert [["know", "register"], [], ["know"]] in states
