"""A CKAN under test, what can be asked of it from outside, and releases for it."""

from __future__ import annotations

import hashlib
import itertools
import uuid
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

from anon_airflow.portals.ckan.client import RetryPolicy
from anon_airflow.portals.ckan.portal import CkanPortal
from anon_airflow.portals.ckan.server import Server
from anon_airflow.portals.ckan.settings import CkanPlace
from anon_airflow.run.progress import Progress
from anon_core.publishing.release import Distribution, Release
from tests.anon_airflow.portals.ckan.boot import CkanServer

QUICK = RetryPolicy(attempts=3, first=0.05)
_RUN = uuid.uuid4().hex[:6]
_NUMBERS = itertools.count()


@dataclass(frozen=True, kw_only=True)
class Site:
    """A CKAN: one that was booted for the tests, or any other, of which ``booted`` is None then."""

    url: str
    token: str
    organization: str
    booted: CkanServer | None = None

    def call(self, action: str, token: str | None = "", **payload: Any) -> Any:
        """Call an action as the administrator, as somebody else, or as nobody (None), and return its result."""
        reply = self.try_call(action, self.token if token == "" else token, **payload)
        assert reply.status_code == 200, (action, reply.text[:500])
        return reply.json()["result"]

    def try_call(self, action: str, token: str | None = None, **payload: Any) -> httpx.Response:
        headers = {"Authorization": token} if token else {}
        return httpx.post(f"{self.url}/api/3/action/{action}", json=payload, headers=headers, timeout=60)

    def show(self, dataset: str) -> dict[str, Any]:
        return dict(self.call("package_show", id=dataset))

    def downloads(self, dataset: str, *, version: str | None = None) -> dict[str, bytes]:
        """What anybody can download of a dataset: the current files by name, or those of a version."""
        return {
            one["anonflow_file"]: httpx.get(one["url"]).content
            for one in self.show(dataset)["resources"]
            if one.get("anonflow_role") == ("version" if version else "current")
            and version in (None, one["anonflow_version"])
        }

    def user(self, *, role: str | None = None) -> str:
        """A new user, with a role in the organisation or none; the user's token."""
        name = fresh("user")
        self.call("user_create", name=name, email=f"{name}@example.org", password="secretsecret12")
        if role:
            self.call("organization_member_create", id=self.organization, username=name, role=role)
        return str(self.call("api_token_create", user=name, name="test")["token"])


def fresh(word: str = "people") -> str:
    """A name that nobody has used."""
    return f"{word}-{_RUN}-{next(_NUMBERS)}"


@dataclass(frozen=True, kw_only=True)
class Place:
    """One dataset of a site, before it has been published."""

    site: Site
    folder: Path
    dataset: str = field(default_factory=fresh)

    def portal(
        self,
        *,
        url: str | None = None,
        timeout: float = 30.0,
        patience: RetryPolicy = QUICK,
        progress: Progress | None = None,
        **changes: Any,
    ) -> CkanPortal:
        server = Server(
            url=url or self.site.url,
            token=changes.pop("token", self.site.token),
            timeout=timeout,
            download_hosts=changes.pop("download_hosts", ()),
        )
        settings = {"organization": self.site.organization, "dataset": self.dataset, **changes}
        return CkanPortal(server, CkanPlace(**settings), patience, progress)

    def release(
        self, text: str = "sex,rows\nF,5\n", *, version: str = "v1", period: str | None = None, **changes: Any
    ) -> Release:
        """A release whose table holds the given text."""
        contents = {f"{self.dataset}.csv": text.encode(), f"{self.dataset}.parquet": f"{text}PAR1".encode()}
        media = {"csv": "text/csv", "parquet": "application/vnd.apache.parquet"}
        folder = self.folder / hashlib.sha256(text.encode()).hexdigest()
        folder.mkdir(parents=True, exist_ok=True)
        files = []
        for name, content in contents.items():
            path = folder / name
            path.write_bytes(content)
            files.append(distribution(path, media[path.suffix[1:]], rows=text.count("\n") - 1))
        fields: dict[str, Any] = {
            "dataset": self.dataset,
            "title": "People",
            "version": version,
            "period": period,
            "distributions": tuple(files),
            "report": {"kind": "public", "privacy": {"k": {"exact": 5}}},
            "metadata": {"publisher": "Town", "language": "en"},
            "manifest": {"receipt": f"receipt of {version}"},
            "content_digest": hashlib.sha256(text.encode()).hexdigest(),
        }
        return Release(**(fields | changes))

    def ids(self) -> dict[str, str]:
        """The stable addresses of the current files."""
        shown = self.site.show(self.dataset)["resources"]
        return {one["anonflow_file"]: one["url"] for one in shown if one["anonflow_role"] == "current"}


def distribution(path: Path, media_type: str, rows: int) -> Distribution:
    """A file as the gate has measured it."""
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    return Distribution(
        name=path.name, path=path, media_type=media_type, sha256=digest, bytes=path.stat().st_size, rows=rows
    )
