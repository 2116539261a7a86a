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
import functools

COUNT = 0
KNOWN = {}

class Registry:
    names = []
    def __init__(self):
        self.entries = {}
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
    def reset(self):
        type(self).setting = 1

REGISTRY = Registry()

def make(key): return key
def plain(): return make(1)
def local(): found = []; found.append(make(1)); return found
def count():
    global COUNT
    COUNT += 1
def know(): KNOWN["a"] = make("a")
def default(key, known={}):
    known[key] = make(key)
def typed(
    key: int = 1,
) -> int:
    return make(key)
@functools.lru_cache(maxsize=None)
def cached(): return make(2)
def generate():
    yield make(1)
"""
# Prints what each function calls, the kind of its state and the names of that.
SCRIPT = """
import json, sys
sys.path[:0] = sys.argv[1:3]
import call_events, sample
recorder = call_events.recorder(lambda name: name == sample.__file__)
recorder.keepers.long_lived.survey([sample])
found = {}
def called(name, function):
    for _ in range(2):
        recorder.keepers.new_test()
        assert recorder.resume()
        result = function()
        recorder.pause()
        ran = sorted({code.co_name for code in recorder.take().values()} - {"<module>"})
    found[name] = ran
for name in ("plain", "local", "count", "know", "typed", "cached"):
    called(name, getattr(sample, name))
called("default", lambda: sample.default(1))
called("generate", lambda: list(sample.generate()))
called("init", sample.Registry)
called("other", lambda: sample.Registry().change())
called("add", lambda: sample.REGISTRY.add(1))
called("share", lambda: sample.Registry().share(1))
called("configure", sample.Registry.configure)
called("reset", lambda: sample.Registry().reset())
keepers, known = recorder.keepers, recorder.known
kinds = {known[key].co_name: kind for key, kind in keepers.kinds.items()}
names = {known[key].co_name: sorted(name for _, name in each) for key, each in keepers.names.items() if each}
under = {known[key].co_name: sorted(code.co_name for code in each.values()) for key, each in keepers.under.items()}
recorder.remove()
print(json.dumps([type(recorder).__name__, found, kinds, names, under]))
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

    assert how == ("CallTracing" if tuple(map(int, version.split("."))) < (3, 12) else "CallMonitoring")
    assert found["plain"] == ["make", "plain"]
    assert found["generate"] == ["generate", "make"]
    assert found["typed"] == ["make", "typed"]
    assert found["other"] == ["__init__", "change", "make"]
    # The second time, the cache has it.
    assert found["cached"] == []


def test_functions_that_keep_state_are_known_with_its_names_and_what_ran_under_them(recorded: Any) -> None:
    *_, kinds, names, under = recorded

    assert kinds == {"cached": "cache"} | dict.fromkeys(
        ["count", "know", "default", "add", "share", "configure", "reset"], "state"
    )
    assert names == {
        "count": ["COUNT"],
        "know": ["KNOWN"],
        "add": ["REGISTRY"],
        "share": ["names"],
        "configure": ["setting"],
        "reset": ["setting"],
    }
    assert {name for name, each in under.items() if each == ["make"]} == kinds.keys() - {"count", "reset"}
