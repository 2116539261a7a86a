"""How files are divided into shards; test_shards in integration/runs has real suites."""

import random
from importlib import import_module

from hypothesis import given
from hypothesis import strategies as st

# Modules of the child are not part of the package, so types are not known here.
shards = import_module("pytest_mcp.child.tests_to_run")
assign, digest = shards.assign, shards.digest

suites = st.dictionaries(st.text(min_size=1, max_size=8), st.integers(1, 500), max_size=40)
counts_of_shards = st.integers(1, 12) | st.just(10_000)


def loads(counts: dict[str, int], count: int) -> list[int]:
    found = [0] * count
    for file, shard in assign(counts, count).items():
        found[shard - 1] += counts[file]
    return found


@given(suites, counts_of_shards)
def test_every_file_is_in_exactly_one_shard(counts: dict[str, int], count: int) -> None:
    found = assign(counts, count)

    assert found.keys() == counts.keys()
    assert all(1 <= shard <= count for shard in found.values())


@given(suites, counts_of_shards, st.integers())
def test_the_order_of_collection_changes_nothing(counts: dict[str, int], count: int, seed: int) -> None:
    files = list(counts)
    random.Random(seed).shuffle(files)
    shuffled = {file: counts[file] for file in files}

    assert assign(shuffled, count) == assign(counts, count)
    assert digest(shuffled) == digest(counts)


@given(suites, st.integers(1, 12))
def test_two_shards_differ_by_one_file_at_most(counts: dict[str, int], count: int) -> None:
    found = loads(counts, count)

    assert max(found) - min(found) <= max(counts.values(), default=0)


@given(suites, counts_of_shards)
def test_a_shard_is_empty_only_if_there_are_fewer_files_than_shards(counts: dict[str, int], count: int) -> None:
    assert loads(counts, count).count(0) == max(0, count - len(counts))


def test_the_largest_file_comes_first_and_ties_go_to_the_first_name_and_shard() -> None:
    assert assign({"b": 2, "a": 2, "c": 3, "d": 1}, 2) == {"c": 1, "a": 2, "b": 2, "d": 1}


def test_a_suite_with_one_test_more_has_another_digest() -> None:
    assert digest({"a": 1, "b": 2}) != digest({"a": 1, "b": 3})
    assert digest({"\udcff": 1}) == digest({"\udcff": 1})
