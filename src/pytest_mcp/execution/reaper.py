"""What a supervisor that was killed leaves behind: it comes to the server, and is ended here.

Otherwise supervisors leave nothing. Which processes are theirs is told by `process`, which starts them.
"""

import os
import time
from contextlib import suppress

import anyio

from pytest_mcp.execution import process_tree

# What ending them may take.
ORPHAN_SECONDS = 2.0
ORPHAN_PAUSE_SECONDS = 0.01


class Orphanage:
    """Only a process that serves and starts nothing but supervisors may `open` it.

    Everything else that it finds below itself it takes for an orphan.
    """

    def __init__(self) -> None:
        self.is_open = False
        self.supervisors: set[int] = set()
        # Supervisors that are being started: there already, but nobody knows their numbers yet.
        self.unborn = 0

    def open(self) -> None:
        self.is_open = process_tree.become_subreaper()

    async def end_orphans(self) -> None:
        own = os.getpid()
        end = time.monotonic() + ORPHAN_SECONDS
        while self.is_open and time.monotonic() < end:
            if self.unborn:
                await anyio.sleep(ORPHAN_PAUSE_SECONDS)
                continue
            orphans = process_tree.descendants(own, sparing=self.supervisors)
            process_tree.end_all(orphans)
            # Some come to us dead already: the child of a killed supervisor dies with it.
            dead = process_tree.zombies(own) - self.supervisors
            for pid in dead:
                with suppress(ChildProcessError):
                    os.waitpid(pid, os.WNOHANG)
            if not orphans and not dead:
                return
            await anyio.sleep(ORPHAN_PAUSE_SECONDS)


orphanage = Orphanage()
