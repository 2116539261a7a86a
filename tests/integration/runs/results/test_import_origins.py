"""`child/import_origins.py`: that the project's own code was not what the tests imported is said, and only then."""

from pathlib import Path

import pytest

from tests.support.workbench import Workbench

PACKAGE = "PRICE = 1\n"
TEST = "import shop\ndef test_price(): assert shop.PRICE == 1\n"


def install(folder: Path, source: str = PACKAGE, *, name: str = "shop/__init__.py") -> None:
    path = folder / name
    path.parent.mkdir(parents=True)
    path.write_text(source, encoding="utf-8")


def importing_from(folder: str) -> dict[str, str]:
    """As an installed copy, or a .pth of another checkout, would have it."""
    return {"conftest.py": f"import sys\nsys.path.insert(0, {folder!r})\n"}


@pytest.mark.anyio
async def test_a_package_that_came_from_another_checkout_is_named_with_both_places(every_bench: Workbench) -> None:
    other = every_bench.root.parent / "other" / "src"
    install(other)
    every_bench.write({"src/shop/__init__.py": PACKAGE, "tests/test_a.py": TEST, **importing_from(str(other))})

    executed, discovered = await every_bench.execute(), await every_bench.discover()

    assert executed["verdict"] == "passed"
    assert executed["notices"] == discovered["notices"]
    (sentence,) = executed["notices"]
    assert sentence.startswith(
        f"'shop' was imported from '{other}/shop/__init__.py', not from the project's own 'src/shop'"
    )


@pytest.mark.anyio
async def test_an_installed_copy_in_an_environment_inside_the_root_is_another_one(bench: Workbench) -> None:
    installed = ".venv/lib/python3/site-packages"
    install(bench.root / installed)
    bench.write({"src/shop/__init__.py": PACKAGE, "test_a.py": TEST, **importing_from(str(bench.root / installed))})

    (sentence,) = (await bench.execute())["notices"]

    assert f"'{installed}/shop/__init__.py'" in sentence


@pytest.mark.anyio
async def test_a_single_module_and_a_file_that_cannot_be_collected_for_it_are_told_too(bench: Workbench) -> None:
    other = bench.root.parent / "other"
    install(other, name="shop.py")
    test = "from shop import DISCOUNT\ndef test_a(): pass\n"
    bench.write({"src/shop.py": "DISCOUNT = 2\n", "test_a.py": test, **importing_from(str(other))})

    sentence, broken = (await bench.execute())["notices"]

    assert "'src/shop.py'" in sentence
    assert broken.startswith("1 file(s)")


OWN = {"pytest.ini": "[pytest]\npythonpath = src lib\n", "test_a.py": TEST}
HARMLESS = {
    "its own package": {**OWN, "src/shop/__init__.py": PACKAGE},
    "its own module, in the root": {"shop.py": PACKAGE, "test_a.py": TEST},
    "two of its own": {**OWN, "src/shop/__init__.py": PACKAGE, "lib/shop/__init__.py": PACKAGE},
    "a name of the standard library": {"src/json/__init__.py": "", "test_a.py": "import json\ndef test_a(): pass\n"},
    "a copy of another's package": {"lib/pluggy/__init__.py": "", "test_a.py": "import pluggy\ndef test_a(): pass\n"},
    "a folder that is no package": {"src/pluggy/notes.txt": "", "test_a.py": "import pluggy\ndef test_a(): pass\n"},
    "a program": {"__main__.py": "", "test_a.py": "def test_a(): pass\n"},
}


@pytest.mark.anyio
@pytest.mark.parametrize("what", HARMLESS)
async def test_nothing_is_said_of(bench: Workbench, what: str) -> None:
    bench.write(HARMLESS[what])

    answer = await bench.execute()

    assert (answer["verdict"], answer["notices"]) == ("passed", [])


@pytest.mark.anyio
async def test_a_package_that_is_spread_over_several_places_is_the_projects_own_too(bench: Workbench) -> None:
    spread = "import pkgutil\n__path__ = pkgutil.extend_path(__path__, __name__)\nPRICE = 1\n"
    other = bench.root.parent / "other"
    install(other, spread)
    bench.write({"src/shop/__init__.py": spread, "test_a.py": TEST})
    bench.write({"conftest.py": f"import sys\nsys.path[:0] = [{str(other)!r}, {str(bench.root / 'src')!r}]\n"})

    assert (await bench.execute())["notices"] == []


@pytest.mark.anyio
async def test_a_link_to_the_code_is_the_code(bench: Workbench) -> None:
    other = bench.root.parent / "other"
    install(other)
    bench.write({"src/readme.txt": "", "test_a.py": TEST, **importing_from(str(other))})
    (bench.root / "src" / "shop").symlink_to(other / "shop")

    assert (await bench.execute())["notices"] == []
