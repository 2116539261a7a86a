"""Count tokens with the real tokenizer: o200k_base of the npm package gpt-tokenizer, one Node process for all texts.

`scripts/npm.py` fetches the package when it is first needed.
"""

import json
import subprocess
from collections.abc import Sequence

from scripts.npm import PACKAGES, node

PACKAGE = "gpt-tokenizer"
INSTALLED = PACKAGES["tokenizer"]
VERSION = INSTALLED.version(PACKAGE)
ENCODING = "o200k_base"

# The longest texts have millions of characters and take seconds each.
COUNT_SECONDS = 600
# By default the package raises on special tokens such as <|endoftext|>. In the output of a test they are plain text.
SCRIPT = f"""\
const {{ countTokens }} = require("{PACKAGE}/encoding/{ENCODING}");
const texts = JSON.parse(require("fs").readFileSync(0, "utf8"));
console.log(JSON.stringify(texts.map((text) => countTokens(text, {{ disallowedSpecial: new Set() }}))));
"""


def count(texts: Sequence[str]) -> list[int]:
    done = subprocess.run(
        [node(), "-e", SCRIPT],
        cwd=INSTALLED.folder,
        input=json.dumps(texts),
        stdout=subprocess.PIPE,
        encoding="utf-8",
        timeout=COUNT_SECONDS,
        check=True,
    )
    counts: list[int] = json.loads(done.stdout)
    return counts
