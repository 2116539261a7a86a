"""The real count of tokens: o200k_base, by npm's gpt-tokenizer, in one process of node for all texts.

The package is fetched when it is first needed, into a folder that git does not see.
"""

import json
import subprocess
from collections.abc import Sequence

from bench.tokens import cache

PACKAGE = "gpt-tokenizer"
VERSION = "4.0.0"
ENCODING = "o200k_base"
FOLDER = cache.FOLDER / "tokenizer"
DESCRIPTION = FOLDER / "node_modules" / PACKAGE / "package.json"

# Fetching one package takes seconds; a network that needs longer is none.
INSTALL_SECONDS = 180
# The longest texts have millions of characters, which take seconds each.
COUNT_SECONDS = 600
# Words that steer a model count as what they are in a test's output: text.
SCRIPT = f"""\
const {{ countTokens }} = require("{PACKAGE}/encoding/{ENCODING}");
const texts = JSON.parse(require("fs").readFileSync(0, "utf8"));
console.log(JSON.stringify(texts.map((text) => countTokens(text, {{ disallowedSpecial: new Set() }}))));
"""


class NoTokenizer(Exception):
    """It cannot be fetched or does not run; the message is one sentence that says why."""


def prepare() -> None:
    """Fetch the package, unless this version of it is there already."""
    if is_there():
        return
    FOLDER.mkdir(parents=True, exist_ok=True)
    options = ["--prefix", str(FOLDER), "--no-audit", "--no-fund", "--ignore-scripts", "--loglevel=error"]
    run(["npm", "install", *options, f"{PACKAGE}@{VERSION}"], seconds=INSTALL_SECONDS)
    if not is_there():
        raise NoTokenizer(f"npm has installed something, but not {PACKAGE} {VERSION}.")


def is_there() -> bool:
    return DESCRIPTION.exists() and json.loads(DESCRIPTION.read_text(encoding="utf-8"))["version"] == VERSION


def count(texts: Sequence[str]) -> list[int]:
    told = run(["node", "-e", SCRIPT], seconds=COUNT_SECONDS, given=json.dumps(texts))
    counts: list[int] = json.loads(told)
    return counts


def run(argv: list[str], *, seconds: float, given: str = "") -> str:
    try:
        done = subprocess.run(
            argv, cwd=FOLDER, input=given, capture_output=True, encoding="utf-8", timeout=seconds, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise NoTokenizer(f"The tokenizer needs {argv[0]}, which does not run: {error}.") from error
    if done.returncode != 0:
        why = (done.stderr.strip().splitlines() or ["it does not say why"])[0]
        raise NoTokenizer(f"The tokenizer needs {argv[0]}, which failed: {why}.")
    return done.stdout
