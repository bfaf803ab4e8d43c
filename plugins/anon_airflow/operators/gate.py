"""``gate`` as an operator."""

from __future__ import annotations

from anon_airflow.operators.publication import PublicationOperator


class GateOperator(PublicationOperator):
    """Measure the files to publish and sign a receipt for them, or refuse; the staging area is gone afterwards."""

    verb = "gate"
