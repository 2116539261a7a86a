"""`child/import_origins.py`: that the project's own code was not what the tests imported is said, and only then."""

from pathlib import Path
from zipfile import ZipFile

import pytest

from tests.support.projects.project_files import write_files
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
@pytest.mark.parametrize("installed", [".venv/lib/python3/site-packages", "build/lib"])
async def test_an_installed_or_built_copy_inside_the_root_is_another_one(bench: Workbench, installed: str) -> None:
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


SPREAD = "import pkgutil\n__path__ = pkgutil.extend_path(__path__, __name__)\n"
CART, TEST_OF_CART = "PRICE = 1\n", "import acme.cart\ndef test_price(): assert acme.cart.PRICE == 1\n"
# What is in the project, and what is in a folder that precedes it: each is another way to import the wrong one.
ELSEWHERE = {
    "a module of a namespace package": ("src/acme/cart.py", {"acme/cart.py": CART}),
    "a package in a namespace package": ("src/acme/cart/__init__.py", {"acme/cart/__init__.py": CART}),
    "a package two namespaces down": ("src/acme/eu/cart.py", {"acme/eu/cart.py": CART}),
    "another project's package of the namespace's name": (
        "acme/cart.py",
        {"acme/__init__.py": "", "acme/cart.py": CART},
    ),
    "a namespace in place of a package": ("src/acme/__init__.py", {"acme/cart.py": CART}),
    "the package of a member": ("packages/a/src/acme/__init__.py", {"acme/__init__.py": "", "acme/cart.py": CART}),
    "a package below a folder named python": (
        "python/acme/__init__.py",
        {"acme/__init__.py": "", "acme/cart.py": CART},
    ),
}


@pytest.mark.anyio
@pytest.mark.parametrize("what", ELSEWHERE)
async def test_it_is_noticed_that_this_came_from_elsewhere(bench: Workbench, what: str) -> None:
    own, installed = ELSEWHERE[what]
    other = bench.root.parent / "other"
    module = own.partition("acme/")[2].removesuffix(".py").removesuffix("/__init__").replace("/", ".")
    test = TEST_OF_CART.replace("acme.cart", f"acme.{module}") if module != "__init__" else TEST_OF_CART
    write_files(other, installed)
    bench.write({own: "raise RuntimeError\n", "packages/a/pyproject.toml": "", "packages/a/tests/test_a.py": test})
    bench.write(importing_from(str(other)))

    executed, explained = await bench.execute(), await bench.explain()

    assert executed["verdict"] == "passed"
    assert "The tests do not test the code here" in executed["notices"][0]
    assert not explained["ready"]
    (found,) = explained["imported_elsewhere"]
    assert found["file"].startswith(str(other))
    assert found["own"] == own.removesuffix("/__init__.py")


@pytest.mark.anyio
async def test_both_folders_of_a_namespace_are_searched_for_what_came_from_elsewhere(bench: Workbench) -> None:
    """The other one is first, so its modules win; those that only the project has are its own."""
    other = bench.root.parent / "other"
    for init in ({}, {"acme/__init__.py": SPREAD}):
        write_files(other, {"acme/cart.py": CART, **init})
        bench.write(
            {"src/acme/cart.py": "PRICE = 2\n", "src/acme/own.py": "", "test_a.py": "import acme.own\n" + TEST_OF_CART}
        )
        bench.write({f"src/{name}": text for name, text in init.items()})
        bench.write({"conftest.py": f"import sys\nsys.path[:0] = [{str(other)!r}, {str(bench.root / 'src')!r}]\n"})

        (sentence,) = (await bench.execute())["notices"]

        assert sentence.startswith(f"'acme.cart' was imported from '{other}/acme/cart.py'")


@pytest.mark.anyio
async def test_a_copy_in_an_archive_is_another_one_also_inside_the_root(bench: Workbench) -> None:
    bench.write({"src/shop/__init__.py": "raise RuntimeError\n", "test_a.py": TEST, **importing_from("dist/shop.whl")})
    (bench.root / "dist").mkdir()
    with ZipFile(bench.root / "dist" / "shop.whl", "w") as archive:
        archive.writestr("shop/__init__.py", PACKAGE)

    (sentence,) = (await bench.execute())["notices"]

    assert "'dist/shop.whl/shop/__init__.py', not from the project's own 'src/shop'" in sentence


@pytest.mark.anyio
async def test_the_package_of_a_worktree_inside_the_root_is_another_one(bench: Workbench) -> None:
    """As where an agent has made a worktree and installed it in editable mode."""
    bench.write({"pytest.ini": "[pytest]\n", "src/shop/__init__.py": "raise RuntimeError\n", "test_a.py": TEST})
    bench.write({".trees/b/src/shop/__init__.py": PACKAGE, ".trees/b/.git": "gitdir: x\n", ".trees/b/setup.py": ""})
    bench.write(importing_from(str(bench.root / ".trees/b/src")))

    (sentence,) = (await bench.execute())["notices"]

    assert "'.trees/b/src/shop/__init__.py', not from the project's own 'src/shop'" in sentence


@pytest.mark.anyio
async def test_a_path_file_of_the_environment_that_names_another_checkout_is_noticed(bench: Workbench) -> None:
    other = bench.root.parent / "other" / "src"
    install(other, name="acme/cart.py")
    bench.write({"src/acme/cart.py": "raise RuntimeError\n", "test_a.py": TEST_OF_CART, "site/other.pth": str(other)})
    bench.write(
        {"conftest.py": "import pathlib, site\nsite.addsitedir(str(pathlib.Path(__file__).with_name('site')))\n"}
    )

    (sentence,) = (await bench.execute())["notices"]

    assert sentence.startswith(f"'acme.cart' was imported from '{other}/acme/cart.py'")


OWN = {"pytest.ini": "[pytest]\npythonpath = src lib\n", "test_a.py": TEST}
HARMLESS = {
    "its own package": {**OWN, "src/shop/__init__.py": PACKAGE},
    "its own module, in the root": {"shop.py": PACKAGE, "test_a.py": TEST},
    "two of its own": {**OWN, "src/shop/__init__.py": PACKAGE, "lib/shop/__init__.py": PACKAGE},
    "a name of the standard library": {"src/json/__init__.py": "", "test_a.py": "import json\ndef test_a(): pass\n"},
    "a copy of another's package": {"lib/pluggy/__init__.py": "", "test_a.py": "import pluggy\ndef test_a(): pass\n"},
    "a folder that is no package": {"src/pluggy/notes.txt": "", "test_a.py": "import pluggy\ndef test_a(): pass\n"},
    "scripts in a folder of a package's name": {
        "pluggy/run.py": "",
        "test_a.py": "import pluggy\ndef test_a(): pass\n",
    },
    "its own namespace package": {**OWN, "src/shop/a.py": PACKAGE, "test_a.py": TEST.replace("shop", "shop.a")},
    "the package of one of two members": {
        "pytest.ini": "[pytest]\npythonpath = a/src\n",
        "shop/__init__.py": PACKAGE,
        "a/setup.py": "",
        "a/src/shop/__init__.py": PACKAGE,
        "a/test_a.py": TEST,
    },
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
