"""A PostgreSQL that accepts connections and never answers: from the beginning, or after it has let the user in."""

import socket
import struct
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

_NO_TLS = b"N"
_WELCOME = b"R" + struct.pack("!ii", 8, 0) + b"Z" + struct.pack("!i", 5) + b"I"


@contextmanager
def silent_postgres(*, greets: bool) -> Iterator[str]:
    """Its URL."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        open_connections: list[socket.socket] = []
        if greets:
            threading.Thread(target=_greet, args=(listener, open_connections), daemon=True).start()
        try:
            yield f"postgresql://team@127.0.0.1:{listener.getsockname()[1]}/tests"
        finally:
            for connection in open_connections:
                connection.close()


def _greet(listener: socket.socket, open_connections: list[socket.socket]) -> None:
    with suppress(OSError):
        while True:
            connection, _ = listener.accept()
            open_connections.append(connection)
            while len(asked := connection.recv(1024)) == 8:  # for encryption
                connection.sendall(_NO_TLS)
            if asked:
                connection.sendall(_WELCOME)
