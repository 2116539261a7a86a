"""Ways out of a sandbox, tried inside it by the tests of a project: a test passes where its way is open.

The file is copied into the project; `outside.json` beside it says where everything outside is.
"""

import ctypes
import fcntl
import json
import os
import shutil
import socket
import subprocess
import sys
import termios
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).resolve().parent
OUTSIDE: dict[str, Any] = json.loads((HERE / "outside.json").read_text(encoding="utf-8"))
FOLDER, SECRET = Path(OUTSIDE["folder"]), OUTSIDE["secret"]
FILE, KEY_FILE = FOLDER / "file", Path.home() / ".ssh" / "id_test"
LIBC = ctypes.CDLL(None, use_errno=True)
NEW_USER_AND_MOUNTS, REMOUNT_BIND, DETACH = 0x10020000, 32 | 4096, 2
KEYCTL, SEARCH, READ, SESSION = 250, 10, 11, -3
IN_OWN_NAMESPACE = f"""
import ctypes
libc = ctypes.CDLL(None)
assert libc.unshare({NEW_USER_AND_MOUNTS}) == 0 and libc.mount(None, b"/usr", None, {REMOUNT_BIND}, None) == 0
open("/usr/way-out", "w")
"""


def system(result: int) -> int:
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result


def anywhere(place: str) -> bool:
    """Whether the root or folder of any process, or one of our descriptors, leads to the file."""
    links = [link for process in Path("/proc").glob("[0-9]*") for link in process.glob(place)]
    return any(_is_there(link / FILE.relative_to("/")) for link in links)


def _is_there(path: Path) -> bool:
    try:
        return path.exists()
    except OSError:
        return False


def elsewhere(file: str, words: str) -> bool:
    return any(words.encode() in (each / file).read_bytes() for each in Path("/proc").glob("[0-9]*"))


def key_of_the_session() -> bool:
    key = system(LIBC.syscall(KEYCTL, SEARCH, SESSION, b"user", b"way-out", 0))
    read = ctypes.create_string_buffer(100)
    return system(LIBC.syscall(KEYCTL, READ, key, read, 100)) > 0 and read.value.decode() == SECRET


def typed_into_the_terminal() -> None:
    with Path("/dev/tty").open("rb") as terminal:
        fcntl.ioctl(terminal, termios.TIOCSTI, b"x")


def connected(family: int, address: Any) -> None:
    with socket.socket(family, socket.SOCK_STREAM) as client:
        client.settimeout(2)
        client.connect(address)


def sent(kind: int, address: Any, family: int = socket.AF_INET) -> None:
    with socket.socket(family, kind) as datagrams:
        datagrams.sendto(b"x" * 60, address)


def left_running() -> None:
    if os.fork() == 0:
        os.setsid()
        os.execvp("sleep", ["sleep", OUTSIDE["sleep"]])


def signalled(pid: int) -> bool:
    os.kill(pid, 0)
    return OUTSIDE["marker"].encode() in Path(f"/proc/{pid}/cmdline").read_bytes()


def read_from_another_root() -> bool:
    os.chroot("/proc/1/root")
    return FILE.exists()


def linked(target: Path, link: Path) -> Path:
    link.symlink_to(target)
    return link


def made(folder: Path) -> Path:
    folder.mkdir()
    return folder


def disk() -> Path:
    return next(path for path in Path("/dev").iterdir() if path.is_block_device())


def own_disk() -> bytes:
    os.mknod(HERE / "disk", 0o060600, os.makedev(*OUTSIDE["disk"]))
    return (HERE / "disk").open("rb").read(512)


