"""The requirements of a publication: the privacy models that it asks for, and the expectations that measure them.

This module does not import Great Expectations, so a DAG file can render a suite when it is parsed.
"""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING

from anon_core.models import PolicyContext, Requirement
from anon_core.models import required as required_of

if TYPE_CHECKING:
    from anon_core.spec import Publication

EXPECTATIONS = {
    "alpha": "expect_alpha_anonymity",
    "k_beside_original": "expect_k_anonymity_beside_original",
    "max_risk": "expect_risk_below",
    "max_sensitivity": "expect_sensitivity_below",
}
"""Expectations whose name is not made from the key of their model."""


def expectation_type(key: str) -> str:
    """
    Return the registered type of the expectation of a model.

    >>> expectation_type("k_anonymity"), expectation_type("alpha")
    ('expect_k_anonymity', 'expect_alpha_anonymity')
    """
    return EXPECTATIONS.get(key, f"expect_{key}")


def required(
    publication: Publication,
    *,
    rows_before: int,
    today: date,
    original: str | None,
    unit: str | None = None,
    paired: bool = False,
) -> tuple[Requirement, ...]:
    """
    Return what a publication requires.

    A dataset without quasi-identifiers has no k, so published uniqueness is checked over all of its columns.
    Acceptances that ended before ``today`` are left out. ``original`` is the sha256 of the table as collected, ``unit``
    the column that tells people apart, if they have several rows; ``paired``: it is known which original each released
    row was made from.

    :raises HierarchyError: a hierarchy file that a check needs cannot be read.
    """
    context = PolicyContext(
        policy=publication.privacy,
        quasi_identifiers=publication.quasi_identifiers,
        k=publication.privacy.k,
        today=today,
        publication=publication,
        rows_before=rows_before,
        original=f"sha256:{original}",
        paired=paired,
        several_rows=unit is not None,
    )
    return required_of(context)
