"""Writes records for the server: one line of JSON each, appended to a file that the server has opened.

Tests may close every descriptor, fork, and patch the standard library. So a channel keeps the functions it needs from
before any test code was loaded, checks that its descriptor is still the report file, reopens it by path if not, and
writes nothing in forked children. The fields of each kind of record are in `run/events.py` of the
server; a test compares them with what is written here.
"""

from __future__ import annotations

import json
import os
from contextlib import suppress
from typing import Any


class Channel:
    def __init__(self, path: str) -> None:
        self.path = path
        self.encode = json.JSONEncoder(ensure_ascii=True, allow_nan=False, separators=(",", ":"), default=str).encode
        self.os_open, self.os_write, self.os_fstat, self.os_getpid = os.open, os.write, os.fstat, os.getpid
        self.flags = os.O_WRONLY | os.O_APPEND | getattr(os, "O_CLOEXEC", 0)
        self.owner = os.getpid()
        self.descriptor = os.open(path, self.flags)
        self.identity = self.identity_of(self.descriptor)
        self.count = 0
        self.held = ""

    def emit(self, kind: str, **fields: Any) -> bool:
        """Write one whole record; False if that was not possible."""
        with suppress(Exception):
            return self.forward(kind, self.encode(fields))
        return False

    def forward(self, kind: str, fields: str) -> bool:
        """Write a record whose fields are JSON already: an object with at least one key, or none."""
        with suppress(Exception):
            if self.os_getpid() == self.owner:
                # Counted before it is written: a record that cannot be written leaves a gap that the server sees.
                self.count += 1
                self.write('{"k":"%s","n":%d%s%s' % (kind, self.count, "," if len(fields) > 2 else "", fields[1:]))
                return True
        return False

    def started(self, node_id: str) -> None:
        self.emit_of_test('{"k":"started","n":%d,"id":%s}', node_id, ())

    def started_at(self, node_id: str, index: int) -> None:
        """The start of a test under xdist, with its place in the collection: workers do not keep to that order."""
        self.emit_of_test('{"k":"started_at","n":%d,"id":%s,"index":%d}', node_id, (index,))

    def finished(self, node_id: str, duration: float, passed: bool, *, hold: bool) -> None:
        """The end of a test. With `hold` the next one starts at once, so one write for both records is enough."""
        line = '{"k":"finished","n":%d,"id":%s,"duration":%r,"passed":%s}'
        self.emit_of_test(line, node_id, (float(duration), "true" if passed else "false"), hold=hold)

    def emit_of_test(self, line: str, node_id: str, more: tuple[Any, ...], *, hold: bool = False) -> None:
        """Every test writes two of these, so they are formatted without a dictionary."""
        if self.os_getpid() != self.owner:
            return
        try:
            self.count += 1
            record = line % ((self.count, self.encode(node_id)) + more)
            if hold:
                self.held += "\n" + record + "\n"
            else:
                self.write(record)
        except Exception:  # noqa: BLE001, S110 - never raised into pytest; the server sees the gap. `suppress` is slower
            pass

    def flush(self) -> None:
        if self.held and self.os_getpid() == self.owner:
            with suppress(Exception):
                self.write("")

    def write(self, record: str) -> None:
        # The newline in front keeps a record whole after a half-written one.
        data = (self.held + "\n" + record + "\n").encode("ascii")
        self.held = ""
        target = self.usable_descriptor()
        while data:
            data = data[self.os_write(target, data) :]

    def usable_descriptor(self) -> int:
        try:
            if self.identity_of(self.descriptor) == self.identity:
                return self.descriptor
        except OSError:
            pass
        self.descriptor = self.os_open(self.path, self.flags)
        # Another file may be there by now; opened for each record, it would use up all descriptors.
        self.identity = self.identity_of(self.descriptor)
        return self.descriptor

    def identity_of(self, descriptor: int) -> tuple[int, int]:
        status = self.os_fstat(descriptor)
        return status.st_dev, status.st_ino
