"""`make package`: build everything that is published into dist/, and check it with the usual tools.

Exits with 0 only if every check passes. `.github/workflows/publish.yml` publishes, not this script.
"""

import hashlib
import shutil
import subprocess
import sys
from pathlib import Path

# Python puts only the folder of a script on its path; `scripts` is a package of the folder above.
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from scripts import bundle
from scripts.environments import PACKAGE

ROOT = Path(__file__).resolve().parent.parent
DIST = ROOT / "dist"
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
CONTAINER = ROOT / "packaging" / "Containerfile"
PROGRAMS = PACKAGE.python.parent
# Each step takes seconds; this only ends a step that hangs.
STEP_SECONDS = 300


def main() -> int:
    try:
        build()
        check()
    except (subprocess.SubprocessError, bundle.Unfit) as error:
        print(f"\nNot fit to be published: {error}", file=sys.stderr)
        return 1
    for file in sorted(DIST.iterdir()):
        print(f"{hashlib.sha256(file.read_bytes()).hexdigest()}  {file.stat().st_size:>8,}  dist/{file.name}")
    return 0


def build() -> None:
    # Files of an earlier version must not be published with this one.
    shutil.rmtree(DIST, ignore_errors=True)
    say("The source distribution, and the wheel from it")
    # With the pinned hatchling of this environment, not the newest one.
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
