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
    proven = audit.proven("publications", "intents", "withdrawals")
    sent = [(row, row["version"], row["content_digest"]) for row in proven["publications"]]
    sent += [  # Also what a killed run was about to publish.
        (row, row["details"].get("version"), row["details"].get("content_digest"))
        for row in proven["intents"]
        if row["verb"] == "publish"
    ]
    held = {version for row, version, digest in sent if (row["dataset"], digest) == (dataset, content_digest)}
    for row in proven["withdrawals"]:
        if row["dataset"] == dataset and row["version"] in held:
            raise _withdrawn(row["version"], row["reason"])


def refuse_withdrawn_version(audit: AuditStore, dataset: str, version: str) -> None:
    """:raises RefusedError: this version was withdrawn."""
    for row in audit.proven("withdrawals")["withdrawals"]:
        if (row["dataset"], row["version"]) == (dataset, version):
            raise _withdrawn(version, row["reason"])


def _withdrawn(version: str, reason: str) -> RefusedError:
    again = "publish other data, or change the publication file"
    return RefusedError("audit store", [f"this very content was withdrawn, as version {version}: {reason}; {again}"])
