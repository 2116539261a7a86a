"""A test that the change breaks, and that fails at a careless base too, for want of something: never pre-existing.

Each project has a second reason to fail by the same statement, with the same values, wherever something is missing.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import pytest

from tests.support.git import git
from tests.support.projects.project_files import write_files
from tests.support.runs.at_base import at_the_base, commit
from tests.support.workbench import Workbench

TEST = "import shop\ndef test_it(): assert shop.works()\n"
SHOP = """
import pathlib, subprocess
RIGHT = {right}
ROOT = pathlib.Path(__file__).parent
def works():
    {needs}
    return RIGHT
"""


@dataclass(frozen=True)
class Lie:
    """`needs` is code of `works`; the files are committed with it, or written afterwards."""

    needs: str
    committed: Mapping[str, str | bytes] = field(default_factory=dict)
    later: Mapping[str, str | bytes] = field(default_factory=dict)
    before: Callable[[Workbench], None] = lambda _bench: None

    def plant(self, bench: Workbench) -> None:
        git("init", "--quiet", cwd=bench.root)
        self.before(bench)
        bench.write({**self.committed, "test_victim.py": TEST, "shop.py": self._shop(right=True)})
        commit(bench)
        bench.write({**self.later, "shop.py": self._shop(right=False)})

    def _shop(self, *, right: bool) -> str:
        return SHOP.replace("{right}", str(right)).replace("{needs}", self.needs)


def needs(condition: str) -> str:
    return f"if not ({condition}): return False"


def large_files(bench: Workbench) -> None:
    """As git-lfs: git stores a pointer, and the content is elsewhere."""
    kept = write_files(bench.root.parent, {"kept": "content"}) / "kept"
    git("config", "filter.large.clean", "echo pointer", cwd=bench.root)
    git("config", "filter.large.smudge", f"cat {kept}", cwd=bench.root)


def submodule(bench: Workbench) -> None:
    inner = bench.root.parent / "inner"
    write_files(inner, {"data.txt": "data"})
    git("init", "--quiet", cwd=inner)
    git("add", "--all", cwd=inner)
    git("commit", "--quiet", "-m", "inner", cwd=inner)
    git("submodule", "--quiet", "add", inner, "inner", cwd=bench.root)


LIES = {
    "an ignored settings file": Lie(
        needs("(ROOT / 'local.cfg').exists()"), {".gitignore": "*.cfg\n"}, {"local.cfg": "x"}
    ),
    "a generated module": Lie(
        "try: import _made\n    except ImportError: return False", {".gitignore": "_made.py\n"}, {"_made.py": ""}
    ),
    "contents of git-lfs": Lie(
        needs("(ROOT / 'a.bin').read_text() == 'content'"),
        {".gitattributes": "*.bin filter=large\n", "a.bin": "content"},
        before=large_files,
    ),
    "changed contents of git-lfs": Lie(
        needs("(ROOT / 'a.bin').read_text() != 'pointer\\n'"),
        {".gitattributes": "*.bin filter=large\n", "a.bin": "content"},
        {"a.bin": "other"},
        before=large_files,
    ),
    "a test that looks at .git": Lie(needs("(ROOT / '.git').exists()")),
    "a test that asks git": Lie(needs("subprocess.run(['git', 'log', '-1'], cwd=ROOT).returncode == 0")),
    "an untracked data file": Lie(needs("(ROOT / 'data.json').exists()"), {}, {"data.json": "{}"}),
    "line ends that a filter makes": Lie(
        needs("b'\\r\\n' in (ROOT / 'a.txt').read_bytes()"),
        {".gitattributes": "*.txt eol=crlf\n", "a.txt": b"a\r\nb\r\n"},
    ),
    "a submodule": Lie(needs("(ROOT / 'inner' / 'data.txt').exists()"), before=submodule),
}


@pytest.mark.parametrize("what", LIES)
async def test_what_the_base_has_in_the_checkout_it_has_in_the_copy(bench: Workbench, what: str) -> None:
    LIES[what].plant(bench)

    found = await at_the_base(bench)

    assert found.kind == "deterministic"
    assert "passes" in found.evidence[-1]


# What the change adds, and what breaks the test because it is there.
NEW = {
    "an untracked conftest": {"conftest.py": "import shop\nshop.RIGHT = False\n"},
    "an untracked data file": {"plugins/bad.json": ""},
    "a staged module": {"plugins/bad.py": ""},
}


@pytest.mark.parametrize("what", NEW)
async def test_what_breaks_a_test_by_being_new_is_not_old(bench: Workbench, what: str) -> None:
    Lie(needs("not list((ROOT / 'plugins').glob('bad*'))")).plant(bench)
    git("checkout", "--quiet", "shop.py", cwd=bench.root)
    bench.write(NEW[what])
    if what == "a staged module":
        git("add", "--all", cwd=bench.root)

    found = await at_the_base(bench)

    assert found.kind == "deterministic"
    assert "passes" in found.evidence[-1]


async def test_a_generated_module_that_git_does_not_ignore_is_on_the_way(bench: Workbench) -> None:
    """It is removed as if it were new source."""
    Lie("try: import _made\n    except ImportError: return False", {}, {"_made.py": ""}).plant(bench)

    found = await at_the_base(bench)

    assert found.kind == "deterministic"
    assert "on another way: _made.py in <module> runs only now" in found.evidence[-1]


async def test_the_same_failure_on_another_way_is_another_failure(bench: Workbench) -> None:
    """At the base something else was missing."""
    files = {"test_victim.py": TEST, "part.py": "def a(): return False\ndef b(): return False\n"}
    bench.write({**files, "shop.py": "import part\ndef works(): return part.a()\n"})
    commit(bench)
    bench.write({"shop.py": "import part\ndef works(): return part.b()\n"})

    found = await at_the_base(bench)

    assert found.kind == "deterministic"
    assert "on another way: part.py:2 in b runs only now and part.py:1 in a runs only there" in found.evidence[-1]


async def test_an_old_failure_stays_old_beside_untracked_files_and_other_changes(bench: Workbench) -> None:
    bench.write({"test_victim.py": TEST, "shop.py": "def works():\n    return False\n"})
    commit(bench)
    bench.write({"shop.py": "\n# Changed.\ndef works():\n    return False\n", "new.py": "", "data.json": "{}"})

    found = await at_the_base(bench)

    assert (found.kind, found.evidence[-1].partition(": ")[2]) == ("pre_existing", "fails the same way")
