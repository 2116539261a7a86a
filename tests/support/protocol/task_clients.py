"""Clients that have tasks, on stdio and on HTTP: to them every call may be answered with one."""

from collections.abc import Mapping
from typing import Any, Self

from pytest_mcp.server.tasks import EXTENSION
from tests.support.protocol.dialogues import CLIENT, PREFIX, STATELESS
from tests.support.protocol.hostile_server import HostileServer, within
from tests.support.protocol.hostile_web import HostileWeb
from tests.support.protocol.raw_client import Message, RawClient
from tests.support.waiting import PATIENCE

META = {
    f"{PREFIX}protocolVersion": STATELESS,
    f"{PREFIX}clientInfo": CLIENT,
    f"{PREFIX}clientCapabilities": {"extensions": {EXTENSION: {}}},
}


class HasTasks(RawClient):
    """`reply` waits for the task that a call became: what it returns is the answer of the call."""

    def request(self, method: str, params: Mapping[str, Any] | None = None) -> str:
        return super().request(method, {"_meta": META, **(params or {})})

    def reply(self, identity: object, *, limit: float = PATIENCE) -> Message:
        reply = super().reply(identity, limit=limit)
        if reply.get("result", {}).get("resultType") != "task":
            return reply
        state = self.ended(reply["result"]["taskId"])
        return {name: state[name] for name in ("result", "error") if name in state}

    def handle(self, identity: object) -> Message:
        """The first answer to a call that becomes a task."""
        result: Message = super().reply(identity)["result"]
        assert result["resultType"] == "task", result
        return result

    def begun(self, **arguments: Any) -> str:
        """The id of the task that this call becomes."""
        task: str = self.handle(self.begin(**arguments))["taskId"]
        return task

    def about(self, method: str, task: str, **more: Any) -> Message:
        """The result or the error, whichever came."""
        reply = super().reply(self.request(method, {"taskId": task, **more}))
        found: Message = reply.get("result") or reply["error"]
        return found

    def ended(self, task: str) -> Message:
        """Its last state."""
        states: list[Message] = []

        def is_over() -> bool:
            states.append(self.about("tasks/get", task))
            return states[-1].get("status") != "working"

        within(PATIENCE, is_over)
        return states[-1]


class TaskServer(HasTasks, HostileServer):
    def greeted(self) -> Self:
        """In the era of tasks there is no handshake."""
        return self


class TaskWeb(HasTasks, HostileWeb):
    """The same on HTTP."""
