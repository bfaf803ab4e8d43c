"""What was withdrawn stays withdrawn: no retry, and no later run, publishes it again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from anon_airflow.audit import AuditStore
from anon_core.errors import RefusedError
from anon_core.release import Release, withdrawn_words

Row = Mapping[str, Any]


def refuse_withdrawn(audit: AuditStore, release: Release) -> None:
    """
    Refuse what was published and withdrawn, whatever its period, and the same data whatever is said about it.

    If only words were withdrawn, the same data may come with others.

    :raises RefusedError: it was withdrawn.
    """
    proven = audit.proven("publications", "intents", "outcomes", "withdrawals")
    rows = {name: [row for row in found if row.get("dataset") == release.dataset] for name, found in proven.items()}
    sent = [*rows["publications"], *(row for row in rows["intents"] if row["verb"] == "publish")]  # Killed ones too.
    same = {_known(row, "version") for row in sent if _known(row, "content_digest") == release.content_digest}
    data = {_known(row, "version") for row in sent if _known(row, "data_digest") == release.data_digest}
    refused = same | (data - _words_only(rows["intents"], proven["outcomes"]))
    for row in rows["withdrawals"]:
        if row["version"] in refused:
            raise RefusedError("audit store", [withdrawn_words(row["version"], row["reason"])])


def _known(row: Row, key: str) -> Any:
    return row.get(key) or row["details"].get(key)


def _words_only(intents: Sequence[Row], outcomes: Sequence[Row]) -> set[str]:
    """Return the versions of which nothing but words was ever withdrawn."""
    versions = {row["intent_id"]: row["details"].get("versions") or () for row in outcomes if row["status"] == "done"}
    withdrawals = [(row, versions.get(row["id"], ())) for row in intents if row["verb"] == "withdraw"]
    words = {version for row, found in withdrawals if row["details"].get("words_only") for version in found}
    return words - {version for row, found in withdrawals if not row["details"].get("words_only") for version in found}


def refuse_withdrawn_version(audit: AuditStore, dataset: str, version: str) -> None:
    """:raises RefusedError: this version was withdrawn."""
    for row in audit.proven("withdrawals")["withdrawals"]:
        if (row["dataset"], row["version"]) == (dataset, version):
            raise RefusedError("audit store", [withdrawn_words(version, row["reason"])])
