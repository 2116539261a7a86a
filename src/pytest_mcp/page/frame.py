"""The HTML around a document: as a file, which holds it, or as the resource that a client loads once.

It needs nothing from elsewhere: its policy allows exactly one script and one style, by their hashes, and no request.
Text of tests stands in it as JSON, and as escaped text for viewers that run no scripts.
"""

import base64
import hashlib
import html
import re
from functools import cache
from pathlib import Path
from string import Template

from pytest_mcp.page.document import Document
from pytest_mcp.page.sections import escaped
from pytest_mcp.text import cut_middle, safe

# A file is smaller than five megabytes; the last sentences need the rest.
MAX_BYTES = 4_990_000
# In characters. Escaped it is never more than six times as long.
MAX_PLAIN = 100_000
FOLDER = Path(__file__).parent / "templates"
_SPACES = re.compile(r"\s*([{};,])\s*|(?<=:) ")


def room(plain: str) -> int:
    """How large the document in a file with this text may be."""
    return MAX_BYTES - len(_filled("page.js", title="", plain=plain).encode("utf-8"))


def file(document: Document, plain: str) -> str:
    """`plain` is for viewers that run no scripts."""
    title = f"{document['word']} · {document['project']}"
    return _filled("page.js", title=title, plain=plain, data=escaped(document))


def resource() -> str:
    return _filled("page.js", "app.js", title="Test results", plain="", place="app")


def _filled(*scripts: str, title: str, plain: str, data: str = "null", place: str = "file") -> str:
    script, style = "\n".join(map(_source, scripts)), _source("page.css")
    return Template(_source("page.html")).substitute(
        policy=_policy(script, style),
        title=html.escape(title),
        plain=html.escape(safe(cut_middle(plain, MAX_PLAIN))),
        place=place,
        style=style,
        script=script,
        data=data,
    )


@cache
def _source(name: str) -> str:
    """Without indentation, comments and the spaces of styles, which a browser does not need."""
    lines = map(str.strip, (FOLDER / name).read_text(encoding="utf-8").splitlines())
    text = "\n".join(line for line in lines if line and not line.startswith("//"))
    return _SPACES.sub(r"\1", text) if name.endswith(".css") else text


def _policy(*sources: str) -> str:
    """For a script and a style."""
    digests = [hashlib.sha256(source.encode("utf-8")).digest() for source in sources]
    script, style = (f"'sha256-{base64.b64encode(digest).decode('ascii')}'" for digest in digests)
    allowed = f"default-src 'none'; script-src {script}; style-src {style}; img-src data:;"
    return f"{allowed} base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
