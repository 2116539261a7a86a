"""Several bugs at once: none of them is hidden behind another one that looks like it."""

from tests.support.workbench import Workbench

BUGS = 12

LOOKUPS = "".join(f"def lookup_{n}():\n    return {{}}['missing_{n}']\n\n" for n in range(BUGS))
NAMES = "def first(name):\n    return name.upper()\n\ndef second(name):\n    return name.upper()\n"


async def test_exceptions_from_different_places_of_the_source_are_different_causes(every_bench: Workbench) -> None:
    tests = "".join(f"def test_{n}():\n    shop.lookup_{n}()\n\n" for n in range(BUGS))
    names = "def test_first():\n    names.first(None)\n\ndef test_second():\n    names.second(None)\n"
    every_bench.write({"shop.py": LOOKUPS, "names.py": NAMES, "test_shop.py": f"import names, shop\n\n{tests}{names}"})

    answer = await every_bench.execute(detail="tests")

    assert answer["failure_groups"] == []
    assert len(answer["tests"]) == BUGS + 2


async def test_test_functions_that_raise_words_with_a_number_have_a_cause_each(bench: Workbench) -> None:
    for n in range(BUGS):
        head = f"import pytest\n\n@pytest.mark.parametrize('x', range({n + 2}))\n"
        bench.write({f"test_{n}.py": f"{head}def test_it(x):\n    raise RuntimeError('cause {n}')\n"})

    answer = await bench.execute(detail="tests")

    assert sorted(group["count"] for group in answer["failure_groups"]) == list(range(2, BUGS + 2))


async def test_files_that_miss_different_modules_are_told_one_by_one(every_bench: Workbench) -> None:
    every_bench.write({f"test_{n}.py": f"import missing_{n // 2}\n" for n in range(2 * BUGS)})

    answer = await every_bench.execute()

    told = {error["message"]: error["also"] for error in answer["collection_errors"]}
    assert told == {f"No module named 'missing_{n}'": 1 for n in range(BUGS)}


async def test_a_service_that_is_down_is_one_cause_wherever_the_source_asks_for_it(bench: Workbench) -> None:
    """The frame below is the same: that of the library which raises."""
    asks = "import os\n" + "".join(
        f"def {name}():\n    return os.environ['SHOP_URL']\n" for name in ("first", "second")
    )
    tests = "import shop\n\ndef test_first():\n    shop.first()\n\ndef test_second():\n    shop.second()\n"
    bench.write({"shop.py": asks, "test_shop.py": tests})

    answer = await bench.execute()

    assert [group["count"] for group in answer["failure_groups"]] == [2]


async def test_what_one_place_wraps_and_two_lines_of_one_test_are_told_apart(every_bench: Workbench) -> None:
    service = """
        class ServiceError(Exception): pass

        def number(): return int("x")
        def user(): return {}["user"]

        def ask(what):
            try:
                return what()
            except Exception as e:
                raise ServiceError("request to service failed") from e
    """
    tests = """
        import pytest, service

        @pytest.mark.parametrize("what", [service.number, service.user])
        def test_ask(what): service.ask(what)

        @pytest.mark.parametrize("n", range(4))
        def test_lines(n):
            assert n < 2
            assert n > 1
    """
    every_bench.write({"service.py": service, "test_service.py": tests})

    answer = await every_bench.execute()

    assert [group["count"] for group in answer["failure_groups"]] == [2, 2]


async def test_programs_that_are_missing_in_two_places_are_told_apart(every_bench: Workbench) -> None:
    runs = "import subprocess\n\ndef run():\n    subprocess.run(['/x/{}'])\n"
    tests = "import a, b\n\ndef test_a(): a.run()\n\ndef test_b(): b.run()\n"
    every_bench.write({"a.py": runs.format("ffmpeg"), "b.py": runs.format("pandoc"), "test_it.py": tests})

    answer = await every_bench.execute(detail="tests")

    assert answer["failure_groups"] == []
    assert len(answer["tests"]) == 2


async def test_files_that_give_python_something_unreadable_are_told_one_by_one(every_bench: Workbench) -> None:
    every_bench.write({f"test_{n}.py": f"import json\njson.loads('x{n}')\n" for n in range(2)})

    answer = await every_bench.execute()

    assert [error["also"] for error in answer["collection_errors"]] == [0, 0]
