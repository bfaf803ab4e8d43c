"""A DAG that runs whenever a dataset was published, and reads what was published from the asset."""

from __future__ import annotations

from typing import Any

from airflow.sdk import DAG, task

from anon_airflow.operators.publish import dataset_asset

# [START follower]
DRIVER_LICENCES = dataset_asset("driver-licences")  # The asset anonflow://driver-licences

with DAG("example_follower", schedule=DRIVER_LICENCES, catchup=False, tags=["anonflow", "example"]) as dag:

    @task
    def announce(triggering_asset_events: Any = None) -> str:
        """Return the news for readers. An unchanged release triggers this DAG too, and its status says so."""
        published = triggering_asset_events[DRIVER_LICENCES][-1].extra
        files = [one["name"] for one in published["manifest"]["distributions"]]
        return f"{published['status']}: {published['version']} at {published['page']}: {', '.join(files)}"

    announce()
# [END follower]
