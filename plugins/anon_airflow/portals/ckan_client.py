"""Speaking to a CKAN: with timeouts, with few retries, and with no byte that was not checked."""

from __future__ import annotations

import contextlib
import hashlib
import logging
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import IO, Any
from urllib.parse import urlsplit

import httpx

from anon_airflow.portals.ckan_requests import Reply, Request, Sent, read_reply
from anon_airflow.portals.ckan_server import Server
from anon_airflow.portals.disk import BLOCK, storage_errors
from anon_airflow.portals.release import changed_file
from anon_airflow.telling import Progress, Teller, say, seldom
from anon_core import __version__
from anon_core.errors import InvalidInputError, PortalError

log = logging.getLogger(__name__)

CONNECT_SECONDS = 15.0
NOT_REACHED = (
    "no server answers there, or none with a good certificate: check the host of the connection, and whether it can be "
    "reached from here"
)
LONGEST_ANSWER = 64 << 20
MB = 1e6
COMPARING = "comparing what can be downloaded: {1:,.0f} MB of {0}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Patience:
    """How often something is tried, and how long is waited in between: twice as long each time."""

    attempts: int = 4
    first: float = 1.0

    def waits(self) -> Iterator[float]:
        """Yield the seconds to wait before each attempt; before the first, none."""
        yield 0.0
        yield from (self.first * 2**number for number in range(self.attempts - 1))


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """What a download had in it."""

    sha256: str
    bytes: int


class CheckedFile:
    """
    A file on its way out: its last bytes are let go only when all of them are the ones that were checked.

    An upload that breaks off before its end is thrown away by the server, so other bytes never become a file there.
    """

    def __init__(self, file: IO[bytes], sent: Sent, tell: Teller) -> None:
        self._file = file
        self._sent = sent
        self._tell = tell
        self.seek(0)

    def fileno(self) -> int:
        return self._file.fileno()

    def seek(self, place: int) -> int:
        self._digest, self._read = hashlib.sha256(), 0
        return self._file.seek(place)

    def read(self, size: int = BLOCK) -> bytes:
        block = self._file.read(size)
        self._digest.update(block)
        self._read += len(block)
        self._tell("sending: {:,.0f} of {:,.0f} MB of {}", self._read / MB, self._sent.bytes / MB, self._sent.name)
        ended = not block or self._read >= self._sent.bytes
        right = (self._read, self._digest.hexdigest()) == (self._sent.bytes, self._sent.sha256)
        if ended and not (right and not self._file.read(1)):
            raise changed_file(self._sent.name)
        return block


