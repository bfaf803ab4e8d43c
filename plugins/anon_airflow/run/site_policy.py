"""The site policy in force: where its file is, which policy is on record, and what a release says about it.

ANON_POLICY names the file, else Airflow's configuration, else it is ``policy.yaml`` in the home. After a change its
owner calls ``anon policy adopt``, which puts the change on record; until then ``stage`` refuses every run.

``anon check`` and ``anon recode`` use the policy too, also where no package for an audit store is installed: so the
store is imported inside functions.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from anon_airflow.run.home import Home
from anon_core.errors import InvalidInputError, RefusedError
from anon_core.files.regular import FileTooLargeError, NotRegularError, read_whole
from anon_core.files.storage import digest
from anon_core.files.yaml_lines import parse_yaml
from anon_core.limits import PUBLICATION_FILE
from anon_core.site import BUILT_IN, SitePolicy, load_site_policy
from anon_core.spec import PartialPublication

if TYPE_CHECKING:
    from anon_airflow.audit import AuditStore, History
    from anon_airflow.run.context import Run

BY = "site policy"
SETTING = "ANON_POLICY"
AIRFLOW, HOME, BUILT = "Airflow's configuration, [anonflow] policy", "the home", "built in"
FILE = "policy.yaml"
ADOPT = "adopt policy"
"""The verb of the intent that puts a policy on record; it belongs to no run."""
DIGEST, NONCE = "site_policy", "site_policy_nonce"
"""The keys in the intent of a run for the digest of the policy in force, and for the nonce that hides it in public."""

Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyInForce:
    """The policy that applies here, what named its file, and the file; None for the built-in policy."""

    policy: SitePolicy
    found_by: str
    file: Path | None = None

    @property
    def digest(self) -> str:
        return self.policy.digest


def policy_in_force(
    home: Home, configured: Path | None = None, environ: Mapping[str, str] | None = None
) -> PolicyInForce:
    """
    Return the site policy that applies here; ``configured`` is the file that Airflow's configuration names.

    If the named file cannot be used, that is an error: no other policy is used instead.

    :raises SpecError: the file cannot be read, or something in it is wrong.
    """
    environ = os.environ if environ is None else environ
    named = environ.get(SETTING, "").strip()
    if named:
        file, found_by = Path(named).expanduser().absolute(), SETTING
    elif configured is not None:
        file, found_by = configured.expanduser().absolute(), AIRFLOW
    elif os.path.lexists(home.root / FILE):
        file, found_by = home.root / FILE, HOME
    else:
        return PolicyInForce(policy=BUILT_IN, found_by=BUILT)
    policy = load_site_policy(file, f"{file.name}, the site policy named by {found_by}")
    return PolicyInForce(policy=policy, found_by=found_by, file=file)


def refuse_beside(publication: PartialPublication, found: PolicyInForce) -> None:
    """
    Refuse a policy that the people who write publication files could change.

    :raises InvalidInputError: the policy in force lies in the include folder, or a file there looks like one.
    """
    own = f"the folder of {publication.file.name}"
    move = f"move it to a folder that only its owner can write, and name it in {SETTING}"
    real = Path(os.path.realpath(publication.root))
    if found.file is not None and (real in Path(os.path.realpath(found.file)).parents or _named_in(real, found.file)):
        reach = f"the site policy {found.file.name} lies in {own}, where the authors of publication files can change it"
        raise InvalidInputError(f"{reach}: {move}")
    for stray in (publication.root / FILE, publication.file.parent / FILE):
        if os.path.lexists(stray) and not _is_publication(stray):
            raise InvalidInputError(f"{FILE} lies in {own}, where no site policy is read: {move}, or remove it")


def _named_in(folder: Path, file: Path) -> bool:
    """Whether a folder holds a hard link to a file; the folder is searched only if the file has several links."""
    if not file.exists() or file.stat().st_nlink < 2:
        return False
    return any(one.is_file() and one.samefile(file) for one in folder.rglob("*"))


def _is_publication(path: Path) -> bool:
    """Whether a file is a publication file that happens to have the name of a site policy."""
    with contextlib.suppress(OSError, ValueError, NotRegularError, FileTooLargeError):
        content = parse_yaml(read_whole(path, PUBLICATION_FILE).decode("utf-8-sig")).content
        return isinstance(content, dict) and {"dataset", "columns"} <= set(content)
    return False


def last_on_record(audit: AuditStore) -> Row | None:
    """
    Return the details of the last site policy on record; None before the first run.

    :raises RefusedError: a link of the chain is broken.
    """
    adopted = [row for row in audit.proven("intents")["intents"] if row["verb"] == ADOPT]
    return adopted[-1]["details"] if adopted else None


def adopt(audit: AuditStore, found: PolicyInForce, *, actor: str, by: str, reason: str) -> None:
    """Put a policy on record, with its whole content: runs use it from here on."""
    from anon_airflow.audit.handover import NO_RUN

    audit.settle(
        run_id=NO_RUN,
        dataset=NO_RUN,
        verb=ADOPT,
        actor=actor,
        details={
            DIGEST: found.digest,
            "by": by,
            "reason": reason,
            "found_by": found.found_by,
            "policy": found.policy.model_dump(mode="json"),
        },
    )


def not_adopted(audit: AuditStore, found: PolicyInForce, first: str | None = None) -> str | None:
    """
    Return why the policy in force is not the one on record, and what to do; None if it is, or if none is on record.

    With ``first``, the name of who begins a run, the first policy ever is put on record. The whole chain is verified.
    """
    last = last_on_record(audit)
    if last is None and first is not None:
        adopt(audit, found, actor=first, by=first, reason="the first site policy that was seen here")
    if last is None or last.get(DIGEST) == found.digest:
        return None
    return (
        f"the site policy in force ({found.found_by}, digest {found.digest[:12]}) is not the last on record (digest "
        f"{str(last.get(DIGEST))[:12]}, by {last.get('by')}): if the change is intended, {found.policy.owner} puts it "
        "on record with `anon policy adopt`; if not, make this worker use the policy on record"
    )


def policy_of_run(run: Run, audit: AuditStore, history: History) -> PolicyInForce:
    """
    Return the policy in force, for a step after `stage`.

    :raises RefusedError: the run began under another policy, or another one is on record by now.
    """
    found = policy_in_force(run.home, run.policy_file)
    refuse_beside(run.publication, found)
    if problems := [one for one in (_changed_since(history, found), not_adopted(audit, found)) if one]:
        raise RefusedError(BY, problems)
    return found


def _changed_since(history: History, found: PolicyInForce) -> str | None:
    then = _begun_with(history).get(DIGEST)
    if then == found.digest:
        return None
    return (
        f"the site policy has changed since this run began (digest {str(then)[:12]} then, {found.digest[:12]} by "
        f"{found.found_by} now); clear the run from `stage`"
    )


def commitment(history: History) -> str:
    """
    Return the commitment to the site policy that a release publishes: ``sha256(nonce || digest)``.

    There are few policies, and they are easily guessed: without the secret nonce the digest would reveal the policy.
    """
    details = _begun_with(history)
    return digest(bytes.fromhex(str(details.get(NONCE) or "")) + str(details.get(DIGEST) or "").encode())


def _begun_with(history: History) -> Row:
    from anon_airflow.audit.history import begun

    start = begun(history.rows)
    details: Row = start["details"] if start else {}
    return details
