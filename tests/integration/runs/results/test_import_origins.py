"""`child/import_origins.py`: that the project's own code was not what the tests imported is said, and only then."""

from zipfile import ZipFile

import pytest

from tests.support.projects.project_files import write_files
from tests.support.workbench import Workbench

PRICE = "PRICE = 1\n"
BROKEN = "raise RuntimeError\n"
# A package whose modules may be in several folders.
SPREAD = "import pkgutil\n__path__ = pkgutil.extend_path(__path__, __name__)\nPRICE = 1\n"


def importing(module: str) -> str:
    return f"import {module}\ndef test_price(): assert {module}.PRICE == 1\n"


def importing_from(*folders: str) -> dict[str, str]:
    """As an installed copy, or a .pth of another checkout, would have it."""
    return {"conftest.py": f"import sys\nsys.path[:0] = {list(folders)!r}\n"}


async def test_a_package_that_came_from_another_checkout_is_named_with_both_places(every_bench: Workbench) -> None:
    other = every_bench.root.parent / "other" / "src"
    write_files(other, {"shop/__init__.py": PRICE})
    every_bench.write({"src/shop/__init__.py": PRICE, "tests/test_a.py": importing("shop")})
    every_bench.write(importing_from(str(other)))

    executed, discovered = await every_bench.execute(), await every_bench.discover()

    assert executed["verdict"] == "passed"
    assert executed["notices"] == discovered["notices"]
    (sentence,) = executed["notices"]
    assert sentence.startswith(
        f"'shop' was imported from '{other}/shop/__init__.py', not from the project's own 'src/shop'"
    )


# The module that is imported, its place in the project, and what is in a folder that precedes it.
ELSEWHERE = {
    "a single module": ("shop", "src/shop.py", {"shop.py": PRICE}),
    "a module of a namespace package": ("acme.cart", "src/acme/cart.py", {"acme/cart.py": PRICE}),
    "a package in a namespace package": ("acme.cart", "src/acme/cart/__init__.py", {"acme/cart/__init__.py": PRICE}),
    "a package two namespaces down": ("acme.eu.cart", "src/acme/eu/cart.py", {"acme/eu/cart.py": PRICE}),
    "another project's package of the namespace's name": (
        "acme.cart",
        "acme/cart.py",
        {"acme/__init__.py": "", "acme/cart.py": PRICE},
    ),
    "a namespace in place of a package": ("acme.cart", "src/acme/__init__.py", {"acme/cart.py": PRICE}),
    "the package of a member": ("acme", "packages/a/src/acme/__init__.py", {"acme/__init__.py": PRICE}),
    "a package below a folder named python": ("acme", "python/acme/__init__.py", {"acme/__init__.py": PRICE}),
}


@pytest.mark.parametrize("what", ELSEWHERE)
async def test_it_is_noticed_that_this_came_from_elsewhere(bench: Workbench, what: str) -> None:
    module, own, installed = ELSEWHERE[what]
    other = bench.root.parent / "other"
    write_files(other, installed)
    bench.write({own: BROKEN, "packages/a/pyproject.toml": "", "packages/a/tests/test_a.py": importing(module)})
    bench.write(importing_from(str(other)))

    executed, explained = await bench.execute(), await bench.explain()

    assert executed["verdict"] == "passed"
    assert "The tests do not test the code here" in executed["notices"][0]
    assert not explained["ready"]
    (found,) = explained["imported_elsewhere"]
    assert found["file"].startswith(str(other))
    assert found["own"] == own.removesuffix("/__init__.py")


