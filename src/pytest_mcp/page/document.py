"""The page as one HTML file: what a run came to, for people.

In come the content of a page and where it comes from; out comes the file's text. It needs nothing from elsewhere. Its
policy allows exactly one script and one style, by their hashes, and no request. Verdict, counts, notices, the first
failures and times are plain HTML; the script replaces the failures by a richer view and adds the list of all tests.
The page of an investigation has other sections in the same frame: `investigation`.
"""

import base64
import hashlib
import shlex
from collections.abc import Iterator

from pytest_mcp import __version__
from pytest_mcp.api.results import CollectionError, Summary, Verdict
from pytest_mcp.page import coverage, data, past, timing
from pytest_mcp.page.content import Cause, Content
from pytest_mcp.page.origin import Origin
from pytest_mcp.page.template import Markup, fill, short, source
from pytest_mcp.page.timing import Bar
from pytest_mcp.text import cut_middle, span

# Of the whole file: 5 MB, less what the last notices need.
MOST_BYTES = 4_990_000
# What a viewer without scripts sees: so many failures and, of each, so many ids. With these limits even text that is
# five times as long when it is escaped leaves a fifth of the file for the data.
PLAIN_FAILURES = 10
PLAIN_IDS = 10
MOST_NOTICES = 50
MOST_ERRORS = 30
LONGEST_SENTENCE = 2_000
# Of the bar in counts.html.
BAR_WIDTH = 1000
LEAST_SHARE = 0.006

_NO_PASS = "This is not a pass."  # noqa: S105 - the verdict
_VERDICTS: dict[Verdict, tuple[str, str]] = {
    "passed": ("Passed", "Every selected test ran and none failed."),
    "failed": ("Failed", ""),
    "incomplete": ("Incomplete", f"Not every selected test has an outcome. {_NO_PASS}"),
    "no_tests": ("No tests", f"No test ran, so nothing was tested. {_NO_PASS}"),
}


def render(content: Content, origin: Origin, *, created: str) -> str:
    return whole(content, origin, sections(content, origin, created=created), word=_VERDICTS[content.verdict][0])


def whole(content: Content, origin: Origin, parts: dict[str, Markup], *, word: str) -> str:
    """The file with these parts: `banner`, `notices`, `foot` and further sections. `word` is for the title."""
    head = _head(content, fill("title.html", word=word, project=origin.project))
    room = MOST_BYTES - sum(len(part.encode("utf-8")) for part in [*head.values(), *parts.values()])
    written = data.of_content(content, again=origin.again, most=room)
    parts = parts | {"notices": notices(content.notices, written.left_out)}
    around = {"banner": parts["banner"], "main": main(parts), "foot": parts["foot"]}
    return fill("page.html", **head, **around, data=Markup(written.text))


def main(parts: dict[str, Markup]) -> Markup:
    return Markup("\n".join(part for name, part in parts.items() if part and name not in ("banner", "foot")))


def policy(script: str, style: str) -> Markup:
    """Allows this script and this style, and nothing else."""
    allowed = f"default-src 'none'; script-src '{_hash(script)}'; style-src '{_hash(style)}'; img-src data:;"
    allowed += " base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
    return Markup(allowed)


def _head(content: Content, title: Markup) -> dict[str, Markup]:
    script, style = source("page.js"), source("page.css")
    icon = _base64(source(f"icon-{content.verdict}.svg").encode("utf-8"))
    return {
        "policy": policy(script, style),
        "title": title,
        "icon": Markup(f"data:image/svg+xml;base64,{icon}"),
        "style": style,
        "script": script,
    }


def sections(content: Content, origin: Origin, *, created: str) -> dict[str, Markup]:
    """What people read, in this order, without the data. `notices` will have those of the data too."""
    return {
        "banner": _banner(content, origin, created),
        "counts": _counts(content),
        "notices": notices(content.notices, []),
        "failures": failures(content, plain_failures(content, origin)),
        "collection_errors": _collection_errors(content.collection_errors),
        "times": _times(content),
        "tests": fill("tests.html", total=f"{len(content.tests):,}") if content.tests else Markup(),
        "coverage": coverage.section(content.coverage),
        "past": past.section(content),
        "foot": facts(content, origin),
    }


def _hash(content: str) -> str:
    return f"sha256-{_base64(hashlib.sha256(content.encode('utf-8')).digest())}"


def _base64(content: bytes) -> str:
    return base64.b64encode(content).decode("ascii")


def _banner(content: Content, origin: Origin, created: str) -> Markup:
    word, sentence = _VERDICTS[content.verdict]
    if content.problem is not None:
        word = "Incomplete" if content.summary.total else "Did not run"
        sentence = f"{content.problem.partition(chr(10))[0]}. {_NO_PASS}"
    if content.verdict == "failed":
        sentence = _failed(content.summary)
    rest = (content.problem or "").partition("\n")[2]
    part = "Shard {} of {}; the others are not on this page.".format(*content.shard) if content.shard else ""
    return fill(
        "banner.html",
        verdict=content.verdict,
        word=word,
        sentence=" ".join(filter(None, [cut_middle(sentence, LONGEST_SENTENCE), part])),
        more=fill("more.html", text=rest) if rest else Markup(),
        project=origin.project,
        when=f"{span(content.summary.duration)} · {created}",
    )


