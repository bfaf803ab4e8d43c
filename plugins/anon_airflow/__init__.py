"""The Airflow side of anonflow: operators, gate, receipts, portals, audit store and the ``anon`` command."""

from __future__ import annotations

from typing import Any

from anon_core import __version__


def get_provider_info() -> dict[str, Any]:
    """Tell Airflow's provider manager who we are."""
    return {
        "package-name": "anonflow",
        "name": "anonflow",
        "description": "Publish recurring open data without singling anyone out.",
        "versions": [__version__],
    }
