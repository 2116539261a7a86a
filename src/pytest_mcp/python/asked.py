"""A manager that must be asked where its environments are, because its files do not tell.

A subclass says what to ask and how to read the answer. Answers that cost a second are cached for as long as the files
they depend on are unchanged. How a program is started and limited is in `query`, the cache itself in `cache`.
"""

from abc import abstractmethod
from dataclasses import replace
from functools import partial
from pathlib import Path

from pytest_mcp.process.job import Exit
from pytest_mcp.python import query, virtualenv
from pytest_mcp.python.cache import Cache, Finding, stamped
from pytest_mcp.python.manager import Answers, Manager, Variables
from pytest_mcp.python.manifest import Manifest
from pytest_mcp.python.query import Question, Unanswered

_cache: Cache[Answers] = Cache()


class AskedManager(Manager):
    keeps_elsewhere = True

    @abstractmethod
    def question(self, folder: Path, variables: Variables) -> Question:
        """Raises `Unanswered` where the program would write something or answer for another project."""

    @abstractmethod
    def read(self, ended: Exit) -> list[Path]:
        """The environments that the program named. Raises `Unanswered` if it failed."""

    async def environments(self, manifest: Manifest, variables: Variables, root: Path) -> Answers:
        # Variables are part of the key: they decide which program is found and where it keeps environments.
        key = (self.name, manifest.folder, root, frozenset(variables.items()))
        return await _cache.get(key, partial(self._find, manifest.folder, variables, root))

    async def _find(self, folder: Path, variables: Variables, root: Path) -> Finding[Answers]:
        try:
            question = replace(self.question(folder, variables), root=root)
            program = query.find(question)
            before = stamped((program, *question.sources))
            answers = self._answers(self.read(await query.ask(question, program)))
        except Unanswered as reason:
            return Finding(self.no_answer(str(reason)), stamps=None)
        pythons = [answer.python for answer in answers if answer.python and not answer.problem]
        if len(pythons) < len(answers):
            return Finding(answers, stamps=None)
        settings = [virtualenv.of(python) / virtualenv.SETTINGS for python in pythons]
        return Finding(answers, stamps=before | stamped((*pythons, *settings)))

    def _answers(self, prefixes: list[Path]) -> Answers:
        """Only several need their names."""
        named = [(prefix, prefix.name if len(prefixes) > 1 else "") for prefix in prefixes]
        return tuple(self.answer(self.python(prefix), name) for prefix, name in named) or self.no_answer()
