"""Hooks: how Airflow's connections lead to servers."""
