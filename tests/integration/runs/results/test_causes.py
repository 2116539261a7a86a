"""Several bugs at once: none of them is hidden behind another one that looks like it."""

from tests.support.workbench import Workbench


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
