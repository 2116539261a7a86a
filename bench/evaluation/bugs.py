"""Six small projects with a bug each: their files, what a mended one has, and tests that nobody is shown.

A scripted model writes `mended`. A real one is judged by the hidden tests alone, which come after it has finished.
"""

from dataclasses import dataclass

Files = dict[str, str]

_CART = "def total(prices, discount=0):\n    return sum(prices) - discount\n"
_WORDS = "".join(f"def test_word_{n}(client): assert client.word({n}) == 'w{n}'\n" for n in range(40))
_CLIENT = "class Client:\n    def __init__(self, {0}): self.prefix = prefix\n    def word(self, n): return f'{{self.prefix}}{{n}}'\n"
_FIXTURE = "import pytest\nfrom client import Client\n\n@pytest.fixture\ndef client(): return Client('w')\n"
_CACHE = "import time\n\ndef fresh(born, now=None, limit={0}):\n    return (now or time.time()) - born < limit\n"
_REGISTRY = "NAMES = []\n\ndef register(name):\n    NAMES.append(name)\n    return len(NAMES)\n"
_QUEUE = "def drain(queue):\n    left = len(queue)\n    while left:\n        left -= {0}\n    return queue\n"


@dataclass(frozen=True)
class Bug:
    files: Files
    mended: Files
    hidden: str
    # What is asked of an agent.
    task: str = "The tests fail. Find out why, mend the code (not the tests), and say in one sentence what was wrong."
    # Whether the shell finds a pytest that cannot import what the project needs.
    wrong_environment: bool = False


BUGS = {
    "regression": Bug(
        {
            "cart.py": _CART.replace("- discount", "+ discount"),
            "test_cart.py": "from cart import total\n\ndef test_plain(): assert total([1, 2]) == 3\n\n"
            "def test_discount(): assert total([10, 5], discount=3) == 12\n",
        },
        {"cart.py": _CART},
        "from cart import total\n\ndef test_hidden(): assert total([7], discount=7) == 0\n",
    ),
    "forty failures": Bug(
        {"client.py": _CLIENT.format("*, prefix"), "conftest.py": _FIXTURE, "test_words.py": _WORDS},
        {"client.py": _CLIENT.format("prefix")},
        "from client import Client\n\ndef test_hidden(): assert Client('x').word(1) == 'x1'\n",
    ),
    "flaky": Bug(
        {
            "cache.py": _CACHE.format("0.005"),
            "test_cache.py": "import random, time\nfrom cache import fresh\n\ndef test_fresh():\n    born = time.time()\n"
            "    time.sleep(random.choice([0, 0.01]))\n    assert fresh(born)\n",
        },
        {"cache.py": _CACHE.format("60")},
        "from cache import fresh\n\ndef test_hidden(): assert fresh(100, now=101) and not fresh(100, now=9999)\n",
        "The tests fail sometimes. Find out why, mend the code (not the tests), and say in one sentence what was wrong.",
    ),
    "order": Bug(
        {
            "registry.py": _REGISTRY,
            "test_a.py": "from registry import register\n\ndef test_first(): assert register('a') == 1\n",
            "test_b.py": "from registry import register\n\ndef test_alone(): assert register('b') == 1\n",
        },
        {"conftest.py": "import pytest, registry\n\n@pytest.fixture(autouse=True)\ndef empty(): registry.NAMES.clear()\n"},
        "from registry import register\n\ndef test_hidden(): assert register('c') == 1\n",
        "test_b.py::test_alone passes alone and fails with the others. Make them independent of each other, in a"
        " conftest.py, without changing the tests.",
    ),
    "hang": Bug(
        {
            "queues.py": _QUEUE.format("0"),
            "test_queues.py": "import subprocess\nfrom queues import drain\n\ndef test_drain():\n"
            "    subprocess.Popen(['sleep', '300'])\n    subprocess.Popen(['sleep', '300'], start_new_session=True)\n"
            "    assert drain([1, 2]) == [1, 2]\n",
        },
        {"queues.py": _QUEUE.format("1")},
        "from queues import drain\n\ndef test_hidden(): assert drain([3]) == [3]\n",
    ),
    "wrong environment": Bug(
        {
            "shop.py": "import iniconfig\n\ndef sections(text):\n    return sorted(iniconfig.IniConfig('x', text).sections)[1:]\n",
            "test_shop.py": "from shop import sections\n\ndef test_sections(): assert sections('[a]\\n[b]') == ['a', 'b']\n",
        },
        {"shop.py": "import iniconfig\n\ndef sections(text):\n    return sorted(iniconfig.IniConfig('x', text).sections)\n"},
        "from shop import sections\n\ndef test_hidden(): assert sections('[c]') == ['c']\n",
        wrong_environment=True,
    ),
}  # fmt: skip
