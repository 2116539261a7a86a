"""Ten small suites, each slow for another reason, with the words of the sentence that names it."""

from typing import NamedTuple

# Works without waiting, for about so many seconds.
WORK = """\
import time
def work(seconds):
    end = time.process_time() + seconds
    while time.process_time() < end: pass
"""


class SlowSuite(NamedTuple):
    files: dict[str, str]
    # The largest saving says all of this.
    says: tuple[str, ...]
    workers: int = 1


SUITES = {
    "slow import": SlowSuite(
        {
            "shop/__init__.py": "",
            "shop/prices.py": "from work import work\nwork(0.6)\nPRICE = 2\n",
            "test_a.py": "import shop.prices\ndef test_price(): assert shop.prices.PRICE == 2\n",
        },
        ("importing shop.prices takes",),
    ),
    "session fixture": SlowSuite(
        {
            "conftest.py": "import pytest\nfrom work import work\n@pytest.fixture(scope='session')\n"
            "def server(): work(0.6); return 1\n",
            "test_a.py": "def test_a(server): pass\ndef test_b(server): pass\n",
        },
        ("fixture server is built once", "scope session"),
    ),
    "function fixture that should be wider": SlowSuite(
        {
            "conftest.py": "import pytest, time\n@pytest.fixture\ndef database(): time.sleep(0.05); return 1\n",
            "test_a.py": "".join(f"def test_{number}(database): pass\n" for number in range(12)),
        },
        ("fixture database is built 12 times", "scope function", "time.sleep takes", "of it in conftest.py:3"),
    ),
    "sleep": SlowSuite(
        {"test_a.py": "".join(f"def test_{n}():\n    from time import sleep\n    sleep(0.1)\n" for n in range(6))},
        ("time.sleep takes", "in 6 calls", "test_a.py:"),
    ),
    "one slow test": SlowSuite(
        {"test_a.py": "from work import work\ndef test_quick(): pass\ndef test_slow(): work(0.6)\n"},
        ("test_a.py::test_slow takes",),
    ),
    "parametrised explosion": SlowSuite(
        {
            "test_a.py": "import pytest\nfrom work import work\n@pytest.mark.parametrize('a', range(20))\n"
            "@pytest.mark.parametrize('b', range(20))\ndef test_each(a, b): work(0.001)\ndef test_one(): pass\n"
        },
        ("test_a.py::test_each runs with 400 sets of parameters",),
    ),
    "slow collection": SlowSuite(
        {
            "test_a.py": "from work import work\ndef pytest_generate_tests(metafunc): work(0.6)\ndef test_a(): pass\n",
        },
        ("collecting takes", "in test_a.py"),
    ),
    "slow teardown": SlowSuite(
        {
            "test_a.py": "import pytest\nfrom work import work\n@pytest.fixture\ndef folder(): yield 1; work(0.15)\n"
            + "".join(f"def test_{number}(folder): pass\n" for number in range(4))
        },
        ("fixture folder is built 4 times", "teardown", "scope function"),
    ),
    "network wait": SlowSuite(
        {
            "shop.py": "import socket\ndef ask():\n    one, other = socket.socketpair()\n    one.settimeout(0.3)\n"
            "    with one, other:\n        try: one.recv(1)\n        except OSError: return None\n",
            "test_a.py": "import shop\n" + "".join(f"def test_{n}(): assert shop.ask() is None\n" for n in range(2)),
        },
        # It is a part of its test.
        ("test_a.py::test_", " takes "),
    ),
    "xdist": SlowSuite(
        {
            "conftest.py": "import pytest\nfrom work import work\n@pytest.fixture\ndef database(): work(0.05)\n",
            "test_a.py": "".join(f"def test_{number}(database): pass\n" for number in range(12)),
        },
        ("fixture database is built 12 times", "2 workers together", "scope function"),
        workers=2,
    ),
}
