"""Every class has enough different values of a sensitive column."""

from __future__ import annotations

from typing import ClassVar

from great_expectations.compatibility import pydantic

from anon_airflow.expectations.arguments import (
    AnyColumnNames,
    ColumnName,
    CountedValuesKind,
    DiversityKind,
    PositiveNumber,
    PositiveNumberOrNone,
)
from anon_airflow.expectations.model_expectation import ModelExpectation
from anon_core.models.l_diversity import LDiversity
from anon_core.models.model import PrivacyModel


class ExpectLDiversity(ModelExpectation):
    """
    Expect in every class over ``columns`` at least ``l`` well represented values of ``sensitive``.

    ``kind`` is distinct, entropy or recursive (Machanavajjhala 2007); ``c`` goes with the last and is null otherwise. A
    gap is a value. Without columns all rows are one class. ``values`` says what counts as one value: ``bands`` of
    numbers and dates, if there are many; values as they were ``coarsened``; or ``each`` value, as for codes.
    """

    columns: AnyColumnNames
    sensitive: ColumnName
    values: CountedValuesKind
    kind: DiversityKind
    l: PositiveNumber  # noqa: E741 - the name in the literature
    c: PositiveNumberOrNone = pydantic.Field(...)

    model: ClassVar[type[PrivacyModel]] = LDiversity
