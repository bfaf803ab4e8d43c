"""``recode`` as an operator."""

from __future__ import annotations

from anon_airflow.operators.publication import PublicationOperator


class RecodeOperator(PublicationOperator):
    """Recode the quasi-identifiers until the policy holds, and write the files to publish."""

    verb = "recode"
