"""`pytest-mcp doctor [--json]`: check whether the server works and the project's tests can run.

Starts a server and calls it over stdio, like a client. Out come a report and an exit code: 0 if everything is ready,
1 if not, 2 for a usage error.
"""

import argparse
import json
import logging
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

import anyio

from pytest_mcp.api.results import ExplainResult
from pytest_mcp.cli import render_doctor, terminal
from pytest_mcp.cli.mcp_client import Examination, Handshake, examine, server_command
from pytest_mcp.cli.output import can_show, show
from pytest_mcp.cli.render_doctor import Style
from pytest_mcp.config.options import LoadConfig, server_flags
from pytest_mcp.report.environment.readiness import Standing

TOOL = "explain_environment"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print everything as one JSON object")


def main(options: argparse.Namespace, load_config: LoadConfig) -> int:
    config = load_config()
    # The SDK logs a traceback if a server writes anything else than messages.
    logging.disable()
    flags, style = server_flags(options, config), _style(config.environment)

    def on_handshake(handshake: Handshake) -> None:
        # Shown at once: collecting the tests may take minutes.
        if not options.json:
            show(render_doctor.rendered(render_doctor.of_handshake(handshake), style))

    found = anyio.run(examine, TOOL, flags, config, on_handshake)
    standing = _standing(found, flags)
    show(_as_json(found, standing) if options.json else _report(found, standing, style))
    return 0 if standing.ready else 1


def _style(environment: Mapping[str, str]) -> Style:
    marks = render_doctor.MARKS if can_show("".join(render_doctor.MARKS.values())) else render_doctor.ASCII_MARKS
    return Style(marks, terminal.screen(environment).out)


def _standing(found: Examination, flags: Sequence[str]) -> Standing:
    if found.answer is not None:
        return Standing(found.answer["ready"], found.answer["summary"], found.answer["next_step"])
    problem, by_hand = (found.problem or "").partition("\n")[0], f"{shlex.join(server_command(flags))} < /dev/null"
    return Standing(False, f"Not ready: {problem}", f"Start the server by hand and read its output: {by_hand}")


def _report(found: Examination, standing: Standing, style: Style) -> str:
    sections = [] if found.problem is None else [render_doctor.of_problem(found.problem)]
    if found.answer is not None:
        sections += render_doctor.of_environment(ExplainResult.model_validate(found.answer))
    if found.stderr.strip():
        sections.append(render_doctor.of_stderr(found.stderr))
    return "\n".join(
        [*(render_doctor.rendered(section, style) for section in sections), render_doctor.closing(standing, style)]
    )


def _as_json(found: Examination, standing: Standing) -> str:
    answer: dict[str, Any] = found.answer or {**asdict(standing), "problem": found.problem}
    values = dict.fromkeys(Handshake.__annotations__) if found.handshake is None else asdict(found.handshake)
    handshake = {**values, "stderr": found.stderr}
    return json.dumps({**answer, "handshake": handshake}, ensure_ascii=False, indent=2)
