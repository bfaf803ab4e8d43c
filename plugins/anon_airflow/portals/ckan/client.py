"""Speaking to a CKAN: with timeouts, with few retries, and with no byte that was not checked."""

from __future__ import annotations

import contextlib
import hashlib
import logging
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, TypeVar
from urllib.parse import urljoin, urlsplit

from anon_airflow.portals.ckan.deadline import Deadline
from anon_airflow.portals.ckan.requests import Reply, Request, Sent, read_reply
from anon_airflow.portals.ckan.server import Server, origin
from anon_airflow.portals.folder.disk import BLOCK, storage_errors
from anon_airflow.run.progress import Progress, Teller, say, seldom
from anon_core import __version__
from anon_core.errors import InvalidInputError, PortalError
from anon_core.publishing.release import changed_file
from anon_core.wording import printable

if TYPE_CHECKING:
    import httpx
    from tenacity import RetryCallState

log = logging.getLogger(__name__)
T = TypeVar("T")

CONNECT_SECONDS = 15.0
NOT_REACHED = (
    "no server answers there, or none with a good certificate: check the host of the connection, and whether it can be "
    "reached from here"
)
MAX_ANSWER_BYTES = 16 << 20
"""Bytes of an answer of the API; a dataset with a thousand versions has 6 MB."""
MAX_REDIRECTS = 3
MIN_BYTES_PER_S = 32 << 10
MAX_CALL_S = 24 * 60 * 60.0
"""The least rate, on average, of a file that is sent or received; the time that the server takes to answer is extra."""
MB = 1e6
MAX_ADDRESS_LENGTH = 200
"""Characters of an address that a server names, in a message or as its own."""
HOST_NOT_NAMED = (
    "downloads come only from the server itself and from hosts that the connection names: if it keeps its files on "
    "this host, name it in the connection's extra, as `download_hosts`"
)
COMPARING = "comparing what can be downloaded: {1:,.0f} MB of {0}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Patience:
    """How often something is tried, and how long is waited in between: twice as long each time."""

    attempts: int = 4
    first: float = 1.0


