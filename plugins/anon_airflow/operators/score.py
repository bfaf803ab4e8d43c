"""``score`` as an operator."""

from __future__ import annotations

from anon_airflow.operators.publication import PublicationOperator


class ScoreOperator(PublicationOperator):
    """Score how sensitive each column of the staged data is."""

    verb = "score"
