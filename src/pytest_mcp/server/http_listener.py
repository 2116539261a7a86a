"""The socket that the HTTP server listens on, bound before the slow imports.

Standard library only, so that a port in use is reported at once.
"""

import os
import socket

from pytest_mcp.config.endpoint import Endpoint

# Connections that the system accepts before the server does.
BACKLOG = 128


class AddressUnavailable(Exception):
    """The address cannot be bound; the message is the system's reason."""


def listen(endpoint: Endpoint) -> socket.socket:
    family = socket.AF_INET6 if ":" in endpoint.host else socket.AF_INET
    try:
        return socket.create_server((endpoint.host, endpoint.port), family=family, backlog=BACKLOG)
    except UnicodeError as error:
        raise AddressUnavailable("not a valid host name") from error
    except OSError as error:
        # Not str(error), which repeats the address. For an unknown name, errno is not one that strerror knows.
        number = error.errno or 0
        raise AddressUnavailable(os.strerror(number) if number > 0 else str(error.strerror)) from error


def authority(listener: socket.socket) -> str:
    """Host and port as in a URL, with the real port where port 0 was asked for."""
    host, port = listener.getsockname()[:2]
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
