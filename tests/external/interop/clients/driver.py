"""What every driver does: take the steps of a job in order, and tell one line of JSON for each.

Runs in the client's environment, so the standard library is all it needs. The job comes on standard input.
"""

import asyncio
import json
import sys
from pathlib import Path

# Longer than a run takes to begin, on any machine.
BEGIN_SECONDS = 60


def read_job():
    return json.load(sys.stdin)


async def take(steps, call):
    """`call` is the client's: tool, arguments and a listener for progress in, an answer out."""
    for step in steps:
        notes = []

        async def note(progress, total=None, message=None, notes=notes):
            notes.append([progress, total, message])

        calling = asyncio.ensure_future(call(step["tool"], step["arguments"], note))
        answer = await (cancelled(calling, Path(step["until"])) if step["until"] else calling)
        print(json.dumps({"step": step["name"], "notes": notes, **answer}), flush=True)


async def cancelled(calling, sign):
    async with asyncio.timeout(BEGIN_SECONDS):
        while not sign.exists():
            await asyncio.sleep(0.02)
    calling.cancel()
    await asyncio.wait([calling])
    return {"cancelled": calling.cancelled()}
