"""The one file that Airflow's plugin loader executes; everything else is the package ``anon_airflow``."""

from __future__ import annotations

from airflow.plugins_manager import AirflowPlugin


class AnonflowPlugin(AirflowPlugin):
    """Makes the operators and the command line known to Airflow."""

    name = "anonflow"
