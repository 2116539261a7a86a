"""`child/value_reading.py` and `child/value_kinds.py`, on every Python that this machine has."""

from pathlib import Path

import pytest

from tests.support.child_scripts import VERSIONS, printed

# Whatever of these is used writes its name into a file.
HOSTILE = '''
import collections, enum, io, pathlib, datetime, decimal

def told(name, result=None):
    def method(*_arguments, **_more):
        with open("ran", "a") as handle:
            handle.write(name + "\\n")
        return result
    return method

NAMES = """__repr__ __str__ __eq__ __ne__ __lt__ __hash__ __len__ __iter__ __getitem__ __contains__ __bool__ __getattr__
__getattribute__ __format__ __int__ __index__ __float__ __bytes__ __reduce__ __reduce_ex__ __sizeof__ __dir__ __call__
__add__ __enter__ __next__ __fspath__ __array__ __length_hint__ __instancecheck__ __subclasscheck__ __copy__ keys items
values get isoformat utcoffset tzname dst as_tuple getvalue __complex__ __abs__ __missing__""".split()
TRAPS = {name: told(name) for name in NAMES}

class Meta(type):
    locals().update(TRAPS)

class Property:
    def __get__(self, value, cls):
        return told("descriptor")()

class Plain(metaclass=Meta):
    trap = Property()
    also = property(told("property"))
    locals().update(TRAPS)

def of(*bases, **names):
    return Meta("Of" + bases[0].__name__, bases, {**TRAPS, "trap": Property(), **names})

class Slots(metaclass=Meta):
    __slots__ = ("one", "unset")
    locals().update({name: trap for name, trap in TRAPS.items()})

class Hidden:
    """Its instance dictionary is a property."""
    __dict__ = property(told("__dict__"))

slots = object.__new__(Slots)
type.__dict__["__dict__"].__get__(Slots)["one"].__set__(slots, 1)
plain = object.__new__(Plain)
object.__setattr__(plain, "field", plain)
Text, Number, Fraction = of(str), of(int), of(float)
List, Tuple, Dict, Set, Deque = of(list), of(tuple), of(dict), of(set), of(collections.deque)
Error, Zone, Moment = of(ValueError), of(datetime.tzinfo), of(datetime.datetime)
Path, Buffer, Amount = of(type(pathlib.PurePath())), of(io.StringIO), of(decimal.Decimal)
values = {
    "plain": plain, "class": Plain, "slots": slots, "hidden": Hidden(),
    "text": str.__new__(Text, "abc"), "number": int.__new__(Number, 3), "float": float.__new__(Fraction, 0.5),
    "list": list.__new__(List), "tuple": tuple.__new__(Tuple, (1, plain)), "dict": dict.__new__(Dict),
    "set": set.__new__(Set), "deque": collections.deque.__new__(Deque), "error": ValueError.__new__(Error, "x", plain),
    "moment": datetime.datetime.__new__(Moment, 2020, 1, 2, tzinfo=datetime.tzinfo.__new__(Zone)),
    "buffer": io.StringIO.__new__(Buffer), "amount": decimal.Decimal.__new__(Amount, "1.5"),
    "method": plain, "function": (lambda: plain), "nested": [{"key": [plain]}], "key": (plain,),
}
list.append(values["list"], plain)
dict.__setitem__(values["dict"], "a", plain)
collections.deque.append(values["deque"], plain)
io.StringIO.__init__(values["buffer"], "written")
'''
READ = """
import json, os, hostile
import value_reading
table = value_reading.ValueReader()
read = {}
for name, value in hostile.values.items():
    read[name] = table.rows[table.read(value)][:2]
print(json.dumps([read, os.path.exists("ran") and open("ran").read()]))
"""


@pytest.mark.parametrize("version", VERSIONS)
def test_nothing_of_the_project_runs_while_its_values_are_read(version: str, tmp_path: Path) -> None:
    (tmp_path / "hostile.py").write_text(HOSTILE, encoding="utf-8")

    read, ran = printed(version, READ, tmp_path)

    assert ran is False
    assert read["plain"] == ["object", "Plain"]
    assert read["text"] == ["text", "abc"]
    assert (read["number"], read["float"], read["amount"]) == (["atom", "3"], ["atom", "0.5"], ["atom", "1.5"])
    assert read["tuple"] == ["tuple", "Oftuple"]


