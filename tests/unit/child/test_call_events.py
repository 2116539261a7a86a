"""The same calls are recorded by both tracers of `child/call_tracers.py`, on every Python that this machine has."""

from pathlib import Path
from typing import Any

import pytest

from tests.support.child_scripts import VERSIONS, printed

SAMPLE = """import asyncio, threading
TABLE={"a":1}
COUNT=0
def ret_none(x): pass
def raises(x):
    raise ValueError(x)
def catches(x):
    try: raises(x)
    except ValueError: pass
def through(x):
    try:
        with open("/dev/null") as f:
            raises(x)
    finally:
        y=1
def gen(n):
    for i in range(n): yield i
    return "end"
def gen_none():
    yield None
    yield
def gen_from():
    x = yield from gen(2)
    return x
def gen_raise():
    yield 1
    raise KeyError("k")
def mutate(l, d):
    l.append(1); d["x"]=TABLE["a"]
def counts():
    global COUNT
    COUNT+=1
    TABLE["n"]=COUNT
def key(x): return -x
def sorts(l): return sorted(l,key=key)
def fact(n): return 1 if n<2 else n*fact(n-1)
def outer(a):
    b=[]
    def inner(c):
        b.append(c); return a+c
    return [inner(i) for i in range(2)]
class C:
    attr=[1]
    def __init__(self,v): self.v=v
    @property
    def p(self): return self.v*2
    def set(self,v): self.v=v
async def co(x):
    await asyncio.sleep(0)
    return x+1
async def both():
    return await asyncio.gather(co(1),co(2))
def spawn():
    t=threading.Thread(target=ret_none,args=(1,)); t.start(); t.join()
def thrower():
    g=gen(5); next(g)
    try: g.throw(RuntimeError("t"))
    except RuntimeError: pass
def closes():
    g=gen(5); next(g); g.close()
def partial():
    for x in gen(9):
        if x==1: break
def kw(*args, a=1, **more): return more
def main():
    ret_none(1); catches(2)
    try: through(3)
    except ValueError: pass
    list(gen(2)); list(gen_none()); list(gen_from())
    try: list(gen_raise())
    except KeyError: pass
    mutate([],{}); counts(); sorts([1,2]); fact(3); outer(1)
    c=C(3); c.p; c.set(4)
    asyncio.run(both()); spawn(); thrower(); closes(); partial(); kw(1,2,a=3,z=4)
    class Local:
        z=[1,2]
"""
# One line for each call, indented below the call that made it: what it was given, its outcome, what it gave and left.
SCRIPT = """
import json, sys
import call_tracers, sample, value_reading
values = value_reading.ValueReader()
recorder = call_tracers.recorder(lambda name: name == sample.__file__, values, LINES_OF)
assert recorder.resume()
try:
    sample.main()
finally:
    assert recorder.pause()
recorder.close()

def shown(number):
    kind, *rest = values.rows[number]
    if kind in ("atom", "text"):
        return rest[0]
    if kind in ("list", "tuple"):
        return "[%s]" % " ".join(map(shown, rest[3:]))
    if kind == "mapping":
        return "{%s}" % " ".join("%s:%s" % (shown(key), shown(value)) for key, value in zip(rest[3::2], rest[4::2]))
    return "%s(%s)" % (rest[0], " ".join(map(shown, rest[2::2])))

depth, lines = {}, []
for call in recorder.calls:
    depth[call.number] = depth.get(call.parent, -1) + 1
    words = [call.facts.code.co_name, *map(shown, call.given), call.outcome.replace("returned", "->")]
    words += ["" if call.outcome == "closed" else shown(call.result)]
    words += ["yields " + shown(each) for each in call.yields]
    words += ["leaves " + shown(value) for _, value in call.after] + (["thread"] if call.phase == "thread" else [])
    lines.append("  " * depth[call.number] + " ".join(filter(None, words)))
is_empty = all(not stack for stack in recorder.stacks.values())
print(json.dumps([type(recorder).__name__, lines, [*recorder.lines_of.values()], is_empty]))
"""
EXPECTED = """
main -> None
  ret_none 1 -> None
  catches 2 -> None
    raises 2 raised ValueError([2])
  through 3 raised ValueError([3])
    raises 3 raised ValueError([3])
  gen 2 -> end yields 0 yields 1
  gen_none -> None yields None yields None
  gen_from -> end yields 0 yields 1
    gen 2 -> end yields 0 yields 1
  gen_raise raised KeyError([k]) yields 1
  mutate [] {} {a:1} -> None leaves [1] leaves {x:1}
  counts 0 {a:1} -> None leaves 1 leaves {a:1 n:1}
  sorts [1 2] -> [2 1]
    key 1 -> -1
    key 2 -> -2
  fact 3 -> 6
    fact 2 -> 2
      fact 1 -> 1
  outer 1 -> [1 2]
    inner 0 1 [] -> 1 leaves [0]
    inner 1 1 [0] -> 2 leaves [0 1]
  __init__ C() 3 -> None leaves C(3)
  p C(3) -> 6
  set C(3) 4 -> None leaves C(4)
  both -> [2 3]
  co 1 -> 2
  co 2 -> 3
  spawn -> None
ret_none 1 -> None thread
  thrower -> None
    gen 5 raised RuntimeError([t]) yields 0
  closes -> None
    gen 5 closed yields 0
  partial -> None
    gen 9 closed yields 0 yields 1
  kw 3 [1 2] {z:4} -> {z:4}
  Local -> {z:[1 2]}
"""


