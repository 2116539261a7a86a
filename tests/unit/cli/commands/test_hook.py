"""Which lines of a shell are answered with advice: those that run pytest, and no other."""

import pytest

from pytest_mcp.cli.commands.hook import runs_pytest


@pytest.mark.parametrize(
    "line",
    [
        "pytest",
        "pytest -x tests/test_a.py::test_b",
        "py.test -q",
        ".venv/bin/pytest -k 'a and b'",
        "python -m pytest",
        "/usr/bin/python3.12 -m pytest -q",
        "uv run pytest",
        "poetry run python -m pytest",
        "PYTHONPATH=src DEBUG=1 pytest",
        "cd /p && pytest -q 2>&1 | tail -20",
        "source .venv/bin/activate; pytest",
        "cd a\npytest",
        "timeout 60 pytest",
        "pytest > out.txt; cat out.txt",
        "pytest -q || true",
        'pytest -k "a; b"',
    ],
)
def test_a_line_that_runs_pytest_is_answered(line: str) -> None:
    assert runs_pytest(line)


@pytest.mark.parametrize(
    "line",
    [
        "",
        "ls",
        "grep -r pytest .",
        "cat pytest.ini",
        "pip install pytest",
        "pytest-mcp run",
        "pytest --version",
        "pytest --fixtures",
        "pytest --pdb tests/test_a.py",
        "git commit -m 'pytest'",
        "git commit -m 'a; pytest'",
        'echo "a; pytest"',
        'NOTE="a; pytest -q"',
        "make build && pytest",
        "pytest && git push",
        "pytest | tee log",
        "command pytest -q",
        "env pytest",
        "docker run image pytest",
        "uv run --with x pytest",
        "uv pip install pytest",
        "cat <<EOF\npytest\nEOF",
        "echo $(pytest)",
        "echo `pytest`",
        "(cd a; pytest)",
        "for x in a b; do pytest; done",
        "python -c 'import pytest'",
        "python script.py -m pytest",
        "grep ';' pytest",
        "# pytest\nls",
        "pytest 'unclosed",
        "echo it\\'s; pytest",
        "tox -e pytest",
    ],
)
def test_anything_else_runs_as_it_is(line: str) -> None:
    assert not runs_pytest(line)
