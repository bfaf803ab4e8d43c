"""The one file that Airflow's plugin loader executes; everything else is the package ``anon_airflow``."""

from __future__ import annotations

from airflow.plugins_manager import AirflowPlugin


class AnonflowPlugin(AirflowPlugin):
    """Shows in Airflow that anonflow is there; its operators are imported from :mod:`anon_airflow.operators`."""

    name = "anonflow"
