"""A sentence for each thing around a project that may trouble its tests, and none without a reason."""

from dataclasses import replace
from pathlib import Path

import pytest

from pytest_mcp.environment.hints import LITTLE_SPACE, of_surroundings
from pytest_mcp.environment.host import Surroundings, TemporaryFolder
from pytest_mcp.python.git_files import Checkout
from pytest_mcp.python.members import Members
from tests.support.invented.surveys import SURROUNDINGS, TEMPORARY, around, portrait

NOWHERE = around(looks_like_a_project=False)


def with_temporary(folder: TemporaryFolder) -> Surroundings:
    return around(temporary=folder)


@pytest.mark.parametrize(
    "usual",
    [
        SURROUNDINGS,
        around(checkout=Checkout(Path("/project"), None)),
        around(checkout=Checkout(Path("/project"), Path("/main"))),
        around(checkout=Checkout(Path("/"), None)),
        with_temporary(replace(TEMPORARY, free_bytes=None)),
        with_temporary(replace(TEMPORARY, free_bytes=LITTLE_SPACE)),
    ],
)
def test_nothing_is_said_where_all_is_as_it_should_be(usual: Surroundings) -> None:
    assert of_surroundings(usual, portrait(), 1) == []
    assert of_surroundings(usual, None, 0) == []


@pytest.mark.parametrize(
    ("surroundings", "words"),
    [
        (with_temporary(replace(TEMPORARY, writable=False)), ["/tmp", "written"]),
        (with_temporary(TemporaryFolder(None, writable=False, free_bytes=None, ignored=None)), ["written"]),
        (with_temporary(replace(TEMPORARY, ignored="TMPDIR")), ["TMPDIR", "/tmp"]),
        (with_temporary(replace(TEMPORARY, free_bytes=LITTLE_SPACE - 1)), ["99 MB", "/tmp"]),
    ],
)
def test_what_may_trouble_the_tests_is_one_sentence(surroundings: Surroundings, words: list[str]) -> None:
    (sentence,) = of_surroundings(surroundings, portrait(), 1)

    assert all(word in sentence for word in words)
    assert sentence.endswith(".")


def test_a_folder_without_any_sign_of_a_project_is_told_unless_it_has_tests() -> None:
    (sentence,) = of_surroundings(NOWHERE, None, 0)

    assert sentence.startswith("/project has no project file")
    assert of_surroundings(NOWHERE, portrait(), 1) == []


def test_a_server_in_the_projects_own_environment_is_told() -> None:
    (sentence,) = of_surroundings(SURROUNDINGS, portrait(prefix="/server"), 1)

    assert "/server" in sentence


def test_members_that_were_not_looked_at_are_counted() -> None:
    seen = Members((), more=3, is_complete=False)

    assert of_surroundings(around(members=seen), portrait(), 1) == [
        "3 more members are not listed; name one in path.",
        "Not every folder was searched for members of this monorepo.",
    ]
    assert of_surroundings(around(members=Members((), 0, is_complete=True)), portrait(), 1) == []
