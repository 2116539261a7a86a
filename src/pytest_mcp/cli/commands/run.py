"""`pytest-mcp run`: what execute_tests does, for a person or a script.

In come the tool's parameters as flags, and node ids; out come the account of the run and an exit code, which are
pytest's own. With `--json` the tool's answer is printed as it is. A person gets one failure of each cause, however
many there are: the budget of tokens is the largest there is, unless another one is typed.
"""

import argparse
import os
import shlex
from functools import partial
from typing import Any

from pytest_mcp.api.results import ExecuteResult
from pytest_mcp.cli import exit_codes, local_call, render, tool_flags
from pytest_mcp.cli.local_call import Errand
from pytest_mcp.cli.output import show
from pytest_mcp.cli.terminal import Screen
from pytest_mcp.cli.tool_flags import Arguments
from pytest_mcp.config.options import Settle, as_typed
from pytest_mcp.tools import BY_NAME

TOOL = BY_NAME["execute_tests"]
# Beyond these a command line names the folder that holds them all.


def add_arguments(parser: argparse.ArgumentParser) -> None:
    local_call.add_arguments(parser, TOOL)


def main(options: argparse.Namespace, project: Settle) -> int:
    settled = project()
    tell = partial(_tell, settings=as_typed(options, os.environ))
    for_a_person = partial(_for_a_person, most_tokens=settled.most_tokens)
    return local_call.fulfil(Errand(TOOL, for_a_person, tell, exit_codes.of_execution), options, settled)


def _for_a_person(typed: Arguments, screen: Screen, *, most_tokens: int) -> Arguments:
    return {"max_tokens": most_tokens, "color": screen.out.colours, **typed}


def _tell(result: ExecuteResult, screen: Screen, *, settings: list[str]) -> None:
    show("\n".join(render.of_run(result, screen.out, again=_again(result.rerun, settings))))


def _again(rerun: dict[str, Any] | None, settings: list[str]) -> str | None:
    return None if rerun is None else shlex.join(["pytest-mcp", *settings, "run", *tool_flags.said(rerun)])
