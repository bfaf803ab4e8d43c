"""The steps as Airflow operators, one per file. They only call :mod:`anon_airflow.steps`."""
