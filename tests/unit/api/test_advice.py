"""Sentences for agents that keep the advice in them."""

import json

from pytest_mcp import text
from pytest_mcp.api.advice import Advice, Sentence, by_operator, from_meta, in_shell, meta
from pytest_mcp.api.results import DiscoverResult
from pytest_mcp.tools import dump

PYTHON = Advice("python", "start pytest-mcp with --python /a/python", ("/a/python",))
SENTENCE = Sentence("Install it: ", in_shell("pip install ."), ", or ", PYTHON)


def test_a_sentence_is_the_text_for_agents_and_has_its_parts() -> None:
    assert SENTENCE == "Install it: pip install ., or start pytest-mcp with --python /a/python"
    assert SENTENCE.parts == ("Install it: ", Advice("shell", "pip install ."), ", or ", PYTHON)
    assert SENTENCE.values("python", "folders") == ["/a/python"]
    assert by_operator("restart it").advice("shell", "python") == []


def test_what_is_short_enough_keeps_its_advice_and_what_is_cut_is_plain_text() -> None:
    assert text.cut_middle(SENTENCE, 1_000) is SENTENCE
    assert not isinstance(text.cut_middle(Sentence(SENTENCE, "x" * 1_000), 100), Sentence)


def test_an_answer_keeps_the_advice_of_its_notices_and_sends_their_text() -> None:
    answer = DiscoverResult(
        count=0, notices=[SENTENCE, "plain"], collection_errors=[], tests=[], files=[], omitted=None
    )

    assert answer.notices[0] is SENTENCE
    assert json.dumps(dump(answer)["notices"]) == json.dumps([str(SENTENCE), "plain"])


def test_a_client_that_words_the_next_step_itself_gets_its_parts() -> None:
    sent = json.loads(json.dumps(meta(SENTENCE)))

    assert from_meta(sent).parts == SENTENCE.parts
    assert (meta("plain"), meta(None), from_meta(None)) == ({}, {}, "")
