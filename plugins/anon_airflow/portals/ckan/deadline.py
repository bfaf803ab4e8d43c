"""A deadline for a whole call: a server that sends each byte in time may never end its answer."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Mapping
from typing import Any, Self


class Deadline:
    """
    Closes the connections of a call after so many seconds; ``passed`` is whether it did.

    The HTTP library restarts its timeout for each byte, so a server that sends one byte a minute is never late. The
    ``trace`` extension of the library gives access to the connection as soon as it exists, because a server can also
    send the head of an answer slowly.
    """

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self.passed = False
        self._sockets: list[socket.socket] = []
        self._lock = threading.Lock()
        self._timer = threading.Timer(seconds, self._cut)
        self._timer.daemon = True

    def __enter__(self) -> Self:
        self._timer.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._timer.cancel()

    @property
    def extensions(self) -> dict[str, Any]:
        """The extensions of a request, by which the deadline gets its connection."""
        return {"trace": self._trace}

    def _trace(self, event: str, info: Mapping[str, Any]) -> None:
        if event in ("connection.connect_tcp.complete", "connection.start_tls.complete"):
            found = info["return_value"].get_extra_info("socket")
            with self._lock:
                self._sockets.append(found)
            if self.passed:
                self._cut()

    def _cut(self) -> None:
        self.passed = True
        with self._lock:
            for one in self._sockets:
                with contextlib.suppress(OSError):  # It is closed already, or a TLS socket has replaced it.
                    one.shutdown(socket.SHUT_RDWR)
