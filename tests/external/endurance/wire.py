"""Raw lines for a real server: noise, broken JSON-RPC and all that a client should never say."""

import json
import random
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.external.endurance.arguments import any_value
from tests.external.endurance.figures import Figure, Tally, part
from tests.external.endurance.scene import Scene
from tests.support.protocol.raw_client import INITIALIZE, Message, NoAnswer, RawClient

FULL = 50_000
# After so many lines there is a call with a known answer.
BETWEEN_KNOWN = 1_000
KNOWN_PROJECT = {
    "test_known.py": "import pytest\n\n@pytest.mark.parametrize('n', range(5))\ndef test_known(n): assert n != 3\n"
}
KNOWN_COUNTS = {"total": 5, "passed": 4, "failed": 1, "skipped": 0, "errors": 0}

METHODS = [
    *("initialize", "notifications/initialized", "ping", "tools/list", "resources/list", "resources/read"),
    *("prompts/get", "logging/setLevel", "completion/complete", "notifications/cancelled", "notifications/progress"),
    *("shutdown", "exit", "rpc.discover", "", "__class__", "tools/call/", "\ud800", "x" * 10_000),
]
IDS: list[Any] = [*(0, 1, 1, 1, -1, 2**63, 10**400, 1.5, "", "a", "x" * 100_000, None, True, [], {}, "\ud800", "0")]
DEPTHS = [50, 500, 100_000]


def measure(share: float, seed: int) -> Figure:
    rng, tally, count = random.Random(seed), Tally(), part(FULL, share)
    with tempfile.TemporaryDirectory() as folder:
        scene = Scene.made_in(Path(folder).resolve(), KNOWN_PROJECT)
        sender = Sender(scene, tally, scene.server())
        for number in range(count):
            sender.send(any_line(rng))
            if number % BETWEEN_KNOWN == 0:
                sender.ask_what_is_known()
        sender.end()
    words = f"fuzz wire: {count} raw lines, {tally['death']} deaths, {tally['reply']} replies that are not JSON-RPC"
    return Figure(f"{words}, {tally['wrong']} of {sender.known_calls} known calls answered wrongly", tally)


@dataclass
class Sender:
    """Keeps a server running, asks it between the lines what is known, and counts its deaths."""

    scene: Scene
    tally: Tally
    server: RawClient
    pending: str | None = None
    known_calls: int = 0
    latest: bytes = b""

    def send(self, line: bytes) -> None:
        try:
            self.server.send_raw(line + b"\n")
            self.latest = line
        except NoAnswer:
            self.replace_the_dead()

    def ask_what_is_known(self) -> None:
        """The next one is asked when the last one is answered; between them the lines go on."""
        self.check_the_answer()
        try:
            self.pending = self.server.begin("execute_tests")
            self.known_calls += 1
        except NoAnswer:
            self.replace_the_dead()

    def check_the_answer(self) -> None:
        if self.pending is None:
            return
        identity, self.pending = self.pending, None
        try:
            answer = self.server.reply(identity)
        except NoAnswer:
            self.replace_the_dead()
            return
        if not is_right(answer):
            self.tally.add("wrong", f"{answer!r:.500}")

    def replace_the_dead(self) -> None:
        self.tally.add("death", f"last line sent: {self.latest[:500]!r}")
        self.server.kill()
        self.pending = None
        self.note_invalid_replies()
        self.server = self.scene.server()

    def end(self) -> None:
        """It must still answer rightly, and end when its input does."""
        self.ask_what_is_known()
        self.check_the_answer()
        code = self.server.close()
        if code != 0:
            self.tally.add("death", f"exit code {code} at the end of its input")
        self.note_invalid_replies()

    def note_invalid_replies(self) -> None:
        for fault in self.server.faults:
            self.tally.add("reply", fault)


def is_right(answer: Message) -> bool:
    answered = answer.get("result", {}).get("structuredContent") or {"summary": {}}
    summary = {name: answered["summary"].get(name) for name in KNOWN_COUNTS}
    return summary == KNOWN_COUNTS and answered["verdict"] == "failed"


def any_line(rng: random.Random) -> bytes:
    return rng.choice(LINES)(rng).replace(b"\n", b" ")


def noise(rng: random.Random) -> bytes:
    return rng.randbytes(rng.choice([0, 1, 10, 200, 5_000]))


def any_message(rng: random.Random) -> Message:
    """Never a call that runs tests: no method here is tools/call, and those below are refused."""
    message: Message = {"jsonrpc": "2.0", "method": rng.choice(METHODS)}
    if rng.random() < 0.8:
        message["id"] = rng.choice(IDS)
    if rng.random() < 0.7:
        message["params"] = rng.choice([{}, INITIALIZE, {"requestId": rng.choice(IDS)}, any_value(rng)])
    if rng.random() < 0.1:
        message[rng.choice(["result", "error", "extra", "jsonrpc"])] = any_value(rng)
    return message


def well_formed(rng: random.Random) -> bytes:
    return encoded(any_message(rng))


def mutated(rng: random.Random) -> bytes:
    line = bytearray(encoded(any_message(rng))[:2000])
    for _ in range(rng.randint(1, 4)):
        position = rng.randrange(len(line))
        match rng.randrange(4):
            case 0:
                line[position] ^= 1 << rng.randrange(8)
            case 1:
                del line[position : position + rng.randrange(1, 20)]
            case 2:
                line[position:position] = rng.choice([b'"', b"{", b"}", b"[", b",", b"\\u0000", b"\xff", b"null"])
            case _:
                line = line[: position + 1]
        line = line or bytearray(b"{")
    return bytes(line)


def wrong_types(rng: random.Random) -> bytes:
    message = any_message(rng)
    return encoded(message | {rng.choice(list(message)): any_value(rng)})


def refused_call(rng: random.Random) -> bytes:
    """A parameter that no tool has makes sure that nothing runs."""
    arguments = {"environment": any_value(rng), rng.choice(["path", "node_ids", "markers", "color"]): any_value(rng)}
    name = rng.choice(["execute_tests", "discover_tests"])
    return encoded(request(rng, {"name": name, "arguments": arguments}))


def unknown_tool(rng: random.Random) -> bytes:
    name: Any = rng.choice(["run_shell", "", "execute_tests ", "x" * 10_000, 1, None, [], "\ud800"])
    return encoded(request(rng, {"name": name, "arguments": any_value(rng)}))


def request(rng: random.Random, params: Message) -> Message:
    return {"jsonrpc": "2.0", "id": rng.choice(IDS), "method": "tools/call", "params": params}


def nested(rng: random.Random) -> bytes:
    depth = rng.choice(DEPTHS)
    inner = rng.choice([b"[" * depth + b"]" * depth, b'{"a":' * depth + b"1" + b"}" * depth, b"[" * depth])
    return rng.choice([inner, b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":' + inner + b"}}"])


def batch(rng: random.Random) -> bytes:
    return encoded([any_message(rng) for _ in range(rng.randrange(5))])


def encoded(message: Any) -> bytes:
    return json.dumps(message).encode("ascii")


LINES = [noise, *[well_formed] * 3, *[mutated] * 3, wrong_types, wrong_types, refused_call, unknown_tool, nested, batch]
