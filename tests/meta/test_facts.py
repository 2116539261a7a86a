"""Figures in the documents are those of the code: limits, defaults, entries, and what was seen with real programs."""

import json
import re
import tomllib
from pathlib import Path

import pytest

from pytest_mcp import text
from pytest_mcp.api import results
from pytest_mcp.api.requests import MAX_NODE_IDS
from pytest_mcp.cli.setup.clients import CLIENTS, Client
from pytest_mcp.cli.setup.entries import entry, server_name
from pytest_mcp.config import endpoint
from pytest_mcp.config import model as config
from pytest_mcp.process import start
from pytest_mcp.python import query
from pytest_mcp.report import budget, example_style, notices, warning_notices
from pytest_mcp.run import command, ledger
from pytest_mcp.server import incoming, log_format
from pytest_mcp.server.http import app as http
from pytest_mcp.server.http import connection, guard
from pytest_mcp.tools import BY_NAME
from tests.support.commands.plans import plan
from tests.support.paths import ROOT

KIB, MIB = 1024, 1024 * 1024
WORDS = {3: "three", 5: "five", 10: "ten", 20: "twenty"}
# As clients.json calls them.
SEEN_AS = {"gemini": "gemini-cli"}


def word(number: float) -> str:
    return WORDS.get(int(number), str(number))


def document(name: str) -> str:
    """Its words with single spaces, so that line breaks do not matter."""
    return " ".join((ROOT / name).read_text(encoding="utf-8").split())


FACTS = [
    ("docs/settings.md", f"(default: {config.DEFAULT_TIMEOUT})"),
    ("docs/settings.md", f"(default: {config.MAX_TIMEOUT})"),
    ("docs/settings.md", f"(default: {config.MAX_REPLY_BYTES // MIB} MiB)"),
    ("docs/settings.md", f"(without a value: `{endpoint.DEFAULT}`)"),
    ("docs/answers.md", f"listed when there are {word(results.LISTED_WITHOUT_FAILURE)} or fewer"),
    (
        "docs/clients.md",
        f"`max_tokens` {config.EXECUTE_TOKENS:,}, or {config.DISCOVER_TOKENS:,} for",
    ),
    ("docs/clients.md", f"time limit of a run, {config.DEFAULT_TIMEOUT} s"),
    ("docs/command-line.md", f"at most {MAX_NODE_IDS:,} ids"),
    ("docs/command-line.md", f"to {budget.TEXT_CHARACTERS:,} characters"),
    ("docs/command-line.md", f"to its last {word(example_style.CAPTURED_LINES)} lines"),
    ("docs/command-line.md", f"N up to {config.MOST_SHARDS:,}"),
    ("docs/decisions.md", f"## The time limit is {config.DEFAULT_TIMEOUT} seconds"),
    ("docs/decisions.md", f"for {word(query.QUESTION_SECONDS)} seconds at most"),
    ("docs/http.md", f"http://{endpoint.DEFAULT}/mcp"),
    ("docs/http.md", f"at least {endpoint.SHORTEST_TOKEN} characters"),
    ("docs/http.md", f"about {word(http.LAST_SECONDS)} seconds after the signal"),
    (
        "docs/http.md",
        f"| headers of a request | {guard.LARGEST_HEADERS // KIB} KiB, there within {connection.HEADER_SECONDS} s",
    ),
    ("docs/http.md", f"| body of a request | {guard.LARGEST_BODY // MIB} MiB, there within {guard.BODY_SECONDS} s;"),
    ("docs/http.md", f"{guard.LARGEST_BODIES // MIB} MiB for all requests at once"),
    ("docs/http.md", f"| connections | {connection.MOST_CONNECTIONS};"),
    ("docs/http.md", f"| an idle connection | {connection.IDLE_SECONDS} s |"),
    ("docs/http.md", f"less than {connection.LEAST_TAKEN // MIB} MiB in {connection.STALLED_SECONDS} s"),
    ("docs/logs.md", f"cut to {log_format.LONGEST_MESSAGE:,} characters"),
    ("docs/outcomes.md", f"the first {word(text.SHOWN_NAMES)} names"),
    ("docs/outcomes.md", f"the {word(warning_notices.MOST_CATEGORIES)} most frequent categories"),
    ("docs/outcomes.md", f"more than {notices.LONG_RUN:.0f} s, and at most {word(notices.FEW_TESTS)} of its"),
    ("docs/outcomes.md", f"of its {word(notices.MANY_TESTS)} or more tests"),
    ("docs/reliability.md", f"`--timeout`, {config.DEFAULT_TIMEOUT} s by default"),
    ("docs/reliability.md", f"`--max-reply-bytes`, {config.MAX_REPLY_BYTES // MIB} MiB by default"),
    (
        "docs/reliability.md",
        f"| a message of a client | {incoming.LONGEST // MIB} MiB, {incoming.MOST_VALUES:,} values",
    ),
    ("docs/reliability.md", f"{incoming.DEEPEST} levels deep"),
    ("docs/reliability.md", f"{start.KEPT_OUTPUT // KIB} KiB from the beginning and from the end"),
    ("docs/reliability.md", f"{command.LEAST_TEXT:,} to {command.MOST_TEXT:,} characters"),
    ("docs/reliability.md", f"of the same call, {budget.PARTIAL_BYTES // MIB} MiB at most"),
    ("docs/reliability.md", f"{ledger.KEPT_TEXT // 10**6} million characters"),
    ("docs/reliability.md", f"| the report file | {start.REPORT_LIMIT // MIB} MiB;"),
]


@pytest.mark.parametrize(("name", "words"), FACTS, ids=[f"{name}: {words}" for name, words in FACTS])
def test_a_figure_in_a_document_is_the_one_of_the_code(name: str, words: str) -> None:
    assert words in document(name)


def test_no_document_counts_the_tests_of_this_project() -> None:
    """The number changes with almost every change, and nobody notices."""
    counted = re.compile(r"`make test`[^|\n]*\|[^|\n]*\d tests")

    assert [
        path.name for path in (ROOT / "docs").glob("*.md") if counted.search(path.read_text(encoding="utf-8"))
    ] == []


@pytest.mark.parametrize("client", CLIENTS, ids=lambda client: client.name)
def test_the_page_of_a_client_has_the_entry_that_is_written(client: Client) -> None:
    page = (ROOT / "docs" / "clients" / f"{client.name}.md").read_text(encoding="utf-8")
    language, block = re.findall(r"(?ms)^```(json|toml)\n(.*?)^```", page)[0]
    written = plan(Path("/home/you/shop"))

    shown = (json.loads if language == "json" else tomllib.loads)(block)

    assert shown[client.servers] == {server_name(client, written, {}): entry(client, written, {})}


def test_setup_says_of_each_program_what_it_was_seen_to_ask() -> None:
    seen = json.loads((ROOT / "docs" / "clients.json").read_text(encoding="utf-8"))
    asked_for = ("discover_tests", "execute_tests")
    named = {client: seen[name] for client in CLIENTS if (name := SEEN_AS.get(client.name, client.name)) in seen}

    for client, entry_seen in named.items():
        asks = [tool for tool in asked_for if tool not in entry_seen["runs_unasked"]]
        words = {0: "", 1: f"`{asks[0]}`" if asks else "", 2: "a tool"}
        assert client.asks == words[len(asks)]
    assert len(named) == len(seen)
    assert set(asked_for) <= set(BY_NAME)
