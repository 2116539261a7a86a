"""What the pages for people quote and tell them to type: the sentences are ours, and the commands are accepted."""

import builtins
import json
import re
import shlex
from pathlib import Path

import pytest
import yaml
from _pytest import python as pytests_own

from pytest_mcp.cli.main import _parser
from tests.support.paths import ROOT

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
SHELL = {"|", ">", "<", "&", "&&"}
# One line, and no quotes between the parts of a sentence that is written on several.
SOURCES = re.sub(
    r'"\s+f?"',
    "",
    " ".join(path.read_text(encoding="utf-8") for path in (ROOT / "src" / "pytest_mcp").rglob("*.py")),
)


def typed(page: Path) -> list[list[str]]:
    """The arguments of each command of ours behind a prompt, without what the shell does with its output."""
    found = []
    for line in re.findall(r"(?m)^\$ pytest-mcp (.+)$", page.read_text(encoding="utf-8")):
        words = shlex.split(line, comments=True)
        end = next((index for index, word in enumerate(words) if word in SHELL), len(words))
        found.append(words[:end])
    return found


COMMANDS = [pytest.param(words, id=f"{page.stem}: {' '.join(words)}") for page in PAGES for words in typed(page)]


@pytest.mark.parametrize("words", COMMANDS)
def test_a_command_of_a_document_is_accepted(words: list[str]) -> None:
    _parser(words, {}).parse_args(words)


def test_every_quoted_symptom_is_what_is_said() -> None:
    """By us, by Python or by pytest."""
    page = (ROOT / "docs" / "troubleshooting.md").read_text(encoding="utf-8")
    quoted = re.findall(r"(?m)^\| `([^`]+)`", page)
    said = SOURCES + Path(pytests_own.__file__).read_text(encoding="utf-8") + " ".join(dir(builtins))

    assert len(quoted) > 8
    assert [words for words in quoted if words not in said] == []


def test_the_settings_of_the_recipes_can_be_parsed() -> None:
    page = (ROOT / "docs" / "recipes.md").read_text(encoding="utf-8")

    (settings,) = re.findall(r"(?ms)^```json\n(.*?)^```", page)
    (workflow,) = re.findall(r"(?ms)^```yaml\n(.*?)^```", page)

    assert json.loads(settings)
    assert yaml.safe_load(workflow)
