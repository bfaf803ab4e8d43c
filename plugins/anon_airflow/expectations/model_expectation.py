"""The base class of our expectations: metrics, one privacy model that judges, and results of counts and names only."""

from __future__ import annotations

from dataclasses import fields
from typing import Any, ClassVar

from great_expectations.compatibility import pydantic

from anon_airflow.expectations.described_expectation import DescribedExpectation
from anon_airflow.expectations.inputs import hierarchy_folder, known_pairing
from anon_airflow.expectations.metrics.pandas_cells import people_of
from anon_airflow.expectations.metrics.refusal import Refusal, refuse_instead_of_raising
from anon_core.frequency import FrequencyTable
from anon_core.models import Measurement, Need, NotMeasurableError, PrivacyModel, Subject

NO_SETTINGS = ("weight_column", "unit_column")
"""Arguments that say how a table is counted; they are no requirements."""


class ModelExpectation(DescribedExpectation):
    """
    An expectation whose verdict is that of a privacy model of the core; its arguments are the model's own fields.

    It works on rows (``weight_column`` null: each row counts 1) and on a frequency table (``weight_column`` holds the
    rows of each distinct tuple). Every field that is a requirement must be given: Great Expectations does not write a
    field that equals its default to the JSON, so a new default would change the meaning of a stored suite.

    With a ``unit_column`` people are counted, who may have several rows each: rows with the same value in it. A gap in
    it is an unknown person. It is not a published column. It is no requirement, so it may be left out.

    A metric that returns a refusal, and an exception here, are a failure with a reason and no values.
    """

    weight_column: pydantic.StrictStr | None = pydantic.Field(...)
    unit_column: pydantic.StrictStr | None = None

    model: ClassVar[type[PrivacyModel]]
    domain_keys: ClassVar[tuple[str, ...]] = ("batch_id",)
    metric_dependencies: ClassVar[tuple[str, ...]] = ()

    def __init_subclass__(cls, **options: Any) -> None:
        """Set the attributes that Great Expectations reads from an expectation, by its model."""
        super().__init_subclass__(**options)
        keys = (*(field.name for field in fields(cls.model)), "weight_column", "unit_column")
        cls.success_keys = cls.args_keys = keys
        needs = cls.model.needs
        frequencies = "anon.column_names" if Need.NAMES in needs else "anon.frequencies"
        cls.metric_dependencies = (frequencies, *(["anon.original_frequencies"] if Need.ORIGINAL in needs else []))
        cls.promise = cls.model.promise

    @pydantic.validator("unit_column")
    def _people_are_counted(cls, unit_column: str | None) -> str | None:
        if unit_column is not None and not cls.model.counts_people and Need.NAMES not in cls.model.needs:
            raise ValueError("this expectation counts rows, not people; leave unit_column out")
        return unit_column

    def _validate(
        self,
        metrics: dict[str, Any],
        runtime_configuration: dict[str, Any] | None = None,
        execution_engine: Any = None,
    ) -> dict[str, Any]:
        given = [metrics.get(metric, Refusal("its metric was not computed")) for metric in self.metric_dependencies]
        refused = [one for one in given if isinstance(one, Refusal)]
        found = refused[0] if refused else refuse_instead_of_raising(self._measured)(*given)
        if isinstance(found, Refusal):
            sentence = f"{self.model.title}: not measured, {found.reason}"
            return {"success": False, "result": {"observed_value": None, "sentence": sentence}}
        if not found.measured:  # Without the key `measured`, so that no waiver can excuse it.
            return {"success": False, "result": {"observed_value": None, "sentence": found.sentence}}
        return {
            "success": bool(found.passed),
            "result": {
                "observed_value": dict(found.counts),
                "measured": found.observed,
                "required": found.required,
                "sentence": found.sentence,
            },
        }

    def _measured(self, table: FrequencyTable | list[str], original: FrequencyTable | None = None) -> Measurement:
        settings = {name: getattr(self, name) for name in self.success_keys if name not in NO_SETTINGS}
        model = self.model.of_arguments(settings)
        return model.measure(self._subject(table, original))

    def _subject(self, table: FrequencyTable | list[str], original: FrequencyTable | None) -> Subject:
        if not isinstance(table, FrequencyTable):
            return self._subject_of_names(table)
        by_people = self.unit_column is not None
        return Subject(
            names=table.names[:-1] if by_people else table.names,
            rows=table.project,
            people=people_of(table).project if by_people else None,
            original=original,
            original_people=people_of(original) if by_people and original is not None else None,
            folder=hierarchy_folder(),
            paired=known_pairing(),
        )

    def _subject_of_names(self, table: list[str]) -> Subject:
        if self.weight_column in getattr(self, "columns", ()):
            raise NotMeasurableError(f"{self.weight_column} cannot be a weight and a declared column at once")
        if self.unit_column in getattr(self, "columns", ()):
            raise NotMeasurableError(f"{self.unit_column} cannot tell people apart and be a declared column at once")
        return Subject(names=tuple(table), rows=_nothing_is_counted)


def _nothing_is_counted(_: tuple[str, ...]) -> FrequencyTable:
    raise NotMeasurableError("only the names of its columns are known")


__all__ = ["ModelExpectation"]
