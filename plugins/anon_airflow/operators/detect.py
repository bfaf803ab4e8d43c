"""``detect`` as an operator."""

from __future__ import annotations

from anon_airflow.operators.publication import PublicationOperator


class DetectOperator(PublicationOperator):
    """Find which column sets single people out in the staged data."""

    verb = "detect"
