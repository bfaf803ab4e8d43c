"""One run of one publication: its publication file, its period, and the paths of its files."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

from anon_airflow.audit import AuditStore, History
from anon_airflow.keys.ring import KeyRing
from anon_airflow.keys.signing import SigningKey
from anon_airflow.run.connections import from_environment
from anon_airflow.run.home import DEFAULT_LEASE, Home, private_folder, write_private
from anon_core.errors import HierarchyError, InvalidInputError, RefusedError
from anon_core.files.storage import digest
from anon_core.publishing.portal import Connect
from anon_core.spec import Publication, load_spec


def folder_name(text: str, shown: str | None = None) -> str:
    """Return a folder name for any text. A digest at its end keeps the names of two texts apart."""
    ending = digest(text)[:8]
    return f"{re.sub(r'[^A-Za-z0-9]+', '-', shown or text).strip('-')[:60]}-{ending}"


def staging_of(home: Home, spec: Path, run_id: str) -> Path:
    """Return the staging folder of a run. The path does not depend on the content of the file, which may be broken."""
    return home.staging / folder_name(str(spec.absolute()), spec.stem) / folder_name(run_id)


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """
    What every step needs to know.

    ``period`` is the first day of the data interval, or None for a run that has none. ``actor`` is who started it.
    Steps hand each other files in private folders, never XCom: a user of Airflow who can write XCom must not be able
    to choose what the gate measures. ``connect`` finds the fields of a connection: in Airflow as Airflow does,
    elsewhere in the environment. ``lease`` is how long the run may rest between two steps; zero for a run that holds
    its lock to its end. ``policy_file`` is the site policy that Airflow's configuration names; None if it names none,
    or outside Airflow.
    ``state_of`` returns the state that Airflow shows of another run of the same DAG; None outside Airflow.
    """

    publication: Publication
    run_id: str
    home: Home
    period: str | None = None
    actor: str = "unknown"
    connect: Connect = from_environment
    lease: timedelta = DEFAULT_LEASE
    policy_file: Path | None = None
    state_of: Callable[[str], str | None] | None = None

    @classmethod
    def of(
        cls,
        spec: str | Path,
        run_id: str,
        *,
        period: str | None = None,
        actor: str = "unknown",
        connect: Connect = from_environment,
        retry_delay: timedelta = timedelta(0),
        policy_file: Path | None = None,
        state_of: Callable[[str], str | None] | None = None,
    ) -> Run:
        """
        Load the publication file again: each step uses the file as it is now, and compares its digest.

        ``retry_delay`` is how long Airflow may wait before it retries a step that failed.

        :raises InvalidInputError: the file cannot be used, or needs a package that is not installed.
        """
        publication, home = load_spec(Path(spec)), Home.find()
        publication.refuse_unread()
        return cls(
            publication=publication,
            run_id=run_id,
            home=home,
            period=period,
            actor=actor,
            connect=connect,
            lease=home.lease + retry_delay,
            policy_file=policy_file,
            state_of=state_of,
        )

    @property
    def dataset(self) -> str:
        return self.publication.dataset

    @property
    def spec_digest(self) -> str | None:
        """The digest of the publication file, or None while a hierarchy of it cannot be read."""
        try:
            return self.publication.digest()
        except HierarchyError:
            return None

    @property
    def staging(self) -> Path:
        return staging_of(self.home, self.publication.file, self.run_id)

    @property
    def lock(self) -> Path:
        """The lock file of this run; its folder is made if it is missing."""
        lock = self.home.lock_of(self.staging)
        private_folder(lock.parent)
        return lock

    @property
    def gated(self) -> Path:
        return self.home.gated / self.dataset / folder_name(self.run_id)

    @property
    def notes(self) -> Path:
        return self.home.notes / self.dataset / folder_name(self.run_id)

    def note(self, step: str, content: dict[str, Any]) -> str:
        """Write counts and names for later steps and for the internal report; return the digest of the note."""
        private_folder(self.notes)
        written = json.dumps(content, indent=1, sort_keys=True).encode()
        write_private(self.notes / f"{step}.json", written)
        return digest(written)

    def noted(self, step: str) -> dict[str, Any]:
        """
        Read the note of an earlier step.

        :raises InvalidInputError: that step has not run.
        """
        found = self.noted_or_none(step)
        if found is None:
            raise InvalidInputError(
                f"step `{step}` of run {self.run_id} has not finished, and this step needs its note; run it first "
                "(in Airflow: clear the run from the task `stage`)"
            )
        return found

    def noted_as(self, step: str, sha256: str) -> dict[str, Any]:
        """
        Read the note of an earlier step, if it is unchanged since that step put its digest on record.

        :raises RefusedError: it is missing, or was changed since.
        """
        try:
            content = (self.notes / f"{step}.json").read_bytes()
        except FileNotFoundError:
            content = b""
        if digest(content) != sha256:
            changed = f"the note of `{step}` has changed since it went on record: clear the run from `stage`"
            raise RefusedError("audit store", [changed])
        return dict(json.loads(content))

    def noted_or_none(self, step: str) -> dict[str, Any] | None:
        try:
            content = json.loads((self.notes / f"{step}.json").read_bytes())
        except (FileNotFoundError, ValueError):
            return None
        return content if isinstance(content, dict) else None

    def signing_key(self) -> SigningKey:
        """The key that signs."""
        return self.key_ring().current

    def key_ring(self) -> KeyRing:
        """The key that signs, and those that did before it."""
        return KeyRing.load(private_folder(self.home.root))

    def audit(self) -> AuditStore:
        """Open the audit store."""
        return AuditStore.open(self.home.audit_url, private_folder(self.home.root), self.key_ring())

    def history(self, audit: AuditStore) -> History:
        """
        Return the rows about this run that the audit chain proves.

        :raises RefusedError: a link of the chain, made since the run began, is broken.
        """
        return audit.history(self.run_id, self.dataset)
