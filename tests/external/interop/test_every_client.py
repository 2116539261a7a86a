"""`make interop`: the other clients, and the other ways of the official ones; `test_clients` has the first of them.

What an agent framework shows of an answer is asserted as the framework shows it. Deselected by default, since these
clients take minutes to fetch.
"""

import json

import pytest

from tests.external.interop.answers import Answer, check, same
from tests.external.interop.drivers import Way, driven
from tests.support.workbench import Workbench

pytestmark = pytest.mark.external(target="interop")

# On HTTP the old era has a message that cancels a call, and nothing that says whose call it means: the server keeps no
# sessions.
WAYS = [
    Way("python_2.py", "stdio", "legacy"),
    Way("python_2.py", "http", "modern"),
    Way("python_2.py", "http", "legacy", cancels=False),
    Way("typescript_2.mjs", "stdio", "modern"),
    Way("typescript_2.mjs", "stdio", "legacy"),
    Way("typescript_2.mjs", "http", "legacy", cancels=False),
    Way("typescript_1.mjs", "stdio", "legacy"),
    Way("typescript_1.mjs", "http", "legacy", cancels=False),
    Way("fastmcp_client.py", "stdio", "modern", "interop-fastmcp"),
    Way("fastmcp_client.py", "http", "modern", "interop-fastmcp"),
]
OPENAI = [
    Way("openai_agents.py", "stdio", "modern", "interop-openai-agents"),
    Way("openai_agents.py", "http", "modern", "interop-openai-agents"),
]
# Built on the first Python SDK, which tells nobody of a call that is cancelled.
LANGCHAIN = [
    Way("langchain_tools.py", "stdio", "legacy", "interop-langchain", cancels=False),
    Way("langchain_tools.py", "http", "legacy", "interop-langchain", cancels=False),
]
ERRORS = ("refused", "timed out")


@pytest.mark.parametrize("way", WAYS, ids=str)
def test_a_client_gets_what_the_newest_sdk_gets(way: Way, bench: Workbench, expected: dict[str, Answer]) -> None:
    told = driven(way, bench.root)

    check(told, bench.root, expected)


@pytest.mark.parametrize("way", [*OPENAI, *LANGCHAIN], ids=str)
def test_an_agent_framework_shows_the_text_of_a_result_and_with_errors_as_results_that_of_an_error(
    way: Way, bench: Workbench, expected: dict[str, Answer]
) -> None:
    told = driven(way, bench.root, ["--errors=result"])

    for step, said in told.items():
        if step in ERRORS:
            error = json.loads(said["shown"])
            assert error["code"] == expected[step]["error"]["code"]
            assert same(error["message"], bench.root).startswith(expected[step]["error"]["message"])
        elif step != "cancelled":
            assert same(said["shown"], bench.root) == expected[step]["text"]


@pytest.mark.parametrize("way", OPENAI, ids=str)
def test_openai_agents_show_nothing_of_a_json_rpc_error(way: Way, bench: Workbench) -> None:
    told = driven(way, bench.root)

    shown = {told[step]["shown"] for step in ERRORS}
    assert len(shown) == 1
    assert "nowhere" not in shown.pop()


@pytest.mark.parametrize("way", LANGCHAIN, ids=str)
def test_langchain_raises_a_json_rpc_error_which_ends_the_agents_run(
    way: Way, bench: Workbench, expected: dict[str, Answer]
) -> None:
    told = driven(way, bench.root)

    for step in ERRORS:
        assert same(told[step]["raised"], bench.root).startswith(expected[step]["error"]["message"])