def _failed(summary: Summary) -> str:
    bad = [(summary.failed, "failed"), (summary.errors, "errors" if summary.errors > 1 else "error")]
    told = " and ".join(f"{number:,} {name}" for number, name in bad if number)
    return f"{told} of {summary.total:,}." if told else f"No test failed, but pytest reports a failure. {_NO_PASS}"


def _counts(content: Content) -> Markup:
    summary = content.summary
    numbers = {
        "failed": (summary.failed, "failed"),
        "errors": (summary.errors, "error"),
        "passed": (summary.passed, "passed"),
        "skipped": (summary.skipped, "skipped"),
    }
    if content.not_run:
        numbers["not run"] = (content.not_run, "not-run")
    tiles = [
        fill("count.html", name=name, kind=kind if number else "none", number=f"{number:,}")
        for name, (number, kind) in numbers.items()
    ]
    shares = {kind: number for number, kind in numbers.values() if number}
    return fill("counts.html", tiles=tiles, total=f"{summary.total:,}", shares=list(_shares(shares)))


def _shares(numbers: dict[str, int]) -> Iterator[Markup]:
    """One bar for all tests, each outcome with its share. No share is too small to be seen."""
    shares = {kind: max(number / sum(numbers.values()), LEAST_SHARE) for kind, number in numbers.items()}
    start = 0.0
    for kind, share in shares.items():
        width = BAR_WIDTH * share / sum(shares.values())
        yield fill("share.html", kind=kind, x=f"{start:.1f}", width=f"{width:.1f}")
        start += width


def notices(sentences: list[str], left_out: list[str]) -> Markup:
    more = len(sentences) - MOST_NOTICES
    unshown = [f"{more:,} more notices are left out."] if more > 0 else []
    told = [*sentences[:MOST_NOTICES], *unshown, *left_out]
    rows = [fill("notice.html", text=cut_middle(text, LONGEST_SENTENCE)) for text in told]
    return section("notices", "Notices", rows, "list.html") if rows else Markup()


def failures(content: Content, rows: list[Markup]) -> Markup:
    title = "1 cause of failure" if len(content.causes) == 1 else f"{len(content.causes):,} causes of failure"
    return section("failures", title, rows, "plain.html") if content.causes else Markup()


def plain_failures(content: Content, origin: Origin) -> list[Markup]:
    rows = [_plain_failure(cause, origin) for cause in content.causes[:PLAIN_FAILURES]]
    if more := len(content.causes) - len(rows):
        rows.append(fill("paragraph.html", text=f"{more} more causes are shown by the page's script."))
    return rows


def _plain_failure(cause: Cause, origin: Origin) -> Markup:
    ids = [fill("notice.html", text=short(node_id)) for node_id in cause.node_ids[:PLAIN_IDS]]
    if more := cause.count - len(ids):
        ids.append(fill("notice.html", text=f"and {more:,} more"))
    text = cause.example.text if cause.example else ""
    return fill(
        "failure.html",
        count=f"{cause.count:,} tests:" if cause.count > 1 else "",
        message=cut_middle(cause.message, LONGEST_SENTENCE),
        location=short(cause.location or ""),
        ids=ids,
        text=text,
        command=f"{origin.again} {shlex.join(cause.node_ids[:PLAIN_IDS])}",
    )


def _collection_errors(errors: list[CollectionError]) -> Markup:
    rows = [
        fill(
            "collection_error.html",
            place=short(error.file if error.line is None else f"{error.file}:{error.line}"),
            more=f"and {error.also} more files with this cause" if error.also else "",
            message=cut_middle(f"{error.error_type}: {error.message}", LONGEST_SENTENCE),
            text=error.traceback or "",
        )
        for error in errors[:MOST_ERRORS]
    ]
    if more := len(errors) - len(rows):
        rows.append(fill("paragraph.html", text=f"{more:,} more files could not be collected; they are left out here."))
    return section("uncollected", "Files that could not be collected", rows, "plain.html") if rows else Markup()


def _times(content: Content) -> Markup:
    if not content.lists_every_test:
        return Markup()
    charts = {
        "Slowest tests": timing.slowest_tests(content.tests),
        "Slowest files": timing.slowest_files(content.tests),
    }
    charts = {title: bars for title, bars in charts.items() if len(bars) > 1}
    drawn = [fill("chart.html", title=title, bars=list(map(_bar, bars))) for title, bars in charts.items()]
    return section("times", "Where the time went", drawn, "charts.html") if drawn else Markup()


def _bar(bar: Bar) -> Markup:
    return fill("bar.html", name=short(bar.name), seconds=f"{bar.seconds:.3f} s", share=f"{bar.share}")


def section(name: str, title: str, rows: list[Markup], around: str) -> Markup:
    return fill("section.html", id=name, title=title, content=fill(around, rows=rows))


def facts(content: Content, origin: Origin) -> Markup:
    known = {
        "Python": " · ".join(filter(None, [content.python, content.interpreter])),
        "pytest": content.pytest,
        "Commit": origin.commit,
        "Command": origin.command,
        "pytest's command": shlex.join(content.pytest_command),
        "Made by": f"pytest-mcp {__version__}",
    }
    shown = {name: cut_middle(value, LONGEST_SENTENCE, separator=" ") for name, value in known.items() if value}
    return Markup("\n".join(fill("fact.html", name=name, value=value) for name, value in shown.items()))
