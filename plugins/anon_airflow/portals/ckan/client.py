"""The HTTP client for CKAN, with timeouts and few retries; files are checked while they are sent."""

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
from anon_airflow.run.progress import Progress, ThrottledProgress, say, throttled
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
    "no server with a valid certificate answers there: check the host of the connection, and whether this machine can "
    "reach it"
)
MAX_ANSWER_BYTES = 16 << 20
"""Maximum bytes of an answer of the API; a dataset with a thousand versions has 6 MB."""
MAX_REDIRECTS = 3
MIN_BYTES_PER_S = 32 << 10
MAX_CALL_S = 24 * 60 * 60.0
"""Limits of a call: the minimum average rate of a file that is sent or received, and the longest time."""
MB = 1e6
MAX_ADDRESS_LENGTH = 200
"""Maximum characters of an address that a server gives, in a message or as its own."""
HOST_NOT_NAMED = (
    "downloads are allowed only from the server itself and from hosts that the connection names: if the server keeps "
    "its files on this host, name it in the connection's extra, as `download_hosts`"
)
COMPARING = "comparing what can be downloaded: {1:,.0f} MB of {0}"


@dataclass(frozen=True, slots=True, kw_only=True)
class RetryPolicy:
    """How often a call is tried, and how long to wait between two attempts: twice as long each time."""

    attempts: int = 4
    first: float = 1.0


