"""No published text looks like personal data, unless someone answers for it."""

from __future__ import annotations

from typing import ClassVar

from anon_airflow.expectations.arguments import Accepted, ColumnNames, StrictFlag
from anon_airflow.expectations.model_expectation import ModelExpectation
from anon_core.models.model import PrivacyModel
from anon_core.models.personal_patterns import PersonalPatterns


class ExpectPersonalPatterns(ModelExpectation):
    """
    Expect no text in ``columns`` to hold what looks like personal data, also within longer texts.

    One e-mail address, IBAN, tax or identity code with the right check digits is one too many; telephone numbers,
    number plates and IP addresses count from 1 % of a column's distinct values on. ``accepted`` lists pairs of a column
    and a pattern that a person answers for. With ``refuses`` false it tells of names of people, and always holds.
    """

    columns: ColumnNames
    accepted: Accepted
    refuses: StrictFlag

    model: ClassVar[type[PrivacyModel]] = PersonalPatterns
