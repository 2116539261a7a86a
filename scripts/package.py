"""`make package`: everything that is handed out, built into dist/, and checked by the programs that others use.

Exits with 0 only if every check has passed. Nothing is published here; `.github/workflows/publish.yml` does that.
"""

import hashlib
import shutil
import subprocess
import sys
from pathlib import Path

# Started as a file, a script finds only its own folder, and the scripts are a package of the one above.
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from scripts import bundle
from scripts.environments import PACKAGE

ROOT = Path(__file__).resolve().parent.parent
DIST = ROOT / "dist"
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
CONTAINER = ROOT / "packaging" / "Containerfile"
PROGRAMS = PACKAGE.python.parent
# Each step takes seconds; this only ends one that hangs.
STEP_SECONDS = 300


def main() -> int:
    try:
        build()
        check()
    except (subprocess.SubprocessError, bundle.Unfit) as error:
        print(f"\nNot fit to be handed out: {error}", file=sys.stderr)
        return 1
    for file in sorted(DIST.iterdir()):
        print(f"{hashlib.sha256(file.read_bytes()).hexdigest()}  {file.stat().st_size:>8,}  dist/{file.name}")
    return 0


def build() -> None:
    # What an earlier version left there must not be handed out with this one.
    shutil.rmtree(DIST, ignore_errors=True)
    say("The source distribution, and the wheel from it")
    # The pinned hatchling of this environment, instead of whichever is newest today.
    run("python", "-m", "build", "--no-isolation", "--outdir", DIST, ROOT)
    say("The bundle")
    bundle.pack(DIST)


def check() -> None:
    say("The metadata")
    run("twine", "check", "--strict", *DIST.glob("*.whl"), *DIST.glob("*.tar.gz"))
    say("The workflows")
    run("check-jsonschema", "--builtin-schema", "vendor.github-workflows", *WORKFLOWS)
    say("The container")
    run("hadolint", CONTAINER)
    say("The bundle, unpacked and started")
    for file in DIST.glob("*.mcpb"):
        print(bundle.try_out(file))


def run(program: str, *arguments: str | Path) -> None:
    subprocess.run([PROGRAMS / program, *arguments], check=True, timeout=STEP_SECONDS)


def say(words: str) -> None:
    print(f"\n== {words}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
