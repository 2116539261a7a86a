"""A request becomes a command line: arguments of pytest, the child's environment and its job.

No value of the caller begins a token: paths are absolute, options are joined to their values, and the first token is
always an option of ours (an addopts that ends in `--cov` would take a path as its value).
"""

from pathlib import Path

from pytest_mcp.api.parameters import Flag
from pytest_mcp.api.requests import ExecuteTests, Request
from pytest_mcp.api.targets import Target
from pytest_mcp.config.model import CORES, Config
from pytest_mcp.process.job import Command, Job, child_launch

# The longest text of a test (message, traceback, captured stream) before its middle is cut: more than an answer of
# that many tokens can show, whatever the language.
CHARACTERS_PER_TOKEN = 5
LEAST_TEXT = 20_000
MAX_TEXT = 200_000

# A run of everything, of which nothing is recorded.
_PLAIN: Job = {
    "root": "",
    "args": [],
    "collect_only": False,
    "part": False,
    "filtered": False,
    "targets": [],
    "explicit_files": [],
    "named": [],
    "covered": [],
    "full": False,
    "by_marks": False,
    "portrait": False,
    "text_limit": LEAST_TEXT,
    "shard": None,
    "files": None,
    "unreached": [],
    "workers": None,
    "max_workers": 1,
    "ids": None,
    "trace": None,
    "calls": None,
    "proof": None,
    "moved": None,
    "coverage": None,
    "timing": False,
    "limited_memory": False,
}
# pytest cuts explanations of assertions by these, newer versions before `comparisons` can see them whole.
_NO_TRUNCATION = ("--override-ini=truncation_limit_lines=0", "--override-ini=truncation_limit_chars=0")


def build(request: Request, config: Config, python: Path, *, own_prefix: Path, collect_only: bool) -> Command:
    request = request if config.shows_values else _without_values(request)
    targets, covered = _without_overlaps(request)
    typed = () if collect_only else config.pytest_options
    fixed = [*_fixed_options(request, collect_only=collect_only), *_flags(request)]
    workers = _workers(request, config) if isinstance(request, ExecuteTests) and not collect_only else None
    return Command(
        launch=child_launch(python, config, own_prefix=own_prefix),
        job={
            **_of_request(request, config, collect_only=collect_only),
            "args": [*fixed, *typed, *(target.argument for target in targets)],
            "targets": [str(target.path) for target in targets],
            # They are no arguments. The child still checks that they exist.
            "covered": [[each.node_id, each.argument] for each in covered if each.selector is not None],
            "explicit_files": [str(target.path) for target in targets if target.is_file],
            "workers": workers,
        },
        reproduction=(
            *(str(python), "-m", "pytest", *(["--collect-only"] if collect_only else [])),
            *(*_flags(request, only_set=True), *typed),
            *([f"--numprocesses={workers}"] if workers and workers > 1 else []),
            *(target.node_id for target in targets),
        ),
    )


def _without_values(request: Request) -> Request:
    return request.model_copy(update={"locals": False}) if isinstance(request, ExecuteTests) else request


def _without_overlaps(request: Request) -> tuple[list[Target], list[Target]]:
    """The targets, and those that others cover: pytest's versions disagree on what overlapping arguments run."""
    asked = list(dict.fromkeys(target for _, target in request.targets))
    covered = [target for target in asked if any(other is not target and other.covers(target) for other in asked)]
    return [target for target in asked if target not in covered], covered


def _of_request(request: Request, config: Config, *, collect_only: bool) -> Job:
    return {
        **_PLAIN,
        "root": str(config.root),
        "collect_only": collect_only,
        "part": request.names_part,
        "filtered": bool(request.markers or request.keywords or getattr(request, "last_failed", False)),
        "named": list(dict.fromkeys(target.node_id for _, target in request.targets)),
        "full": request.detail == "full",
        "by_marks": request.markers is not None,
        "portrait": request.wants_portrait,
        "text_limit": _text_limit(request),
        "shard": None if config.shard is None else [config.shard.number, config.shard.of],
        "max_workers": config.max_workers,
        "timing": isinstance(request, ExecuteTests) and request.timing and not collect_only,
        "limited_memory": config.max_memory is not None,
    }


def _fixed_options(request: Request, *, collect_only: bool) -> list[str]:
    if isinstance(request, ExecuteTests) and not collect_only:
        full = request.detail == "full"
        return [
            # Only frames of the long style have the values of arguments.
            f"--tb={'auto' if full else 'long'}",
            f"--show-capture={'all' if request.captures else 'no'}",
            # Whole diffs, from pytest 8.0 on; older ones ignore this and `phases` raises their verbosity. Without
            # detail full, `comparisons` adds what pytest leaves out.
            f"--override-ini=verbosity_assertions={2 if full else 'auto'}",
            *([] if full else _NO_TRUNCATION),
            # With nothing to choose, pytest would run everything.
            *(["--last-failed-no-failures=none"] if request.last_failed else []),
            # pytest writes this colour into the text of a failed comparison itself, where messages would have it.
            "--code-highlight=no",
        ]
    return ["--collect-only", "--verbosity=-2", "--color=no"]


def _workers(request: ExecuteTests, config: Config) -> int | None:
    """At most the operator's limit; `auto` is also at most the number of cores."""
    if request.workers is None:
        return None
    return min(CORES if request.workers == "auto" else request.workers, config.max_workers)


def _text_limit(request: Request) -> int:
    if request.detail == "full":
        return MAX_TEXT
    tokens = request.max_tokens or request.default_max_tokens
    return min(MAX_TEXT, max(LEAST_TEXT, tokens * CHARACTERS_PER_TOKEN))


def _flags(request: Request, *, only_set: bool = False) -> list[str]:
    """The tokens that the fields of a request declare for their values."""
    tokens = []
    for name, field in type(request).model_fields.items():
        value = getattr(request, name)
        flag = next((mark for mark in field.metadata if isinstance(mark, Flag)), None)
        if flag is not None and value is not None and not (only_set and value == field.default):
            tokens.append(flag.option(value))
    return [token for token in tokens if token is not None]
