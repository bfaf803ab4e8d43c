"""A CKAN that means harm, on a real socket: what it sends has an end, and the token goes nowhere else."""

from __future__ import annotations

import contextlib
import gzip
import json
import socketserver
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from anon_airflow.portals.ckan import client as client_module
from anon_airflow.portals.ckan import requests
from anon_airflow.portals.ckan.client import CkanClient, RetryPolicy
from anon_airflow.portals.ckan.portal import CkanPortal
from anon_airflow.portals.ckan.server import Server, origin
from anon_airflow.portals.ckan.settings import CkanPlace
from anon_core.errors import AnonError, InvalidInputError, PortalError
from tests.anon_airflow.portals.ckan.bad_network import http
from tests.faults.measured import measured

TOKEN = "a-secret-token"
Answer = Callable[[str], Iterator[bytes]]


class Hostile:
    """A server that answers as a test has it, and notes the requests."""

    def __init__(self, answer: Answer) -> None:
        self.requests: list[tuple[str, bool]] = []
        hostile = self

        class Handler(socketserver.StreamRequestHandler):
            def handle(self) -> None:
                head = []
                while (line := self.rfile.readline().strip()) and len(head) < 100:
                    head.append(line.decode())
                path = head[0].split()[1] if head else ""
                # Closing a connection with bytes unread resets it, and the answer may be lost with it.
                lengths = [line.partition(":")[2] for line in head if line.lower().startswith("content-length:")]
                self.rfile.read(int(lengths[0]) if lengths else 0)
                hostile.requests.append((path, any(TOKEN in line for line in head)))
                with contextlib.suppress(OSError):  # The client has cut the connection off.
                    for block in answer(path):
                        self.wfile.write(block)

        class Listening(socketserver.ThreadingTCPServer):
            daemon_threads = True
            block_on_close = False

        self.server = Listening(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()


@pytest.fixture
def serve() -> Iterator[Callable[[Answer], Hostile]]:
    running: list[Hostile] = []

    def start(answer: Answer) -> Hostile:
        running.append(Hostile(answer))
        return running[-1]

    yield start
    for one in running:
        one.server.shutdown()
        one.server.server_close()


def client(url: str, *, timeout: float = 30.0, attempts: int = 1, **more: Any) -> CkanClient:
    return CkanClient(Server(url=url, token=TOKEN, timeout=timeout, **more), RetryPolicy(attempts=attempts, first=0.01))


def always(*blocks: bytes) -> Answer:
    return lambda _: iter(blocks)


def endless(head: bytes, block: bytes, pause: float = 0.0) -> Answer:
    def answer(_: str) -> Iterator[bytes]:
        yield head
        while True:
            time.sleep(pause)
            yield block

    return answer


def redirect(target: str, status: str = "302 Found") -> bytes:
    return http(status, f"Location: {target}")


def test_a_download_is_not_followed_to_another_host(serve) -> None:
    inside = serve(always(http("200 OK", body=b"what is inside the network")))
    for status in ("301 Moved", "302 Found", "303 See Other", "307 Temporary", "308 Permanent"):
        outside = serve(always(redirect(f"{inside.url}/secret", status)))
        with pytest.raises(PortalError, match=r"downloads are redirected to http://127\.0\.0\.1") as caught:
            client(outside.url).measure("/file", token=True, max_bytes=100)
        assert "download_hosts" in str(caught.value)
    assert inside.requests == []


@pytest.mark.parametrize(
    "target", ["ftp://x/y", "file:///etc/passwd", "https://127.0.0.1/x", "//elsewhere/x", "http://[bad", "x" * 100_000]
)
def test_a_download_is_not_followed_to_another_scheme_or_to_nonsense(serve, target: str) -> None:
    server = serve(always(redirect(target)))
    with pytest.raises(PortalError) as caught:
        client(server.url).measure("/file", token=False, max_bytes=100)
    assert len(str(caught.value)) < 1_000
    assert len(server.requests) <= client_module.MAX_REDIRECTS + 1


def test_a_host_that_the_connection_names_is_asked_without_the_token(serve) -> None:
    store = serve(always(http("200 OK", body=b"bytes")))
    portal = serve(always(redirect(f"{store.url}/kept")))
    named = client(portal.url, download_hosts=(str(origin(store.url)),))
    assert named.measure("/file", token=True, max_bytes=100).bytes == 5
    assert portal.requests == [("/file", True)]
    assert store.requests == [("/kept", False)]


def test_a_redirect_on_the_same_host_is_followed_a_few_times_without_the_token(serve) -> None:
    steps = {"/file": redirect("/a"), "/a": redirect("b"), "/b": http("200 OK", body=b"bytes")}
    server = serve(lambda path: iter([steps[path]]))
    assert client(server.url).measure("/file", token=True, max_bytes=100).bytes == 5
    assert server.requests == [("/file", True), ("/a", False), ("/b", False)]


def test_redirects_in_a_circle_end(serve) -> None:
    server = serve(always(redirect("/file")))
    with pytest.raises(PortalError, match="more than 3 times"):
        client(server.url).measure("/file", token=False, max_bytes=100)
    assert len(server.requests) == 4


def test_of_a_download_without_an_end_no_more_is_read_than_was_sent(serve, tmp_path: Path) -> None:
    head = b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n"
    server = serve(endless(head, b"x" * 65536))
    found = client(server.url).measure("/file", token=False, max_bytes=1_000)
    assert 1_000 < found.bytes < 1_000_000
    client(server.url).fetch("/file", tmp_path / "file", token=False, max_bytes=1_000)
    assert (tmp_path / "file").stat().st_size < 1_000_000


@pytest.mark.parametrize("compressed", ["gzip", "deflate", "br", "zstd", "GZIP, gzip"])
def test_a_bomb_is_not_unpacked(serve, compressed: str) -> None:
    body = gzip.compress(b"0" * 50_000_000)
    server = serve(always(http("200 OK", f"Content-Encoding: {compressed}", body=body)))
    for call in (
        lambda: client(server.url).measure("/file", token=False, max_bytes=1_000_000_000),
        lambda: client(server.url).ask(requests.status()),
    ):
        with pytest.raises(PortalError, match="compressed"):
            call()


def test_an_answer_that_is_too_long_is_given_up(serve, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client_module, "MAX_ANSWER_BYTES", 100_000)
    server = serve(endless(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n[", b"[]," * 10_000))
    with pytest.raises(PortalError, match="more than 100000 bytes"):
        client(server.url).ask(requests.status())


@pytest.mark.parametrize(
    "head",
    [
        b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nX-Slow: ",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
        b"",
    ],
)
@pytest.mark.parametrize("download", [True, False])
def test_an_answer_that_is_drawn_out_byte_by_byte_ends(
    serve, head: bytes, download: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each byte comes in time, so that the time without a sign of life never passes."""
    monkeypatch.setattr(CkanClient, "_deadline", lambda *_: client_module.Deadline(1.0))
    server = serve(endless(head, b"1\r\nx\r\n" if b"chunked" in head else b"x", pause=0.05))
    begun = time.monotonic()
    with pytest.raises(PortalError, match="not complete after 1 seconds"):
        if download:
            client(server.url).measure("/file", token=False, max_bytes=1_000)
        else:
            client(server.url).ask(requests.status())
    assert time.monotonic() - begun < 10


def test_the_deadline_leaves_time_for_the_bytes_and_for_the_answer() -> None:
    one = client("http://127.0.0.1:9", timeout=60.0)
    assert one._deadline(0).seconds == client_module.CONNECT_SECONDS + 120
    assert one._deadline(1 << 30).seconds > 3600 * 9  # A gigabyte over a slow line.


def heads(count: int) -> bytes:
    return b"HTTP/1.1 200 OK\r\n" + b"".join(b"X-%d: y\r\n" % number for number in range(count)) + b"\r\n{}"


@pytest.mark.parametrize(
    "answer", [heads(100_000), b"\0" * 100_000, b"HTTP/9.9 x\r\n\r\n", b"HTTP/1.1 99999 x\r\n\r\n"]
)
def test_a_head_that_is_none_is_a_failed_connection(serve, answer: bytes) -> None:
    server = serve(always(answer))
    with pytest.raises(PortalError):
        client(server.url).ask(requests.status())


BODIES = {
    "deep list": b"[" * 200_000,
    "deep list, closed": b"[" * 200_000 + b"]" * 200_000,
    "deep error": b'{"success": false, "error": ' + b'{"a":' * 900 + b"1" + b"}" * 901,
    "deep result": b'{"success": true, "result": ' + b"[" * 400 + b"]" * 400 + b"}",
    "long number": b'{"success": true, "result": ' + b"9" * 100_000 + b"}",
    "result is a text": b'{"success": true, "result": "x"}',
    "result is nothing": b'{"success": true, "result": null}',
    "result is a list of texts": b'{"success": true, "result": ["x"]}',
    "result is an odd mapping": b'{"success": true, "result": {"resources": 1, "id": [], "fields": {}}}',
    "surrogate": b'{"success": true, "result": {"site_url": "\\ud800"}}',
    "not a number": b'{"success": true, "result": NaN}',
    "not UTF-8": b'{"success": true, "result": "\xff"}',
}


@pytest.mark.parametrize("status", [200, 409, 404])
@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES)
def test_no_answer_lets_a_publication_begin_or_raises_another_error_than_ours(serve, body: bytes, status: int) -> None:
    server = serve(always(http(f"{status} Something", body=body)))
    place = CkanPlace(organization="town", dataset="people", licence="CC-BY-4.0")
    portal = CkanPortal(Server(url=server.url, token=TOKEN), place, RetryPolicy(attempts=1))
    with pytest.raises(AnonError):
        portal.check()
    for call in (
        lambda: portal.versions("people"),
        lambda: portal.withdraw("people", None, "reason", "2026-11-17T00:00:00Z"),
        lambda: portal.check_is_where(["https://x/dataset/y"]),
        portal._site,
    ):
        with contextlib.suppress(AnonError):  # Some answers, such as a 404, mean that there is no such dataset.
            call()


@pytest.mark.parametrize(
    "change",
    [
        {"id": "../../x"},
        {"id": None},
        {"resources": None},
        {"resources": [{"id": "../x"}]},
        {"resources": ["x"]},
        {"extras": [{"key": 1, "value": 2}]},
        {"extras": [{}]},
        {"organization": "town"},
        {"organization": {"name": "x" * 1_000_000}},
        {"organization": {"name": "\x1b[31m"}},
        {"version": {"a": 1}},
        {"private": "no"},
    ],
)
def test_a_dataset_of_another_shape_is_no_answer(serve, change: dict[str, Any]) -> None:
    package = {
        "id": "ed5381c2-bbb7-4b94-9142-784a60074e32",
        "name": "people",
        "metadata_modified": "2026-11-17T07:05:15.112581",
        "private": False,
        "organization": {"name": "town", "id": "t"},
        "extras": [],
        "resources": [{"id": "free name_1", "url": "http://x/y"}],
    }

    def shown(content: dict[str, Any]) -> requests.Reply:
        body = json.dumps({"success": True, "result": content}).encode()
        return client(serve(always(http("200 OK", body=body))).url).send(requests.show("people"))

    assert shown(package).ok
    assert shown({**package, **change}).broken


def test_what_it_says_cannot_steer_a_terminal_or_fill_a_log() -> None:
    error = {"name": ["\x1b[2J\x07\r\n\u202e" + "x" * 1_000_000]}
    words = requests.read_reply(409, json.dumps({"error": error}).encode()).words
    assert words.isprintable()
    assert len(words) < 400


@pytest.mark.parametrize(
    "address", ["javascript:alert(1)", "x" * 10_000, "http://a b", "http://\x1b[31m", 7, ["x"], ""]
)
def test_an_address_that_is_none_is_not_taken_for_the_portals_own(serve, address: Any) -> None:
    body = json.dumps({"success": True, "result": {"site_url": address}}).encode()
    server = serve(always(http("200 OK", body=body)))
    portal = CkanPortal(Server(url=server.url, token=TOKEN), CkanPlace(organization="town", dataset="people"))
    assert portal._site() == server.url


def test_an_api_that_redirects_is_named_without_the_rest_of_the_address(serve) -> None:
    elsewhere = serve(always(http("200 OK", body=b'{"success": true, "result": {}}')))
    server = serve(always(redirect(f"http://user:{TOKEN}@{elsewhere.url[7:]}/x?{'y' * 50_000}")))
    with pytest.raises(InvalidInputError, match="redirects its API to http://127") as caught:
        client(server.url).ask(requests.status())
    assert TOKEN not in str(caught.value) and len(str(caught.value)) < 1_000
    assert elsewhere.requests == []


def test_hosts_for_downloads_are_read_from_the_connection() -> None:
    def hosts(extra: Any) -> tuple[str, ...]:
        return Server.of("town", {"host": "https://data.example.org", "password": "t", "extra": extra}).download_hosts

    assert hosts(None) == ()
    assert hosts('{"download_hosts": ["https://Store.example.org", "http://10.0.0.1:9000/"]}') == (
        "https://store.example.org:443",
        "http://10.0.0.1:9000",
    )
    assert hosts({"download_hosts": "https://store.example.org"}) == ("https://store.example.org:443",)
    for wrong in (["store.example.org"], ["https://x/path"], [1], {"a": 1}, ["ftp://x"], 7, ["http://[x"]):
        with pytest.raises(InvalidInputError, match="download_hosts"):
            hosts({"download_hosts": wrong})


@pytest.mark.thorough
def test_the_largest_answer_takes_less_memory_than_a_gigabyte(serve) -> None:
    """Of all that fits into an answer, empty lists take the most memory when they are read."""
    body = b'{"success": true, "result": [' + b"[]," * ((client_module.MAX_ANSWER_BYTES - 100) // 3) + b"[]]}"
    server = serve(always(http("200 OK", body=body)))
    asking = f"hostile.client({server.url!r}).ask(hostile.requests.status())"
    found = measured(f"import tests.anon_airflow.portals.test_ckan_hostile as hostile; {asking}")
    assert "status_show failed" in found.refusal
    assert 100 < found.memory < 1_000
