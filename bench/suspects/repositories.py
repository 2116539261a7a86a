"""The libraries whose real commits are measured: a clone of each, with an environment for its tests.

Their histories are not fetched: a folder of clones is named on the command line. Versions of what their suites import
are in constraints.txt.
"""

import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from pydantic import TypeAdapter

from bench.tokens.cache import FOLDER
from bench.tokens.real.checkouts import PIP, isolate

CONSTRAINTS, FILE = (Path(__file__).with_name(name) for name in ("constraints.txt", "repositories.json"))
# What a clone may be called in the folder that is named: NAME, NAME.git, or OWNER+NAME/repo.
PLACES = ("{0}", "{0}.git", "*+{0}/repo")
GIT_SECONDS = 300


class Absent(Exception):
    """There is no clone of this library in the folder."""


@dataclass(frozen=True)
class Repository:
    """`source` is where fixes are taken back, `import_root` what goes on the path; both relative to the project.

    `holdout` is for nobody to tune on, or to look at.
    """

    name: str
    source: str
    tests: str = "tests"
    needs: tuple[str, ...] = ()
    import_root: str = "."
    holdout: bool = False
    # The name that its own metadata has, where it is not that of the repository.
    distribution: str = ""

    @property
    def folder(self) -> Path:
        return FOLDER / "repositories" / self.name

    @property
    def project(self) -> Path:
        return self.folder / "project"

    @property
    def python(self) -> Path:
        return self.folder / "environment" / "bin" / "python"

    def prepare(self, clones: Path | None) -> None:
        """Raises Absent if there is nothing to clone."""
        if not self.project.exists():
            self._clone(clones)
        marker, wanted = self.folder / ".complete", "\n".join(["pytest", *self.needs])
        if not marker.exists() or marker.read_text(encoding="utf-8") != wanted:
            print(f"== setting up {self.name}", file=sys.stderr, flush=True)
            self._make_environment()
            marker.write_text(wanted, encoding="utf-8")

    def _clone(self, clones: Path | None) -> None:
        if clones is None:
            raise Absent(f"{self.name}: no folder of clones is named (make REPOS=FOLDER suspects)")
        found = [place for pattern in PLACES for place in clones.glob(pattern.format(self.name))]
        if not found:
            raise Absent(f"no clone of {self.name} in {clones}")
        self.folder.mkdir(parents=True, exist_ok=True)
        git(self.folder, "clone", "--quiet", "--shared", "--no-checkout", str(found[0].resolve()), "project")
        (self.project / ".git" / "info" / "exclude").write_text("/pytest.ini\n", encoding="utf-8")

    def _make_environment(self) -> None:
        """The project is on the path as an editable install puts it there, with a version for those who ask for it."""
        subprocess.run([sys.executable, "-m", "venv", "--clear", self.folder / "environment"], check=True)
        packages = ["pytest", *self.needs]
        subprocess.run([self.python, *PIP, "install", f"--constraint={CONSTRAINTS}", *packages], check=True, cwd=FOLDER)
        (site,) = (self.folder / "environment" / "lib").glob("python*/site-packages")
        (site / "project.pth").write_text(f"{(self.project / self.import_root).resolve()}\n", encoding="utf-8")
        name = self.distribution or self.name
        metadata = site / f"{name.replace('-', '_')}-99.0.dist-info" / "METADATA"
        metadata.parent.mkdir()
        metadata.write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 99.0\n", encoding="utf-8")

    def check_out(self, commit: str) -> None:
        """Nothing of an earlier case is left, byte code neither."""
        git(self.project, "checkout", "--quiet", "--force", "--detach", commit)
        git(self.project, "clean", "-qffdx")
        isolate(self.project)

    def text(self, commit: str, file: str) -> str:
        """Empty where the commit has no such file."""
        found = git(self.project, "ls-tree", "--name-only", commit, "--", file)
        return git(self.project, "show", f"{commit}:{file}") if found else ""


def git(folder: Path, *arguments: str) -> str:
    done = subprocess.run(
        ["git", *arguments],
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        timeout=GIT_SECONDS,
        check=True,
    )
    return done.stdout.decode("utf-8", errors="replace")


REPOSITORIES = {each.name: each for each in TypeAdapter(list[Repository]).validate_json(FILE.read_bytes())}
