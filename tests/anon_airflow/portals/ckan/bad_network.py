"""A network in front of a CKAN that is as bad as a test asks for: slow, cut off, answering in CKAN's place."""

from __future__ import annotations

import contextlib
import socket
import socketserver
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from urllib.parse import urlsplit

BLOCK = 1 << 16


@dataclass(kw_only=True)
class Rule:
    """
    What happens to calls of one action, the first ``times`` of them.

    ``answer``: this instead of CKAN's answer, which never gets the call. ``delay``: seconds before CKAN's answer comes.
    ``lose_answer``: CKAN does it, and nobody hears of it. ``at_bytes``: after as many bytes of the call, ``then`` is
    done and the connection is cut. ``before``: done before CKAN gets the call.
    """

    times: int = 1_000_000
    answer: bytes | None = None
    delay: float = 0.0
    lose_answer: bool = False
    at_bytes: int | None = None
    then: Callable[[], None] = lambda: None
    before: Callable[[], None] = lambda: None


@dataclass(kw_only=True)
class BadNetwork:
    """Where to speak to, which rules hold, and which actions were called."""

    url: str
    rules: dict[str, Rule] = field(default_factory=dict)
    calls: Counter[str] = field(default_factory=Counter)

    def rule(self, action: str) -> Rule:
        self.calls[action] += 1
        rule = self.rules.get(action) or Rule()
        if rule.times <= 0:
            return Rule()
        rule.times -= 1
        return rule


def http(status: str, *headers: str, body: bytes = b"") -> bytes:
    """An answer in bytes."""
    lines = [f"HTTP/1.1 {status}", f"Content-Length: {len(body)}", "Connection: close", *headers]
    return "\r\n".join([*lines, "", ""]).encode() + body


@contextlib.contextmanager
def bad_network(url: str) -> Iterator[BadNetwork]:
    """Stand between the client and a CKAN."""
    target = urlsplit(url)
    network = BadNetwork(url="")

    class Handler(socketserver.BaseRequestHandler):
        def handle(self) -> None:
            with contextlib.suppress(OSError):
                _relay(self.request, (target.hostname or "", target.port or 80), network)

    class Server(socketserver.ThreadingTCPServer):
        allow_reuse_address = True
        daemon_threads = True
        block_on_close = False

    with Server(("127.0.0.1", 0), Handler) as server:
        network.url = f"http://127.0.0.1:{server.server_address[1]}"
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield network
        server.shutdown()


def _relay(client: socket.socket, target: tuple[str, int], network: BadNetwork) -> None:
    """Pass one call on: the CKAN of the tests closes the connection after each, so there is one per connection."""
    head = b""
    while b"\r\n\r\n" not in head:
        if not (block := client.recv(BLOCK)):
            return
        head += block
    action = head.split(b" ", 2)[1].decode().partition("?")[0].rpartition("/")[2]
    rule = network.rule(action)
    rule.before()
    left = _length(head) - len(head.partition(b"\r\n\r\n")[2])
    if rule.answer is not None:
        while left > 0 and (block := client.recv(BLOCK)):
            left -= len(block)
        client.sendall(rule.answer)
        return
    with socket.create_connection(target) as server:
        server.sendall(head)
        passed = len(head)
        while left > 0 and (block := client.recv(min(BLOCK, left))):
            server.sendall(block)
            left -= len(block)
            passed += len(block)
            if rule.at_bytes is not None and passed >= rule.at_bytes:
                rule.then()
                return
        first = server.recv(BLOCK)
        time.sleep(rule.delay)
        if rule.lose_answer:
            return
        while first:
            client.sendall(first)
            first = server.recv(BLOCK)


def _length(head: bytes) -> int:
    for line in head.split(b"\r\n"):
        name, _, value = line.partition(b":")
        if name.strip().lower() == b"content-length":
            return int(value)
    return 0
