"""What pytest must read, worked out from what was asked; and what its own parser does read."""

import os
from argparse import Namespace
from pathlib import Path
from typing import Any

from _pytest.config import get_config
from pydantic import ValidationError

from pytest_mcp.api.requests import DiscoverTests, ExplainEnvironment, Request, Survey
from pytest_mcp.config.model import Config
from pytest_mcp.run import command
from pytest_mcp.tools import Tool
from tests.external.endurance.figures import Tally

PYTHON, OWN_PREFIX = Path("/python"), Path("/server")

# A place in the file system and, for a test, what follows the first `::`.
Place = tuple[str, str | None]


class Oracle:
    """It knows the root and pytest's parser, and nothing of how a command line is built."""

    def __init__(self, root: Path) -> None:
        self.root = str(root)
        self.parser = get_config()._parser
        self.defaults = vars(self.parser.parse([]))

    def accepts(self, tool: Tool, asked: dict[str, Any], config: Config, tally: Tally) -> bool:
        """Whether the arguments were accepted; where pytest then reads something else, that is tallied."""
        try:
            request = tool.request.model_validate(asked, context=config.bounds)
        except ValidationError:
            return False
        if isinstance(request, ExplainEnvironment):
            request = Survey.covering(request)
        if not isinstance(request, Request):
            return True  # nothing of it can reach a command line
        collect = isinstance(request, DiscoverTests)
        built = command.build(request, config, PYTHON, own_prefix=OWN_PREFIX, collect_only=collect)
        words = built.job["args"]
        if not words[0].startswith("--") or vars(self.read(words)) != self.wanted(asked, collect=collect):
            tally.add("foreign", f"{words!r:.500} for {tool.name} {asked!r:.500}")
        return True

    def read(self, words: list[str]) -> Namespace:
        """Both of pytest's passes: the one that looks ahead, and the one that refuses what it does not know."""
        ahead, unknown = self.parser.parse_known_and_unknown_args(words)
        meant = self.parser.parse(words)
        return meant if vars(meant) == vars(ahead) and not unknown else Namespace(disagreeing=words)

    def wanted(self, asked: dict[str, Any], *, collect: bool) -> dict[str, Any]:
        """Every option of pytest: as it was asked for, or else at its default."""
        said = {name: value for name, value in asked.items() if value is not None}
        of_the_tool = self.of_discovery() if collect else self.of_execution(said)
        pattern = [f"python_files={said['pattern']}"] if "pattern" in said else []
        settings = [*of_the_tool.pop("override_ini"), *pattern]
        return {
            **self.defaults,
            **of_the_tool,
            "keyword": said.get("keywords", ""),
            "markexpr": said.get("markers", ""),
            "override_ini": settings or self.defaults["override_ini"],
            "file_or_dir": self.arguments(said),
        }

    def of_discovery(self) -> dict[str, Any]:
        return {"collectonly": True, "verbose": -2, "color": "no", "override_ini": []}

    def of_execution(self, said: dict[str, Any]) -> dict[str, Any]:
        captured = said.get("show_capture", said.get("verbosity", 0) >= 0)
        full = said.get("detail") == "full"
        limits = [] if full else ["truncation_limit_lines=0", "truncation_limit_chars=0"]
        remembered = {"lf": True, "last_failed_no_failures": "none"} if said.get("last_failed") else {}
        return {
            **remembered,
            "tbstyle": "auto" if full else "long",
            "showlocals": said.get("locals", False),
            "showcapture": "all" if captured else "no",
            "verbose": said.get("verbosity", 0),
            "color": "yes" if said.get("color") else "no",
            "code_highlight": "no",
            "maxfail": 1 if said.get("failfast") else said.get("maxfail", self.defaults["maxfail"]),
            "override_ini": [f"verbosity_assertions={2 if full else 'auto'}", *limits],
        }

    def arguments(self, said: dict[str, Any]) -> list[str]:
        """Each place once, and none that another one covers."""
        places = [(self.located(said["path"]), None)] if "path" in said else []
        for node_id in said.get("node_ids", []):
            path, separator, selector = node_id.partition("::")
            places.append((self.located(path), selector if separator else None))
        places = list(dict.fromkeys(places))
        kept = [place for place in places if not any(covers(other, place) for other in places if other != place)]
        return [path if selector is None else f"{path}::{selector}" for path, selector in kept]

    def located(self, given: str) -> str:
        """Absolute and inside the root, links followed or not, and so is each folder on the way; else it is foreign."""
        path = os.path.normpath(os.path.join(self.root, given))  # noqa: PTH118 - not by the means it is compared with
        way = [path[:end] for end in range(len(self.root), len(path)) if path[end] == "/"]
        inside = [f"{place}/".startswith(f"{self.root}/") for place in (path, *map(os.path.realpath, (*way, path)))]
        return path if all(inside) else f"{given} is outside"


def covers(one: Place, other: Place) -> bool:
    (path, selector), (other_path, other_selector) = one, other
    if selector is None:
        return f"{other_path}/".startswith(f"{path}/")
    return path == other_path and (other_selector or "").startswith((f"{selector}::", f"{selector}["))