WAYS: dict[str, Callable[[], object]] = {
    # Files
    "write beside the project": lambda: (FOLDER / "new").write_text("x"),
    "append": lambda: os.close(os.open(FILE, os.O_WRONLY | os.O_APPEND)),
    "truncate": lambda: os.truncate(FILE, 0),
    "remove": FILE.unlink,
    "move a file in": lambda: FILE.rename(HERE / "moved"),
    "move a file out": lambda: (HERE / "own").rename(FOLDER / "own"),
    "write programs of the system": lambda: Path("/usr/local/bin/way-out").write_text("x"),
    "write settings of the system": lambda: Path("/etc/way-out").write_text("x"),
    "change a mode": lambda: Path("/usr/bin/env").chmod(0o755),
    "change an owner": lambda: os.chown("/usr/bin/env", os.getuid(), os.getgid()),
    "change a time": lambda: os.utime("/usr/bin/env"),
    "write through a hard link": lambda: os.link("/usr/bin/env", HERE / "env"),
    "write through a link": lambda: linked(FILE, HERE / "link").write_text("x"),
    "write through a link to a folder": lambda: (linked(Path("/usr/local"), HERE / "to") / "out").write_text("x"),
    "read a key in the home": lambda: KEY_FILE.read_text() == SECRET,
    "read another project": lambda: FILE.read_text() == SECRET,
    "read through a link of the project": lambda: linked(FILE, HERE / "outward").read_text() == SECRET,
    # What the kernel has besides
    "the root of a process": lambda: anywhere("root"),
    "the folder of a process": lambda: anywhere("cwd"),
    "a descriptor": lambda: anywhere("fd/*"),
    "mount the system writable": lambda: system(LIBC.mount(None, b"/usr", None, REMOUNT_BIND, None)),
    "unmount what hides the home": lambda: system(LIBC.umount2(os.fsencode(Path.home()), DETACH)),
    "mount it in an own namespace": lambda: subprocess.run([sys.executable, "-c", IN_OWN_NAMESPACE], check=True),
    "change the root": read_from_another_root,
    "make a device": own_disk,
    "read the disk": lambda: disk().open("rb").read(1),
    "read the memory of the machine": lambda: os.close(os.open("/dev/mem", os.O_RDONLY)),
    "see a process outside": lambda: elsewhere("cmdline", OUTSIDE["marker"]),
    "read variables of a process outside": lambda: elsewhere("environ", "ONLY_OUTSIDE"),
    "signal a process outside": lambda: signalled(OUTSIDE["pid"]),
    "name the program for core dumps": lambda: Path("/proc/sys/kernel/core_pattern").write_text("core"),
    "name the program for devices": lambda: Path("/sys/kernel/uevent_helper").write_text(""),
    "write a control group": lambda: next(Path("/sys/fs/cgroup").rglob("cgroup.procs")).write_text("0"),
    "rights of a program's owner": lambda: subprocess.run([shutil.which("su") or "su", "-c", "id"], check=True),
    "type into the terminal": typed_into_the_terminal,
    "a key of the session": key_of_the_session,
    "shared memory": lambda: system(LIBC.shmget(OUTSIDE["memory"], 0, 0)),
    # The network
    "loopback of the machine": lambda: connected(socket.AF_INET, ("127.0.0.1", OUTSIDE["port"])),
    "an address outside": lambda: connected(socket.AF_INET, (OUTSIDE["address"], OUTSIDE["port"])),
    "a datagram": lambda: sent(socket.SOCK_DGRAM, (OUTSIDE["address"], OUTSIDE["port"])),
    "a raw packet": lambda: sent(socket.SOCK_RAW, ("eth0", 0), socket.AF_PACKET),
    "a request by the proxy": lambda: urllib.request.urlopen(f"http://{OUTSIDE['address']}:{OUTSIDE['port']}/"),
    "a socket with an abstract name": lambda: connected(socket.AF_UNIX, "\0" + OUTSIDE["marker"]),
    "a socket in the temporary folder": lambda: connected(socket.AF_UNIX, OUTSIDE["socket"]),
    "a socket in the project": lambda: connected(socket.AF_UNIX, str(HERE / "socket")),
    "the machine around a virtual one": lambda: socket.socket(socket.AF_VSOCK, socket.SOCK_STREAM),
    # What somebody outside runs later
    "a hook of git": lambda: (HERE / ".git" / "hooks" / "pre-commit").write_text("#!/bin/sh\n"),
    "a setting of git": lambda: os.close(os.open(HERE / ".git" / "config", os.O_WRONLY)),
    "another repository": lambda: (HERE / ".git").rename(HERE / "old"),
    "the entry of the client": lambda: (HERE / ".mcp.json").write_text("{}"),
    "another file for the entry": lambda: (HERE / "other").replace(HERE / ".mcp.json"),
    "settings of another client": lambda: (made(HERE / ".cursor") / "mcp.json").write_text("{}"),
    "a file of the project": lambda: (HERE / "tool.py").write_text("x = 1\n"),
    "a process that stays": left_running,
}  # fmt: skip


@pytest.mark.parametrize("way", WAYS)
def tried(way: str) -> None:
    for name in ("own", "other"):
        (HERE / name).write_text("{}", encoding="utf-8")
    assert WAYS[way]() is not False
