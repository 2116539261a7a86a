"""The socket that the server on HTTP listens on: bound before anything is loaded that takes its time.

Standard library only, so that a port which is taken is told at once.
"""

import os
import socket

from pytest_mcp.config.endpoint import Endpoint

# Clients whose connections the system accepts while nobody has looked at them yet.
BACKLOG = 128


class Unavailable(Exception):
    """The address cannot be had; the message says why, in the words of the system."""


def listen(endpoint: Endpoint) -> socket.socket:
    family = socket.AF_INET6 if ":" in endpoint.host else socket.AF_INET
    try:
        return socket.create_server((endpoint.host, endpoint.port), family=family, backlog=BACKLOG)
    except UnicodeError as error:
        raise Unavailable("that is no name of a machine") from error
    except OSError as error:
        # Not its own words, which repeat the address; but a name that is not found has a number of another kind.
        number = error.errno or 0
        raise Unavailable(os.strerror(number) if number > 0 else str(error.strerror)) from error


def authority(listener: socket.socket) -> str:
    """As it stands in a URL, with the port that the system has chosen if none was named."""
    host, port = listener.getsockname()[:2]
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
