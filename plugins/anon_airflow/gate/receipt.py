"""The receipt: a statement, signed by the gate, that these bytes passed every check. It contains no time."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeVar

from anon_airflow.gate.commitments import Commitment
from anon_airflow.gate.files import MeasuredFile
from anon_airflow.keys.ring import KeyRing
from anon_airflow.keys.signing import SigningKey, canonical_json
from anon_core.errors import InvalidInputError, RefusedError
from anon_core.files.storage import digest

__all__ = ["MeasuredFile", "ModelUsed", "Receipt", "digest_of_text", "issue", "problems"]


_TEXTS = ("anonflow_version", "dataset", "key_id", "mac", "run_id", "site_policy")
_KEYS = {*_TEXTS, "checks", "commitments", "distributions", "models", "verdict"}


_PRIVATE = {
    "publication_file": "publication file",
    "suite": "suite of checks",
    "witness": "witness (which person each row belongs to)",
}


class ModelUsed(NamedTuple):
    """A privacy model that was measured, and the package that it comes from."""

    key: str
    package: str
    version: str


Entry = TypeVar("Entry", Commitment, MeasuredFile, ModelUsed)


@dataclass(frozen=True, slots=True, kw_only=True)
class Receipt:
    """
    The files that the gate measured and found safe; if the gate refuses there is no receipt, so the verdict is always
    ``passed``.

    ``commitments`` cover private files: the publication file with its hierarchies, the suite, and the witness if there
    is one. ``site_policy`` is a commitment too: the policy stays private, and the owner of the audit store can prove
    which policy it was. ``models`` are the privacy models that were measured, sorted by key.
    """

    dataset: str
    run_id: str
    commitments: tuple[Commitment, ...]
    site_policy: str
    distributions: tuple[MeasuredFile, ...]
    models: tuple[ModelUsed, ...]
    checks: int
    anonflow_version: str
    key_id: str
    mac: str

    @property
    def verdict(self) -> str:
        return "passed"

    @property
    def digest(self) -> str:
        """The sha256 of the whole receipt, signature included: what an approver signs."""
        return digest_of_text(self.to_json())

    @property
    def signed(self) -> bytes:
        """The bytes that are signed: everything but the signature itself."""
        return canonical_json({name: value for name, value in self._document().items() if name != "mac"}).encode()

    def to_json(self) -> str:
        """Write the receipt as canonical JSON."""
        return canonical_json(self._document())

    @classmethod
    def from_json(cls, text: str) -> Receipt:
        """
        Read a receipt; :func:`problems` checks its signature.

        :raises InvalidInputError: the text is not a receipt.
        """
        try:
            document = json.loads(text)
        except (ValueError, RecursionError):
            raise _not_a_receipt("it is not JSON") from None
        if not isinstance(document, dict) or set(document) != _KEYS:
            raise _not_a_receipt("its fields are not those of a receipt")
        if document["verdict"] != "passed":
            raise _not_a_receipt("its verdict is not `passed`")
        if not all(isinstance(document[name], str) for name in _TEXTS) or not _is_count(document["checks"]):
            raise _not_a_receipt("a field has the wrong type")
        return cls(
            commitments=_entries(Commitment, document["commitments"], "commitment"),
            distributions=_entries(MeasuredFile, document["distributions"], "distribution", counts=("bytes", "rows")),
            models=_entries(ModelUsed, document["models"], "privacy model"),
            checks=document["checks"],
            **{name: document[name] for name in _TEXTS},
        )

    def _document(self) -> dict[str, Any]:
        document: dict[str, Any] = {name: getattr(self, name) for name in _TEXTS}
        document["checks"] = self.checks
        document["commitments"] = [commitment._asdict() for commitment in self.commitments]
        document["distributions"] = [distribution._asdict() for distribution in self.distributions]
        document["models"] = [model._asdict() for model in self.models]
        document["verdict"] = self.verdict
        return document


def digest_of_text(body: str) -> str:
    """Return the digest of a receipt from its stored text."""
    return digest(body)


def issue(
    key: SigningKey,
    *,
    dataset: str,
    run_id: str,
    commitments: Iterable[Commitment],
    site_policy: str,
    distributions: Iterable[MeasuredFile],
    models: Iterable[ModelUsed],
    checks: int,
    anonflow_version: str,
) -> Receipt:
    """
    Sign that every check passed on these distributions.

    :raises RefusedError: nothing was checked, nothing would be published, or two distributions share a name.
    """
    listed = tuple(sorted(distributions))
    reasons = _empty(checks, listed)
    if len({distribution.name for distribution in listed}) < len(listed):
        reasons.append("two files have the same name")
    if reasons:
        raise RefusedError("receipt", reasons)
    unsigned = Receipt(
        dataset=dataset,
        run_id=run_id,
        commitments=tuple(sorted(commitments)),
        site_policy=site_policy,
        distributions=listed,
        models=tuple(sorted(models)),
        checks=checks,
        anonflow_version=anonflow_version,
        key_id=key.key_id,
        mac="",
    )
    values = {name: getattr(unsigned, name) for name in Receipt.__slots__}
    return Receipt(**values | {"mac": key.sign("receipt", unsigned.signed)})


def problems(
    receipt: Receipt,
    key: SigningKey | KeyRing,
    *,
    dataset: str,
    run_id: str,
    commitments: Iterable[Commitment],
    site_policy: str,
    distributions: Iterable[MeasuredFile],
    models: Iterable[ModelUsed],
    checks: int,
) -> list[str]:
    """
    List every reason why a receipt does not cover the files to publish; an empty list means that it does.

    ``checks`` is the number of checks in the suite of this publication. Only the current key counts: others may know a
    retired key by now.
    """
    ring = KeyRing.of(key)
    found = []
    if distrust := ring.distrust(receipt.key_id):
        found.append(f"the receipt {distrust}")
    elif not ring.current.verify("receipt", receipt.signed, receipt.mac):
        found.append("the signature is wrong: the receipt was changed after it was signed, or was never signed")
    expected = {
        "dataset": (receipt.dataset, dataset),
        "run": (receipt.run_id, run_id),
        "site policy": (receipt.site_policy, site_policy),
    }
    for what, (covered, wanted) in expected.items():
        if covered != wanted:
            found.append(f"the receipt is for another {what}: it covers {covered}, this publishes {wanted}")
    then_private, private = dict(receipt.commitments), dict(commitments)
    found += [
        f"the receipt is for another {_PRIVATE.get(name, name)}; clear the run from `stage`"
        for name in sorted(then_private.keys() | private.keys())
        if then_private.get(name) != private.get(name)
    ]
    if receipt.checks != checks:
        found.append(f"the receipt is for {receipt.checks} checks, the suite of this publication has {checks}")
    now, then = ({one.key: f"{one.package} {one.version}" for one in given} for given in (models, receipt.models))
    found += [
        f"the privacy model {key} was {then.get(key, 'missing')} at the gate and is {now.get(key, 'missing')} now; "
        "clear the run from `stage`"
        for key in sorted(now.keys() | then.keys())
        if now.get(key) != then.get(key)
    ]
    found += _empty(receipt.checks, receipt.distributions)
    return found + _differences(receipt.distributions, tuple(distributions))


def _differences(covered: tuple[MeasuredFile, ...], sent: tuple[MeasuredFile, ...]) -> list[str]:
    """Compare files by name; a name that occurs twice is a problem of its own."""
    found = []
    before = {distribution.name: distribution for distribution in covered}
    now = {distribution.name: distribution for distribution in sent}
    if len(before) < len(covered) or len(now) < len(sent):
        found.append("two files have the same name")
    for name in sorted(before.keys() | now.keys()):
        if name not in now:
            found.append(f"file {name} is in the receipt, but would not be published")
        elif name not in before:
            found.append(f"file {name} would be published, but the gate did not measure it")
        elif before[name] != now[name]:
            parts = [
                f"{field} {old}, now {new}"
                for field, old, new in zip(MeasuredFile._fields, before[name], now[name], strict=True)
                if old != new
            ]
            found.append(f"file {name} changed after the gate measured it: {'; '.join(parts)}")
    return found


def _empty(checks: int, distributions: tuple[MeasuredFile, ...]) -> list[str]:
    reasons = []
    if checks < 1:
        reasons.append("no check was evaluated")
    if not distributions:
        reasons.append("no file was measured")
    return reasons


def _entries(kind: type[Entry], listed: Any, what: str, counts: Collection[str] = ()) -> tuple[Entry, ...]:
    """
    Read one list of a receipt, in which the fields named in ``counts`` are counts and all others texts.

    :raises InvalidInputError: it is no list, or an entry has other fields or types.
    """
    if not isinstance(listed, list):
        raise _not_a_receipt(f"its {what}s are not a list")
    for entry in listed:
        if not isinstance(entry, dict) or set(entry) != set(kind._fields):
            raise _not_a_receipt(f"a {what} has the wrong fields")
        if not all(_is_count(value) if name in counts else isinstance(value, str) for name, value in entry.items()):
            raise _not_a_receipt(f"a field of a {what} has the wrong type")
    return tuple(kind(**entry) for entry in listed)


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _not_a_receipt(why: str) -> InvalidInputError:
    return InvalidInputError(f"this is not a receipt: {why}; run the gate again to get one")
