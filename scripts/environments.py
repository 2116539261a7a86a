"""Make the environments that the tests run projects in: `.envs/NAME`, one for each pytest version.

Nothing is made twice: an environment is complete when its marker holds the list of what it was
asked to hold. The tests read `ENVIRONMENTS` from here, so that both always agree.
"""

import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).resolve().parent.parent / ".envs"


@dataclass(frozen=True)
class Environment:
    name: str
    packages: tuple[str, ...]

    @property
    def python(self) -> Path:
        return FOLDER / self.name / "bin" / "python"

    @property
    def marker(self) -> Path:
        return FOLDER / self.name / ".complete"

    @property
    def is_complete(self) -> bool:
        return self.marker.exists() and self.marker.read_text(encoding="utf-8") == "\n".join(self.packages)


_PLUGINS = ("pytest-json-report==1.5.0", "pytest-xdist==3.8.0")

ENVIRONMENTS = {
    environment.name: environment
    for environment in (
        Environment("pytest-7.0", ("pytest==7.0.1", "pytest-subtests==0.11.0", "pytest-xdist==3.5.0", _PLUGINS[0])),
        Environment("pytest-8.4", ("pytest==8.4.2", "pytest-subtests==0.14.2", *_PLUGINS)),
        Environment("pytest-9", ("pytest==9.2.0", *_PLUGINS)),
        Environment("no-pytest", ()),
        # What `make demo` gives its example: pytest alone, as it is pinned for this project.
        Environment("demo", ("pytest==9.2.0",)),
        # The previous generation of the official SDK, for its client.
        Environment("mcp-1", ("mcp==1.30.0",)),
    )
}


def make(environment: Environment) -> None:
    subprocess.run([sys.executable, "-m", "venv", "--clear", FOLDER / environment.name], check=True)
    if environment.packages:
        install = [str(environment.python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*install, *environment.packages], check=True)
    environment.marker.write_text("\n".join(environment.packages), encoding="utf-8")


def main() -> None:
    for environment in ENVIRONMENTS.values():
        if not environment.is_complete:
            print(f"== setting up .envs/{environment.name}: {', '.join(environment.packages) or 'nothing'}", flush=True)
            make(environment)


if __name__ == "__main__":
    main()