class _BrokenError(PortalError):
    """The server has answered with an error of its own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Downloaded:
    """The digest and size of a download."""

    sha256: str
    bytes: int


class CheckedFile:
    """
    A file that is being sent: its last bytes are sent only if all of its bytes are those that were checked.

    The server discards an upload that ends too early, so other bytes never become a file there.
    """

    def __init__(self, file: IO[bytes], sent: Sent, tell: ThrottledProgress) -> None:
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
    """The only class that uses the network."""

    def __init__(self, server: Server, retries: RetryPolicy | None = None, progress: Progress | None = None) -> None:
        import httpx

        self.server = server
        self.retries = retries or RetryPolicy()
        self.progress = progress
        self.tell = throttled(progress)
        self._http = httpx.Client(
            timeout=httpx.Timeout(server.timeout, connect=min(CONNECT_SECONDS, server.timeout)),
            # Without compression: a few bytes could become gigabytes.
            headers={"User-Agent": f"anonflow/{__version__}", "Accept-Encoding": "identity"},
            # Every call has a connection of its own, so that its deadline can close it.
            limits=httpx.Limits(max_keepalive_connections=0),
            follow_redirects=False,
        )
        local = urlsplit(server.url).hostname in ("127.0.0.1", "localhost", "::1")
        if server.url.startswith("http://") and not local:
            log.warning("%s is not https: other people on the network can read the token", server.url)

    def close(self) -> None:
        self._http.close()

    def ask(self, request: Request) -> Reply:
        """
        Send a call that changes nothing; send it again if the server fails or cannot be reached.

        :raises PortalError: it does not answer, or still fails after the last attempt.
        """
        if not request.asks:
            raise ValueError("only a call that changes nothing may be repeated")

        def once() -> Reply:
            reply = self.send(request)
            if reply.broken:
                raise self.failed(request.action, reply.words)
            return reply

        return self.retry(once)

    def send(self, request: Request) -> Reply:
        """
        Send a call once; files are sent while they are read from disk.

        :raises PortalError: there is no answer; then it is not known whether the call had an effect.
        :raises RefusedError: a file is not the one that was checked; the call was stopped before it was complete.
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
        Download a file, and return its digest and size; None if there is no file.

        If the server has lost a file, it answers with an error, which counts as no file after the last attempt. Of a
        file with more than ``max_bytes`` bytes, which is a wrong file, only the beginning is read and measured.

        :raises PortalError: there is no answer after the last attempt.
        """
        return self.fetch(address, None, token=token, max_bytes=max_bytes)

    def fetch(self, address: str, target: Path | None, *, token: bool, max_bytes: int) -> Downloaded | None:
        """Download a file to ``target``, replacing the rest of an earlier attempt; None if there is no file."""

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
        Do some work, again after each failure of the portal, and return its result.

        :raises PortalError: the last attempt failed, too.
        """

        from tenacity import Retrying, retry_if_exception_type, stop_after_attempt, wait_exponential

        def tell(state: RetryCallState) -> None:
            problem, seconds = state.outcome and state.outcome.exception(), state.upcoming_sleep
            if isinstance(problem, PortalError):
                say(self.progress, f"trying again in {seconds:g} s: {problem.reason}")

        again = Retrying(
            retry=retry_if_exception_type(PortalError),
            stop=stop_after_attempt(self.retries.attempts),
            wait=wait_exponential(self.retries.first),
            before_sleep=tell,
            reraise=True,
        )
        return again(work)

    def failed(self, doing: str, reason: str, state: str = "") -> PortalError:
        """Return the error for a failure of this portal."""
        return PortalError(self.server.url, doing, reason, state)

    @contextlib.contextmanager
    def _following_redirects(self, address: str, deadline: Deadline, *, token: bool) -> Iterator[httpx.Response]:
        """
        Request a file, and follow up to three redirects without the token.

        A redirect may lead to the server itself, or to a host that the connection names. Any other address could be
        inside the worker's network, and readers would get another file.
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
        """Send a request. Errors name only the type of the library's exception, not its text."""
        import httpx

        headers = {"Authorization": self.server.token} if token else {}
        headers["Cache-Control"] = "no-cache"
        try:
            with self._http.stream(
                method, address, headers=headers, extensions=deadline.extensions, **options
            ) as response:
                yield response
            if deadline.passed:  # An answer without a length seems complete where it was cut off.
                raise httpx.ReadError("")
        except httpx.ConnectTimeout:
            seconds = min(CONNECT_SECONDS, self.server.timeout)
            raise self.failed(doing, f"no connection within {seconds:g} seconds", NOT_REACHED) from None
        except httpx.TimeoutException:
            raise self.failed(doing, f"no answer for {self.server.timeout:g} seconds") from None
        except httpx.ConnectError:
            raise self.failed(doing, "the connection failed (ConnectError)", NOT_REACHED) from None
        except (httpx.HTTPError, httpx.InvalidURL, httpx.StreamError) as error:
            if deadline.passed:
                raise self.failed(doing, f"it was not complete after {deadline.seconds:,.0f} seconds") from None
            raise self.failed(doing, f"the connection failed ({type(error).__name__})") from None

    def _blocks(self, response: httpx.Response, max_bytes: int | None = None) -> Iterator[bytes]:
        if response.headers.get("Content-Encoding", "identity").strip().lower() not in ("", "identity"):
            raise self.failed("reading the answer", "it is compressed, although the request forbids it")
        read = 0
        for block in response.iter_raw():
            read += len(block)
            if max_bytes is not None and read > max_bytes:
                raise self.failed("reading the answer", f"it has more than {max_bytes} bytes")
            yield block

    def _redirected(self, response: httpx.Response) -> InvalidInputError:
        """Return the error for a redirect of the API: the token must not go there, and files would be lost."""
        elsewhere = _shown_host(_redirect_target(response))
        return InvalidInputError(
            f"{self.server.url} redirects its API to {elsewhere}, and the token is not sent there: set the host of the "
            "connection to the address where CKAN itself answers"
        )


def _redirect_target(response: httpx.Response) -> str:
    """Return the target of a redirect; empty if it is not an address."""
    try:
        return urljoin(str(response.url), str(response.headers.get("Location", "")))
    except ValueError:
        return ""


def _shown_host(address: str) -> str:
    """Return scheme and host of an address that a server gave, for a message."""
    try:
        parts = urlsplit(address)
        shown = f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}"
    except ValueError:
        shown = ""
    if not address or not shown:
        return "a text that is not an address"
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
            if size > max_bytes:  # It is a wrong file already; the rest need not be read.
                break
    return Downloaded(sha256=digest.hexdigest(), bytes=size)
