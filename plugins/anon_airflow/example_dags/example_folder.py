"""Airflow DAGs of all publication files in a folder, by one call."""

from __future__ import annotations

from pathlib import Path

from anon_airflow.dags import publication_dags

# [START folder]
# Every YAML file in the folder `publications` beside this file becomes a DAG. A new file needs no new code.
globals().update(publication_dags(Path(__file__).resolve().with_name("publications")))
# [END folder]
