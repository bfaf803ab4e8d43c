"""The Airflow side of anonflow: operators, gate, receipts, portals, audit store and the ``anon`` command."""

from __future__ import annotations

from typing import Any

from anon_core import __version__


def get_provider_info() -> dict[str, Any]:
    """Return what Airflow's provider manager shows about this package."""
    return {
        "package-name": "anonflow",
        "name": "anonflow",
        "description": "Publish recurring open data; each release is measured before it is published.",
        "versions": [__version__],
        "connection-types": [
            {
                "connection-type": "ckan",
                "hook-name": "CKAN",
                "hook-class-name": "anon_airflow.hooks.ckan.CkanHook",
                "ui-field-behaviour": {
                    "hidden-fields": ["schema", "login", "port", "extra"],
                    "relabeling": {"host": "Address", "password": "API token"},
                    "placeholders": {
                        "host": "https://data.example.org",
                        "password": "from /user/NAME/api-tokens, without Bearer",
                    },
                },
                "conn-fields": {
                    "timeout": {
                        "label": "Timeout",
                        "description": "Seconds to wait for an answer. CKAN answers an upload when the file is stored.",
                        "schema": {"type": ["integer", "null"], "default": 120, "minimum": 1, "maximum": 3600},
                    }
                },
            }
        ],
    }
