"""Paths and node ids: a file or folder that exists inside the root, or a test in such a file.

Anything else is a ValueError that says why. Resolves and stats paths, opens no file.
"""

import os
import re
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

from pytest_mcp import text
from pytest_mcp.api import did_you_mean
from pytest_mcp.api.advice import Advice, Sentence

MAX_LENGTH = 4096
PATTERN, _KEYWORDS = Advice("parameter", "pattern"), Advice("parameter", "keywords")
_DISCOVER = Advice("tool", "discover_tests")
SEE = Sentence(_DISCOVER, " lists what there is")
NAME_ALONE = Sentence(
    "does not exist; to select tests by a name alone, use ",
    *(_KEYWORDS, " of ", _DISCOVER, " or ", Advice("tool", "execute_tests")),
)
_WILDCARDS = Sentence(
    "does not exist; wildcards are not expanded: name a folder or file, or use ", PATTERN, " or ", _KEYWORDS
)
_DRIVE = re.compile(r"[A-Za-z]:[\\/]")


@dataclass(frozen=True)
class Target:
    """A path inside the root and, for a test, what follows the first `::`."""

    root: Path
    relative: str
    selector: str | None
    is_file: bool

    @property
    def path(self) -> Path:
        return self.root / self.relative

    @property
    def argument(self) -> str:
        """The token of pytest's command line: it begins with / or ./, so it is never an option or a file of options.

        Absolute, unless the root's own path has characters that pytest takes for the beginning of a test's name.
        """
        return self._with_selector(f"./{self.relative}" if is_misread(str(self.root)) else str(self.path))

    @property
    def reported(self) -> tuple[str, ...]:
        """The names that pytest may report for this target; 9.2 omits the parameters of one that it did not find."""
        absolute = self._with_selector(str(self.path))
        plain = replace(self, selector=self.selector.partition("[")[0]) if self.selector else self
        return (self.argument, absolute, plain.argument, plain._with_selector(str(self.path)))

    @property
    def node_id(self) -> str:
        return self._with_selector(self.relative)

    def _with_selector(self, path: str) -> str:
        return path if self.selector is None else f"{path}::{self.selector}"

    def covers(self, other: "Target") -> bool:
        """Whether running this target runs the other one too."""
        if self.selector is not None:
            narrower = other.selector is not None and f"{other.selector}::".startswith(
                (f"{self.selector}::", f"{self.selector}[")
            )
            return self.relative == other.relative and narrower
        return self.relative in (".", other.relative) or other.relative.startswith(f"{self.relative}/")


class Missing(ValueError):
    """Nothing has this path. What is near is looked for only if it is asked for: a call can have many wrong paths."""

    def __init__(self, relative: str, root: Path) -> None:
        super().__init__(_why_missing(relative, root))
        self.relative = relative
        self.root = root


def explained(refusal: ValueError, *, suggests: bool = True) -> str:
    """Why a value was refused; of a path or node id with a path that exists, if there is one near."""
    if suggests and isinstance(refusal, Missing) and (near := did_you_mean.near_path(refusal.root, refusal.relative)):
        return Sentence(f"does not exist; did you mean {text.in_line(near)}? ", SEE)
    return next((said for said in refusal.args if isinstance(said, Sentence)), None) or str(refusal)


def is_misread(path: str) -> bool:
    """Whether pytest would take a part of the path for a test or its parameters."""
    return "[" in path or "::" in path


def parse_path(given: str, root: Path) -> Target:
    """A file or folder; `::` has no meaning in it."""
    relative = _locate(_below(given, root), root)
    is_file = (root / relative).is_file()
    if not is_file and not (root / relative).is_dir():
        raise ValueError("is neither a regular file nor a folder")
    return Target(root=root, relative=relative, selector=None, is_file=is_file)


def parse_node_id(given: str, root: Path) -> Target:
    """`file`, `folder` or `file::…`; what follows the first `::` is not interpreted."""
    path, separator, selector = _below(given, root).partition("::")
    if separator and not path:
        raise ValueError("has no file before ::, as in tests/test_user.py::test_login")
    target = replace(parse_path(path, root), selector=selector if separator else None)
    if not text.is_plain(selector):
        raise ValueError("control characters and invisible characters are not allowed")
    if separator and not selector:
        raise ValueError("has nothing after ::")
    if separator and not target.is_file:
        raise ValueError("is not a file, so no test can be selected in it with ::")
    return target


def can_be_asked(node_id: str) -> bool:
    """Whether the text of a reported id would be accepted if it were passed back."""
    path, _, selector = node_id.partition("::")
    return _is_askable(path) and len(node_id) <= MAX_LENGTH and text.is_plain(selector)


@lru_cache(maxsize=1024)
def _is_askable(path: str) -> bool:
    try:
        _check_text(path)
    except ValueError:
        return False
    # Files outside the root are reported with absolute paths.
    return not path.startswith("/")


def _below(given: str, root: Path) -> str:
    """An absolute path inside the root, relative to it: the root's own path may have any characters."""
    inside = given == str(root) or given.startswith(f"{root}/")
    return (given[len(str(root)) :].lstrip("/") or ".") if inside else given


def _check_text(given: str) -> None:
    if not given.strip():
        raise ValueError("is blank; name a file or a folder")
    if not text.is_plain(given):
        raise ValueError("control characters and invisible characters are not allowed")
    if given[0] in "-@~":
        raise ValueError(f"must not begin with {given[0]}")
    if "::" in given:
        raise ValueError("must not contain ::, which belongs to node ids; name only the file")
    if "[" in given:
        raise ValueError("must not contain [, which pytest takes for parameters of a test; name the folder above it")
    if _DRIVE.match(given) and os.name != "nt":
        raise ValueError("must be a path inside the project root")
    if ".." in re.split(r"[\\/]", given):
        raise ValueError("'..' is not allowed; give a path inside the project root")


def _locate(given: str, root: Path) -> str:
    """Check the text, then the resolved path. Return it relative to the root, with forward slashes."""
    _check_text(given)
    path = root / given
    real = _resolved(path, root)
    if not real.is_relative_to(root):
        raise ValueError(f"lies outside the project root {root}")
    # A symlink inside the root keeps its own name, so that ids match the project's file names.
    inside = path if path.is_relative_to(root) else real
    # Settings, conftests and environments are read from each folder on the way.
    folders = inside.parents[: len(inside.parts) - len(root.parts)]
    if inside != real and not all(folder.resolve().is_relative_to(root) for folder in folders):
        raise ValueError(f"goes through a symlink out of the project root {root}")
    relative = inside.relative_to(root).as_posix()
    if relative[0] in "-@":
        raise ValueError(f"must not begin with {relative[0]}")
    return relative


def _resolved(path: Path, root: Path) -> Path:
    try:
        return path.resolve(strict=True)
    except (OSError, RuntimeError, ValueError) as error:
        # As of a path outside that exists: nobody learns from a refusal which files are there.
        if not path.is_relative_to(root):
            raise ValueError(f"lies outside the project root {root}") from error
        if isinstance(error, FileNotFoundError):
            raise Missing(path.relative_to(root).as_posix(), root) from error
        why = "a loop of symlinks, a file used as a folder, or too long a path"
        raise ValueError(f"cannot be resolved ({why})") from error


def _why_missing(relative: str, root: Path) -> str:
    """With the next thing to do, if that can be told from the name."""
    if "\\" in relative:
        return "does not exist; separate folders with /"
    if "*" in relative or "?" in relative:
        return _WILDCARDS
    if relative.isidentifier():
        return NAME_ALONE
    return Sentence(f"does not exist in the project root {root}; ", SEE)
