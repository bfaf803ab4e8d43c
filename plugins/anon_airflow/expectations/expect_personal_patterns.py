"""No published text looks like personal data, unless a person has accepted it by name."""

from __future__ import annotations

from typing import ClassVar

from anon_airflow.expectations.arguments import Accepted, ColumnNames, StrictFlag
from anon_airflow.expectations.model_expectation import ModelExpectation
from anon_core.models.model import PrivacyModel
from anon_core.models.personal_patterns import PersonalPatterns


class ExpectPersonalPatterns(ModelExpectation):
    """
    Expect no text in ``columns`` to hold what looks like personal data, also within longer texts.

    A single e-mail address, IBAN, tax or identity code with correct check digits fails; telephone numbers, number
    plates and IP addresses fail from 1 % of a column's distinct values on. ``accepted`` lists pairs of a column and a
    pattern that a person has accepted. With ``refuses: false`` it only reports names of people, and always holds.
    """

    columns: ColumnNames
    accepted: Accepted
    refuses: StrictFlag

    model: ClassVar[type[PrivacyModel]] = PersonalPatterns