# A value, and the row that is read of it, with the rows of its parts in place of their numbers.
SHAPES = """
import collections, dataclasses, datetime, enum, json, pathlib, re, sys
import value_reading

class Colour(enum.Enum):
    RED = 1
@dataclasses.dataclass
class Point:
    x: int
    label: str = "p"
class Slotted:
    __slots__ = ("a", "b")
Pair = collections.namedtuple("Pair", "left right")
slotted = Slotted()
slotted.a = 1
own = []
own.append(own)
values = {
    "none": None, "bool": True, "int": 7, "huge": 1 << 5000, "text": "abc", "long": "x" * 2000, "bytes": b"a\\x00",
    "list": [1, 2], "many": list(range(30)), "dict": {"a": 1}, "set": {1}, "point": Point(1), "slots": slotted,
    "pair": Pair(1, 2), "enum": Colour.RED, "path": pathlib.PurePosixPath("/a/b"), "date": datetime.date(2020, 1, 2),
    "error": ValueError("no"), "pattern": re.compile("a"), "function": len, "class": Point, "own": own,
    "deep": [[[["x"]]]], "address": "<A at 0x7f12345678>", "root": "/the/tree/src/a.py",
}
space = {}
exec("def made(): return 1", space)
values["made"] = space["made"]
exec("def made(): return 2", space)
values["other"] = space["made"]
table = value_reading.ValueReader([("/the/tree", "{root}")])

def whole(number):
    kind, *rest = table.rows[number]
    start = {"list": 3, "tuple": 3, "set": 3, "mapping": 3, "object": 1, "function": 1}.get(kind, 9)
    step = 2 if kind in ("object", "function") else 1
    parts = [at for at in range(start, len(rest)) if (at - start) % step == step - 1]
    return [kind] + [whole(each) if at in parts else each for at, each in enumerate(rest)]

print(json.dumps({name: whole(table.read(value)) for name, value in values.items()}))
"""


@pytest.mark.parametrize("version", VERSIONS)
def test_values_are_read_by_their_structure(version: str, tmp_path: Path) -> None:
    read = printed(version, SHAPES, tmp_path)
    one, two = ["atom", "1"], ["atom", "2"]

    assert [read[name][1] for name in ("none", "bool", "int", "enum")] == ["None", "True", "7", "Colour.RED"]
    assert read["huge"][1].startswith("<int of 5001 bits")
    assert read["long"][:3] == ["text", "x" * 1500, 2000]
    assert read["long"][3] != 0
    assert read["list"] == ["list", "list", 2, 0, one, two]
    assert (read["many"][2], len(read["many"]), read["many"][3] != 0) == (30, 28, True)
    assert read["dict"] == ["mapping", "dict", 1, 0, ["text", "a", 1, 0], one]
    assert read["point"] == ["object", "Point", "x", one, "label", ["text", "p", 1, 0]]
    assert read["slots"] == ["object", "Slotted", "a", one]
    assert read["pair"] == ["object", "Pair", "left", one, "right", two]
    assert read["path"] == ["atom", "PurePosixPath('/a/b')"]
    assert read["date"] == ["atom", "date(2020, 1, 2)"]
    assert read["error"][:3] == ["object", "ValueError", "args"]
    assert read["made"][:3] == ["function", "made", "code"]
    assert read["made"] != read["other"]
    assert read["own"] == ["list", "list", 1, 0, ["cycle", "list"]]
    assert read["deep"][4][4][4] == ["cut", "list"]


@pytest.mark.parametrize("version", VERSIONS)
def test_addresses_and_folders_are_masked(version: str, tmp_path: Path) -> None:
    read = printed(version, SHAPES, tmp_path)

    assert read["address"][1] == "<A at 0x…>"
    assert read["root"][1] == "{root}/src/a.py"


WIDE = """
import json, value_reading
class Node:
    def __init__(self, depth):
        self.first = [list(range(20)) for _ in range(20)]
        self.last = "last"
        self.below = Node(depth - 1) if depth else None
table = value_reading.ValueReader()
number, spent = table.node(Node(9), 3, 80)
fields = table.rows[number][2:]
print(json.dumps([fields[::2], [table.rows[each][0] for each in fields[1::2]], len(table.rows), spent]))
"""


@pytest.mark.parametrize("version", VERSIONS)
def test_one_deep_field_does_not_hide_those_after_it_and_all_is_bounded(version: str, tmp_path: Path) -> None:
    names, kinds, rows, spent = printed(version, WIDE, tmp_path)

    assert (names, kinds) == (["first", "last", "below"], ["list", "text", "object"])
    assert rows < 150
    assert spent < 200
