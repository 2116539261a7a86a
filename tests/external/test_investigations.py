"""Every project of the corpus, investigated for real. A minute or two; `make investigations` runs it."""

from typing import Any

import pytest

from tests.support.git import commit_all
from tests.support.projects.investigation_corpus import CORPUS, Truth
from tests.support.workbench import Workbench

pytestmark = pytest.mark.external(target="investigations")


def set_up(bench: Workbench, truth: Truth) -> None:
    if truth.committed is not None:
        bench.write(truth.committed)
        commit_all(bench.root)
    bench.write(truth.files)


@pytest.mark.parametrize("name", CORPUS)
async def test_the_answer_is_the_truth(bench: Workbench, name: str) -> None:
    truth = CORPUS[name]
    bench = bench.using(truth.environment)
    set_up(bench, truth)

    found: dict[str, Any] = await bench.investigate(node_id=truth.node_id, **truth.arguments)

    assert found["kind"] in (truth.kind, *truth.also), found
    assert truth.evidence in " | ".join(found["evidence"]), found
    polluters = () if found["polluter"] is None else tuple(found["polluter"]["node_ids"])
    assert polluters == truth.polluters, found