class CkanClient:
    """The only one that touches the network."""

    def __init__(self, server: Server, patience: Patience | None = None, progress: Progress | None = None) -> None:
        self.server = server
        self.patience = patience or Patience()
        self.progress = progress
        self.tell = seldom(progress)
        self._http = httpx.Client(
            timeout=httpx.Timeout(server.timeout, connect=min(CONNECT_SECONDS, server.timeout)),
            headers={"User-Agent": f"anonflow/{__version__}"},
        )
        local = urlsplit(server.url).hostname in ("127.0.0.1", "localhost", "::1")
        if server.url.startswith("http://") and not local:
            log.warning("%s is not https: whoever listens on the way can read the token", server.url)

    def close(self) -> None:
        self._http.close()

    def ask(self, request: Request) -> Reply:
        """
        Send a call that changes nothing, again if the server is at fault or cannot be reached.

        :raises PortalError: it does not answer, or is still at fault after the last attempt.
        """
        if not request.asks:
            raise ValueError("only a question may be asked twice")
        problem: PortalError | None = None
        for wait in self.patience.waits():
            self.pause(wait, problem)
            try:
                reply = self.send(request)
                if not reply.broken:
                    return reply
                problem = self.failed(request.action, reply.words)
            except PortalError as error:
                problem = error
        assert problem
        raise problem

    def send(self, request: Request) -> Reply:
        """
        Send a call once, its files from disk as they are read.

        :raises PortalError: there is no answer; whether the call had an effect is not known then.
        :raises RefusedError: a file is not the one that was checked; the call broke off before it was complete.
        """
        with contextlib.ExitStack() as stack:
            body: dict[str, Any] = {"json": request.payload}
            if request.uploads:
                opened = {}
                for field, sent in request.files.items():
                    with storage_errors("reading the file to publish", sent.path):
                        file = CheckedFile(stack.enter_context(sent.path.open("rb")), sent, self.tell)
                    opened[field] = (sent.name, file, sent.media_type)
                body = {"data": request.form, "files": opened}
            address = f"/api/3/action/{request.action}"
            response = stack.enter_context(self._exchange("POST", address, request.action, token=True, **body))
            if response.is_redirect:
                raise self._redirected(response)
            content = b"".join(self._blocks(response, LONGEST_ANSWER))
        return read_reply(response.status_code, content)

    def measure(self, address: str, *, token: bool) -> Measured | None:
        """
        Download what stands at an address, and return what it was; None if there is nothing that could be read.

        A file that the server has lost is answered with an error of its own, so that is nothing too, in the end.

        :raises PortalError: there is no answer after the last attempt.
        """
        return self._download(address, None, token=token)

    def fetch(self, address: str, target: Path, *, token: bool) -> Measured | None:
        """Download what stands at an address into a file, over what an attempt left; None if there is nothing."""
        return self._download(address, target, token=token)

    def pause(self, seconds: float, problem: PortalError | None) -> None:
        """Wait before another attempt, and tell why."""
        if problem:
            say(self.progress, f"trying again in {seconds:g} s: {problem.reason}")
        time.sleep(seconds)

    def failed(self, doing: str, reason: str, state: str = "") -> PortalError:
        """Return the error to raise when something failed here."""
        return PortalError(self.server.url, doing, reason, state)

    def _download(self, address: str, target: Path | None, *, token: bool) -> Measured | None:
        problem, answered = None, False
        for wait in self.patience.waits():
            self.pause(wait, problem)
            try:
                with self._exchange("GET", address, "downloading", token=token, follow_redirects=True) as response:
                    if response.status_code == 200:
                        tell = partial(self.tell, COMPARING, address.rpartition("/")[2])
                        return _save(self._blocks(response), target, tell)
                    if response.status_code < 500:
                        return None
                    problem, answered = self.failed("downloading", f"HTTP {response.status_code}"), True
            except PortalError as error:
                problem, answered = error, False
        if problem and not answered:
            raise problem
        return None

    @contextlib.contextmanager
    def _exchange(
        self, method: str, address: str, doing: str, *, token: bool, **options: Any
    ) -> Iterator[httpx.Response]:
        """Touch the network. What the library says is left out, but for its kind."""
        headers = {"Authorization": self.server.token} if token else {}
        try:
            with self._http.stream(
                method, f"{self.server.url}{address}", headers={**headers, "Cache-Control": "no-cache"}, **options
            ) as response:
                yield response
        except httpx.ConnectTimeout:
            seconds = min(CONNECT_SECONDS, self.server.timeout)
            raise self.failed(doing, f"no connection within {seconds:g} seconds", NOT_REACHED) from None
        except httpx.TimeoutException:
            raise self.failed(doing, f"no sign of life for {self.server.timeout:g} seconds") from None
        except httpx.ConnectError:
            raise self.failed(doing, "the connection failed (ConnectError)", NOT_REACHED) from None
        except (httpx.HTTPError, httpx.InvalidURL, httpx.StreamError) as error:
            raise self.failed(doing, f"the connection failed ({type(error).__name__})") from None

    def _blocks(self, response: httpx.Response, most: int | None = None) -> Iterator[bytes]:
        read = 0
        for block in response.iter_bytes():
            read += len(block)
            if most is not None and read > most:
                raise self.failed("reading the answer", f"it has more than {most} bytes")
            yield block

    def _redirected(self, response: httpx.Response) -> InvalidInputError:
        """A token is not carried elsewhere, and a call with files would arrive without them."""
        target = urlsplit(str(response.next_request.url)) if response.next_request else None
        where = f" to {target.scheme}://{target.netloc}" if target else ""
        return InvalidInputError(
            f"{self.server.url} redirects its API{where}, and the token is not sent on: write the address that CKAN "
            "answers at itself as the host of the connection"
        )


def _save(blocks: Iterator[bytes], target: Path | None, tell: Callable[[float], None]) -> Measured:
    digest, size = hashlib.sha256(), 0
    with contextlib.ExitStack() as stack:
        file = stack.enter_context(target.open("wb")) if target else None
        for block in blocks:
            digest.update(block)
            size += len(block)
            tell(size / MB)
            if file:
                file.write(block)
    return Measured(sha256=digest.hexdigest(), bytes=size)