@pytest.mark.parametrize(
    ("folder", "files"),
    [
        (".venv/lib/python3/site-packages", {}),
        ("build/lib", {}),
        # As where an agent has made a worktree and installed it in editable mode.
        (".trees/b/src", {".trees/b/.git": "gitdir: x\n", ".trees/b/setup.py": ""}),
        ("dist/shop.whl", {}),
    ],
)
async def test_a_copy_inside_the_root_is_another_one(bench: Workbench, folder: str, files: dict[str, str]) -> None:
    bench.write({"pytest.ini": "[pytest]\n", "src/shop/__init__.py": BROKEN, "test_a.py": importing("shop"), **files})
    bench.write(importing_from(folder))
    if folder.endswith(".whl"):
        (bench.root / "dist").mkdir()
        with ZipFile(bench.root / folder, "w") as archive:
            archive.writestr("shop/__init__.py", PRICE)
    else:
        bench.write({f"{folder}/shop/__init__.py": PRICE})

    (sentence,) = (await bench.execute())["notices"]

    assert f"'{folder}/shop/__init__.py', not from the project's own 'src/shop'" in sentence


@pytest.mark.parametrize("init", [{}, {"acme/__init__.py": SPREAD}], ids=["namespace", "spread"])
async def test_both_folders_of_a_namespace_are_searched_for_what_came_from_elsewhere(
    bench: Workbench, init: dict[str, str]
) -> None:
    """The other one is first, so its modules win; those that only the project has are its own."""
    other = bench.root.parent / "other"
    write_files(other, {"acme/cart.py": PRICE, **init})
    bench.write({"src/acme/own.py": "", "test_own.py": "import acme.own\ndef test_own(): pass\n"})
    bench.write({f"src/{name}": text for name, text in init.items()})
    bench.write(importing_from(str(other), str(bench.root / "src")))
    alone = await bench.execute()
    bench.write({"src/acme/cart.py": "PRICE = 2\n", "test_a.py": importing("acme.cart")})

    (sentence,) = (await bench.execute())["notices"]

    assert alone["notices"] == []
    assert sentence.startswith(f"'acme.cart' was imported from '{other}/acme/cart.py'")


OWN = {"pytest.ini": "[pytest]\npythonpath = src lib\n", "test_a.py": importing("shop")}
PLUGGY = "import pluggy\ndef test_a(): pass\n"
HARMLESS = {
    "its own package": {**OWN, "src/shop/__init__.py": PRICE},
    "its own module, in the root": {"shop.py": PRICE, "test_a.py": importing("shop")},
    "two of its own": {**OWN, "src/shop/__init__.py": PRICE, "lib/shop/__init__.py": PRICE},
    "a name of the standard library": {"src/json/__init__.py": "", "test_a.py": "import json\ndef test_a(): pass\n"},
    "a copy of another's package": {"lib/pluggy/__init__.py": "", "test_a.py": PLUGGY},
    "a folder that is no package": {"src/pluggy/notes.txt": "", "test_a.py": PLUGGY},
    "scripts in a folder of a package's name": {"pluggy/run.py": "", "test_a.py": PLUGGY},
    "its own namespace package": {**OWN, "src/shop/a.py": PRICE, "test_a.py": importing("shop.a")},
    "the package of one of two members": {
        "pytest.ini": "[pytest]\npythonpath = a/src\n",
        "shop/__init__.py": PRICE,
        "a/setup.py": "",
        "a/src/shop/__init__.py": PRICE,
        "a/test_a.py": importing("shop"),
    },
    "a program": {"__main__.py": "", "test_a.py": "def test_a(): pass\n"},
}


@pytest.mark.parametrize("what", HARMLESS)
async def test_nothing_is_said_of(bench: Workbench, what: str) -> None:
    bench.write(HARMLESS[what])

    answer = await bench.execute()

    assert (answer["verdict"], answer["notices"]) == ("passed", [])


async def test_a_link_to_the_code_is_the_code(bench: Workbench) -> None:
    other = bench.root.parent / "other"
    write_files(other, {"shop/__init__.py": PRICE})
    bench.write({"src/readme.txt": "", "test_a.py": importing("shop"), **importing_from(str(other))})
    (bench.root / "src" / "shop").symlink_to(other / "shop")

    assert (await bench.execute())["notices"] == []
