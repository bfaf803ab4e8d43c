"""Airflow hooks: they open the server that an Airflow connection names."""
