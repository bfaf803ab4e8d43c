"""What was withdrawn stays withdrawn: no retry, and no later run, publishes it again."""

from __future__ import annotations

from anon_airflow.audit import AuditStore
from anon_core.errors import RefusedError

__all__ = ["refuse_withdrawn", "refuse_withdrawn_version"]


def refuse_withdrawn(audit: AuditStore, dataset: str, content_digest: str) -> None:
    """
    Refuse content that was published and withdrawn, whatever its period.

    Whoever wants it out again changes what is published: the data, or what the publication file says about it.

    :raises RefusedError: this very content was withdrawn.
    """
    held = {row["version"] for row in audit.rows("publications", dataset) if row["content_digest"] == content_digest}
    for row in audit.rows("intents", dataset):  # Also what a killed run was about to publish.
        if row["verb"] == "publish" and row["details"].get("content_digest") == content_digest:
            held.add(row["details"].get("version"))
    for row in audit.rows("withdrawals", dataset):
        if row["version"] in held:
            raise _withdrawn(row["version"], row["reason"])


def refuse_withdrawn_version(audit: AuditStore, dataset: str, version: str) -> None:
    """:raises RefusedError: a version was withdrawn."""
    for row in audit.rows("withdrawals", dataset):
        if row["version"] == version:
            raise _withdrawn(version, row["reason"])


def _withdrawn(version: str, reason: str) -> RefusedError:
    again = "publish other data, or change the publication file"
    return RefusedError("audit store", [f"this very content was withdrawn, as version {version}: {reason}; {again}"])
