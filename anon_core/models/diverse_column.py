"""The base of models of diversity. Numbers and dates count by bands: 50,000 and 50,001 are not two values."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING

from anon_core.errors import InvalidInputError
from anon_core.models import Measurement, PolicyContext, Subject
from anon_core.models.sensitive_column import SensitiveColumnModel
from anon_core.policy import CountedValues

if TYPE_CHECKING:
    from anon_core.measures.classes import SensitiveClasses

_BANDED = (
    ", or set `coarsen`: its numbers or dates count by bands of up to a tenth of their range "
    "(`type: text` if they are codes)"
)


@dataclass(frozen=True, kw_only=True)
class DiverseColumnModel(SensitiveColumnModel):
    """
    A model of the diversity of one column; ``values`` says what counts as one value of the column.

    ``bands``: numbers and dates count in bands of a tenth to a twentieth of their range, if there are at least 10
    different ones. ``coarsened``: values count as `coarsen` made them, if at most 200 different numbers are left.
    ``each``: every value counts by itself, as codes do.

    :raises InvalidInputError: ``values`` is none of these.
    """

    values: str = CountedValues.BANDS.value

    def __post_init__(self) -> None:
        super().__post_init__()
        refuse_other_values(self.title, self.values)

    @property
    def counted_values(self) -> CountedValues:
        return CountedValues(self.values)

    @abstractmethod
    def measure_classes(self, subject: Subject, classes: SensitiveClasses, advice: str) -> Measurement:
        """Measure classes whose values are counted; ``advice`` is added to what the sentence of a failure advises."""

    def measure(self, subject: Subject) -> Measurement:
        from anon_core.measures.classes import sensitive_classes
        from anon_core.measures.diversity.bands import in_bands

        cells = subject.people_over((*self.columns, self.sensitive))
        judged = in_bands(cells, self.sensitive, self.counted_values)
        classes = sensitive_classes(judged, self.columns, self.sensitive)
        return self.measure_classes(subject, classes, "" if judged is cells else _BANDED)


def refuse_other_values(title: str, values: str) -> None:
    """:raises InvalidInputError: it is no way to count values."""
    if values not in list(CountedValues):
        raise InvalidInputError(f"{title}: values must be one of {', '.join(CountedValues)}")


def counted_values_of(context: PolicyContext, name: str) -> str:
    """Return what counts as one value of a column: what its publication file says, bands without a file."""
    column = context.publication.effective_columns.get(name) if context.publication else None
    return (column.counted_values if column else CountedValues.BANDS).value