def recorded(version: str, folder: Path, *, lines_of: str = "()", sample: str = SAMPLE) -> Any:
    (folder / "sample.py").write_text(sample, encoding="utf-8")
    return printed(version, SCRIPT.replace("LINES_OF", lines_of), folder)


@pytest.mark.parametrize("version", VERSIONS)
def test_calls_are_recorded_with_what_they_got_and_gave(version: str, tmp_path: Path) -> None:
    how, lines, wanted, is_empty = recorded(version, tmp_path)

    assert how == ("CallsBySettrace" if tuple(map(int, version.split("."))) < (3, 12) else "CallsByMonitoring")
    assert lines == EXPECTED.strip("\n").split("\n")
    assert wanted == []
    assert is_empty


NAMESPACES = """
ran = []
class Namespace(dict):
    def __getattribute__(self, name):
        ran.append(name)
        return dict.__getattribute__(self, name)
    def __iter__(self):
        ran.append("iter")
        return dict.__iter__(self)
    def __contains__(self, name):
        ran.append("contains")
        return dict.__contains__(self, name)
class Meta(type):
    def __prepare__(*_given):
        return Namespace()
    def __new__(cls, name, bases, namespace):
        return type.__new__(cls, name, bases, dict(dict.items(namespace)))

def main():
    class Own(metaclass=Meta):
        x = 1
    space = Namespace(y=2)
    exec(compile("def inner(): return y", __file__, "exec"), space)
    dict.__getitem__(space, "inner")()
    result = list(ran)
    return result
"""


@pytest.mark.parametrize("version", VERSIONS)
def test_namespaces_of_the_project_are_read_without_running_it(version: str, tmp_path: Path) -> None:
    _, lines, *_ = recorded(version, tmp_path, sample=NAMESPACES)

    assert lines[0] == "main [] -> []"
    assert "  Own -> {x:1}" in lines
    assert "  inner 2 -> 2" in lines


BRANCHES = """
def chosen(n):
    if n > 1:
        return "many"
    return "few"

def main():
    chosen(1)
    chosen(2)
    chosen(1)
"""


@pytest.mark.parametrize("version", VERSIONS)
def test_the_lines_of_one_call_of_a_function_are_recorded(version: str, tmp_path: Path) -> None:
    _, lines, wanted, _ = recorded(version, tmp_path, lines_of="[('chosen', 2, 2), ('chosen', 2, 3)]", sample=BRANCHES)

    assert len(lines) == 4
    assert wanted == [[3, 4], [3, 5]]


HOT = """
def small(n):
    return n + 1

def main():
    for n in range(5000):
        small(n)
    last(1)

def last(n):
    return n
"""


@pytest.mark.parametrize("version", VERSIONS)
def test_only_the_first_calls_of_a_function_are_recorded_and_later_ones_of_others_still_are(
    version: str, tmp_path: Path
) -> None:
    _, lines, _, is_empty = recorded(version, tmp_path, sample=HOT)

    assert len(lines) == 2002
    assert lines[-1] == "  last 1 -> 1"
    assert is_empty


DEEP = """
def down(n):
    return n and down(n - 1)

def main():
    import sys
    sys.setrecursionlimit(20_000)
    down(2_500)
    down(0)
"""


@pytest.mark.parametrize("version", VERSIONS)
def test_calls_that_were_begun_when_the_budget_is_spent_are_ended(version: str, tmp_path: Path) -> None:
    _, lines, _, is_empty = recorded(version, tmp_path, sample=DEEP)

    assert len(lines) == 2001
    assert all("running" not in line for line in lines)
    assert is_empty
