"""The record of every run: append-only, and signed link by link, so that changes can be detected."""

from anon_airflow.audit.chain import Anchor, Head
from anon_airflow.audit.handover import KeyUse
from anon_airflow.audit.history import History
from anon_airflow.audit.runs import OpenIntent, RecordedRun
from anon_airflow.audit.store import STATUSES, AuditStore, Verification

__all__ = ["STATUSES", "Anchor", "AuditStore", "Head", "History", "KeyUse", "OpenIntent", "RecordedRun", "Verification"]
