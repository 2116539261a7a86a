"""Kills what a killed supervisor leaves behind.

On Linux these are orphans that become children of the server, their subreaper. Elsewhere they are found by the folder
of the run on their command line. Any other supervisor leaves nothing. `supervisor_client` starts supervisors and
registers them here.
"""

import os
import time
from contextlib import suppress

import anyio

from pytest_mcp.execution import linux, process_tree
from pytest_mcp.execution.background import in_thread

# The longest that ending them may take.
ORPHAN_SECONDS = 2.0
ORPHAN_PAUSE_SECONDS = 0.01


class Reaper:
    """Only a process that serves and starts nothing but supervisors may `open` it.

    Every other process below it counts as an orphan.
    """

    def __init__(self) -> None:
        self.is_open = False
        self.supervisors: set[int] = set()
        # How many supervisors are being started: they may run already, but their pids are not known yet.
        self.starting = 0

    def open(self) -> None:
        self.is_open = linux.become_subreaper()

    async def end_orphans(self, folder: str) -> None:
        """After the supervisor of the run in this folder was killed."""
        if not linux.IS_USED:
            await in_thread(lambda: process_tree.end_named(folder, ORPHAN_SECONDS))
        own = os.getpid()
        end = time.monotonic() + ORPHAN_SECONDS
        while self.is_open and time.monotonic() < end:
            if self.starting:
                await anyio.sleep(ORPHAN_PAUSE_SECONDS)
                continue
            orphans = linux.descendants(own, sparing=self.supervisors)
            process_tree.end_all(orphans)
            # Some are zombies already: the child of a killed supervisor dies with it.
            dead = linux.zombies(own) - self.supervisors
            for pid in dead:
                with suppress(ChildProcessError):
                    os.waitpid(pid, os.WNOHANG)
            if not orphans and not dead:
                return
            await anyio.sleep(ORPHAN_PAUSE_SECONDS)


# The state of this process, one subreaper for all runs: changed by `supervisor_client` and `process.prepare` only.
reaper = Reaper()
