"""Which HTTP requests are accepted, as an ASGI application in front of the SDK's.

A request is passed on if it is for this server, authorized and complete; otherwise it is answered here with one
sentence. The cheapest checks come first, and the body of an unauthorized request is not read. Limits of the connection
itself are in `http_server`.
"""

import hmac
import logging
from collections.abc import Mapping

import anyio
from starlette.datastructures import Headers
from starlette.responses import JSONResponse, PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from pytest_mcp.config.endpoint import Endpoint
from pytest_mcp.server import incoming
from pytest_mcp.server.logs import FIELDS

PATH = "/mcp"
HEALTH = "/healthz"
METRICS = "/metrics"
METHODS = {PATH: ("POST",), HEALTH: ("GET", "HEAD"), METRICS: ("GET", "HEAD")}
# As long as a line on stdio may be.
MAX_BODY = incoming.MAX_MESSAGE_BYTES
# For all requests together, including those that wait for a slot.
MAX_BODIES = 4 * MAX_BODY
MAX_HEADERS = 16 * 1024
# For a body to arrive, after its headers. Runs have a time limit of their own.
BODY_SECONDS = 30

logger = logging.getLogger(__name__)


class Rejected(Exception):
    """A request that is not passed on: the status and the sentence that it is answered with."""

    def __init__(self, status: int, sentence: str, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(sentence)
        self.status = status
        self.sentence = sentence
        # Do not wait for the rest of the request.
        self.headers = {"Connection": "close", **(headers or {})}


class Guard:
    def __init__(self, app: ASGIApp, endpoint: Endpoint, metrics: ASGIApp | None = None) -> None:
        self.app = app
        self.routes: dict[str, ASGIApp] = {PATH: self._hand_on, HEALTH: PlainTextResponse("ok\n")}
        if metrics is not None:
            self.routes[METRICS] = metrics
        self.endpoint = endpoint
        self.expected = None if endpoint.token is None else f"bearer {endpoint.token.secret}".encode()
        # Bytes of all requests that are being handled.
        self.held = 0
        self.entrance = anyio.Lock()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        try:
            self._check(scope)
            await self.routes[scope["path"]](scope, receive, send)
        except Rejected as refusal:
            logger.info("refused", extra={FIELDS: {"status": refusal.status, "reason": refusal.sentence}})
            await PlainTextResponse(refusal.sentence + "\n", refusal.status, refusal.headers)(scope, receive, send)

    def _check(self, scope: Scope) -> None:
        """Everything that can be decided before a body is read."""
        headers = Headers(scope=scope)
        _check_shape(scope, headers)
        if not all(map(self.endpoint.admits_host, headers.getlist("host") or [""])):
            raise Rejected(421, "This Host is not allowed; add it to --allowed-hosts.")
        if not all(map(self.endpoint.admits_origin, headers.getlist("origin"))):
            raise Rejected(403, "This Origin is not allowed.")
        path = scope["path"]
        if path not in self.routes:
            raise Rejected(404, f"Not found; this server has {' and '.join(self.routes)}.")
        if scope["method"] not in (methods := METHODS[path]):
            # Without sessions there is nothing to GET or DELETE.
            raise Rejected(405, f"{path} takes {' and '.join(methods)}.", {"Allow": ", ".join(methods)})
        if path != HEALTH and self.expected is not None:
            _check_token(headers, self.expected)
        if int(headers.get("content-length", "0")) > MAX_BODY:
            raise _too_large()

    async def _hand_on(self, scope: Scope, receive: Receive, send: Send) -> None:
        body = bytearray()
        try:
            if await self._fill(body, receive):
                # One request enters at a time, so that many at once do not hold up running calls or the health check.
                async with self.entrance:
                    await anyio.sleep(0)
                await self._app_for(body)(scope, receive, send)
        finally:
            self.held -= len(body)

    def _app_for(self, body: bytearray) -> ASGIApp:
        """Check the body as a line on stdio is checked, so that the same request gets the same answer."""
        try:
            message = incoming.admitted(bytes(body))
        except incoming.BadMessage as refusal:
            logger.info("refused", extra={FIELDS: {"status": 400, "reason": str(refusal)}})
            return JSONResponse(refusal.reply, 400)
        return lambda scope, receive, send: self.app(scope, _replaying(message, receive), send)

    async def _fill(self, body: bytearray, receive: Receive) -> bool:
        """Whether the body is complete; if not, the client has left."""
        with anyio.move_on_after(BODY_SECONDS):
            while (message := await receive())["type"] == "http.request":
                part = message.get("body", b"")
                body += part
                self.held += len(part)
                if len(body) > MAX_BODY:
                    raise _too_large()
                if self.held > MAX_BODIES:
                    raise Rejected(503, "Too many large requests at once; retry.", {"Retry-After": "1"})
                if not message.get("more_body", False):
                    return True
            return False
        raise Rejected(408, "The request took too long to arrive.")


def _check_token(headers: Headers, expected: bytes) -> None:
    given = headers.getlist("authorization")
    scheme, _, secret = given[0].partition(" ") if len(given) == 1 else ("", "", "")
    credentials = f"{scheme.lower()} {secret.strip()}".encode("latin-1")
    # In constant time, so that the time does not reveal how much was right.
    if not hmac.compare_digest(credentials, expected):
        raise Rejected(401, "A valid bearer token is needed.", {"WWW-Authenticate": 'Bearer realm="pytest-mcp"'})


def _too_large() -> Rejected:
    return Rejected(413, f"A request has at most {MAX_BODY} bytes.")


def _check_shape(scope: Scope, headers: Headers) -> None:
    # The parser checks the size only of incomplete headers; these may have come in one piece.
    if sum(len(name) + len(value) for name, value in headers.raw) + len(scope["raw_path"]) > MAX_HEADERS:
        raise Rejected(431, f"Headers have at most {MAX_HEADERS} bytes together.")
    # With both, parsers can disagree on where a request ends, and one can be hidden in another (RFC 9112, 6.3).
    if "transfer-encoding" in headers and "content-length" in headers:
        raise Rejected(400, "A request has either a Content-Length or a Transfer-Encoding.")
    # HTTP/1.0 does not know chunks (RFC 9112, 6.1).
    if "transfer-encoding" in headers and scope["http_version"] == "1.0":
        raise Rejected(400, "A request of HTTP/1.0 has no Transfer-Encoding.")


def _replaying(body: bytes, receive: Receive) -> Receive:
    """First the whole body; then whatever comes, such as the message that the client has left."""
    whole: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def again() -> Message:
        return whole.pop() if whole else await receive()

    return again
