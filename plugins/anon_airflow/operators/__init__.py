"""The verbs as Airflow operators: thin, one per file; the work is in :mod:`anon_airflow.steps`."""