class _BrokenError(PortalError):
    """The server has answered, with an error of its own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Downloaded:
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
        import httpx

        self.server = server
        self.patience = patience or Patience()
        self.progress = progress
        self.tell = seldom(progress)
        self._http = httpx.Client(
            timeout=httpx.Timeout(server.timeout, connect=min(CONNECT_SECONDS, server.timeout)),
            # Not compressed: a few bytes could become gigabytes.
            headers={"User-Agent": f"anonflow/{__version__}", "Accept-Encoding": "identity"},
            # Every call has a connection of its own, so that its deadline can cut it off.
            limits=httpx.Limits(max_keepalive_connections=0),
            follow_redirects=False,
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

        def once() -> Reply:
            reply = self.send(request)
            if reply.broken:
                raise self.failed(request.action, reply.words)
            return reply

        return self.retry(once)

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
            address = f"{self.server.url}/api/3/action/{request.action}"
            deadline = stack.enter_context(
                self._deadline(MAX_ANSWER_BYTES, *(one.bytes for one in request.uploads.values()))
            )
            response = stack.enter_context(
                self._exchange("POST", address, request.action, deadline=deadline, token=True, **body)
            )
            if response.is_redirect:
                raise self._redirected(response)
            content = b"".join(self._blocks(response, MAX_ANSWER_BYTES))
        return read_reply(response.status_code, content, request.shape)

    def measure(self, address: str, *, token: bool, max_bytes: int) -> Downloaded | None:
        """
        Download what stands at an address, and return what it was; None if there is nothing that could be read.

        A file that the server has lost is answered with an error of its own, so that is nothing too, in the end. Of a
        file with more than ``max_bytes`` bytes, which it should not have, only the beginning is read and measured.

        :raises PortalError: there is no answer after the last attempt.
        """
        return self.fetch(address, None, token=token, max_bytes=max_bytes)

    def fetch(self, address: str, target: Path | None, *, token: bool, max_bytes: int) -> Downloaded | None:
        """Download what stands at an address into a file, over what an attempt left; None if there is nothing."""

        def once() -> Downloaded | None:
            with (
                self._deadline(max_bytes) as deadline,
                self._following_redirects(address, deadline, token=token) as response,
            ):
                if response.status_code == 200:
                    tell = partial(self.tell, COMPARING, address.rpartition("/")[2])
                    return _save(self._blocks(response), target, tell, max_bytes)
                if response.status_code >= 500:
                    raise _BrokenError(self.server.url, "downloading", f"HTTP {response.status_code}")
                return None

        try:
            return self.retry(once)
        except _BrokenError:
            return None

    def retry(self, work: Callable[[], T]) -> T:
        """
        Return what some work returns, tried again as often as patience allows while the portal fails.

        :raises PortalError: the last attempt failed, too.
        """

        from tenacity import Retrying, retry_if_exception_type, stop_after_attempt, wait_exponential

        def tell(state: RetryCallState) -> None:
            problem, seconds = state.outcome and state.outcome.exception(), state.upcoming_sleep
            if isinstance(problem, PortalError):
                say(self.progress, f"trying again in {seconds:g} s: {problem.reason}")

        again = Retrying(
            retry=retry_if_exception_type(PortalError),
            stop=stop_after_attempt(self.patience.attempts),
            wait=wait_exponential(self.patience.first),
            before_sleep=tell,
            reraise=True,
        )
        return again(work)

    def failed(self, doing: str, reason: str, state: str = "") -> PortalError:
        """Return the error to raise when something failed here."""
        return PortalError(self.server.url, doing, reason, state)

    @contextlib.contextmanager
    def _following_redirects(self, address: str, deadline: Deadline, *, token: bool) -> Iterator[httpx.Response]:
        """
        Request a file, and follow up to three redirects without the token.

        A redirect may lead to the server itself, or to a host that the connection names. Any other address may be
        inside the worker's network, and what it holds is not what readers get.
        """
        place = f"{self.server.url}{address}"
        allowed = (origin(self.server.url), *self.server.download_hosts)
        for number in range(MAX_REDIRECTS + 1):
            with self._exchange("GET", place, "downloading", deadline=deadline, token=token and not number) as response:
                if not response.is_redirect:
                    yield response
                    return
                place = _redirect_target(response)
            if origin(place) not in allowed:
                raise self.failed("downloading", f"downloads are redirected to {_shown_host(place)}", HOST_NOT_NAMED)
        raise self.failed("downloading", f"downloads are redirected more than {MAX_REDIRECTS} times")

    def _deadline(self, *sizes: int) -> Deadline:
        """Return the deadline of a call: time to connect, twice the timeout, and time for its bytes; a day at most."""
        seconds = CONNECT_SECONDS + 2 * self.server.timeout + sum(sizes) / MIN_BYTES_PER_S
        return Deadline(min(seconds, MAX_CALL_S))

    @contextlib.contextmanager
    def _exchange(
        self, method: str, address: str, doing: str, *, deadline: Deadline, token: bool, **options: Any
    ) -> Iterator[httpx.Response]:
        """Touch the network. What the library says is left out, but for its kind."""
        import httpx

        headers = {"Authorization": self.server.token} if token else {}
        headers["Cache-Control"] = "no-cache"
        try:
            with self._http.stream(
                method, address, headers=headers, extensions=deadline.extensions, **options
            ) as response:
                yield response
            if deadline.passed:  # An answer without a length ends where it was cut off.
                raise httpx.ReadError("")
        except httpx.ConnectTimeout:
            seconds = min(CONNECT_SECONDS, self.server.timeout)
            raise self.failed(doing, f"no connection within {seconds:g} seconds", NOT_REACHED) from None
        except httpx.TimeoutException:
            raise self.failed(doing, f"no sign of life for {self.server.timeout:g} seconds") from None
        except httpx.ConnectError:
            raise self.failed(doing, "the connection failed (ConnectError)", NOT_REACHED) from None
        except (httpx.HTTPError, httpx.InvalidURL, httpx.StreamError) as error:
            if deadline.passed:
                raise self.failed(doing, f"it was not ended after {deadline.seconds:,.0f} seconds") from None
            raise self.failed(doing, f"the connection failed ({type(error).__name__})") from None

    def _blocks(self, response: httpx.Response, max_bytes: int | None = None) -> Iterator[bytes]:
        if response.headers.get("Content-Encoding", "identity").strip().lower() not in ("", "identity"):
            raise self.failed("reading the answer", "it is compressed, though the request forbids it")
        read = 0
        for block in response.iter_raw():
            read += len(block)
            if max_bytes is not None and read > max_bytes:
                raise self.failed("reading the answer", f"it has more than {max_bytes} bytes")
            yield block

    def _redirected(self, response: httpx.Response) -> InvalidInputError:
        """A token is not carried elsewhere, and a call with files would arrive without them."""
        elsewhere = _shown_host(_redirect_target(response))
        return InvalidInputError(
            f"{self.server.url} redirects its API to {elsewhere}, and the token is not sent on: write the address that "
            "CKAN answers at itself as the host of the connection"
        )


def _redirect_target(response: httpx.Response) -> str:
    """Return where an answer leads to; nothing if that is no address."""
    try:
        return urljoin(str(response.url), str(response.headers.get("Location", "")))
    except ValueError:
        return ""


def _shown_host(address: str) -> str:
    """Return scheme and host of an address that a server named, as a message can show them."""
    try:
        parts = urlsplit(address)
        shown = f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}"
    except ValueError:
        shown = ""
    if not address or not shown:
        return "something that is no address"
    return printable(shown[:MAX_ADDRESS_LENGTH])


def _save(blocks: Iterator[bytes], target: Path | None, tell: Callable[[float], None], max_bytes: int) -> Downloaded:
    digest, size = hashlib.sha256(), 0
    with contextlib.ExitStack() as stack:
        file = stack.enter_context(target.open("wb")) if target else None
        for block in blocks:
            digest.update(block)
            size += len(block)
            tell(size / MB)
            if file:
                file.write(block)
            if size > max_bytes:  # It is another file: the rest of it would not make it the one that was sent.
                break
    return Downloaded(sha256=digest.hexdigest(), bytes=size)
