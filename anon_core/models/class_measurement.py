"""The words and figures of a measure that every class must keep."""

from __future__ import annotations

from typing import TYPE_CHECKING

from anon_core.errors import InternalError

if TYPE_CHECKING:
    from anon_core.models.classes import Classes
    from anon_core.models.measurement import Measurement
    from anon_core.models.model import PrivacyModel
    from anon_core.models.subject import Subject
    from anon_core.score.classes import ClassMeasure, SensitiveClasses

__all__ = ["class_measurement", "counted_classes", "of_one_column"]


def of_one_column(model: PrivacyModel, classes: Classes) -> SensitiveClasses:
    """Return the sensitive values of some classes, for a model that is about one column."""
    if classes.sensitive is None or classes.sensitive.column != model.column:
        raise InternalError("classes without the sensitive values of their model", f"models.{model.key}")
    return classes.sensitive


def counted_classes(model: PrivacyModel, subject: Subject) -> SensitiveClasses:
    """Return the classes of a table with the sensitive values that a model is about, counted."""
    from anon_core.score.classes import sensitive_classes

    column = str(model.column)
    return sensitive_classes(subject.people_over((*model.columns, column)), model.columns, column)


def class_measurement(
    model: PrivacyModel,
    subject: Subject,
    found: ClassMeasure,
    what: str,
    advice: str,
    *,
    at_most: bool = False,
    said: str | None = None,
) -> Measurement:
    """
    Return the measurement: ``what`` was observed in the worst class, and what to do if it does not hold.

    ``at_most`` says that it may not be above what is required, rather than not below; ``said`` stands for both numbers
    where that is no comparison of the two.
    """
    if said is None:
        observed = "none" if found.observed is None else f"{found.observed:.4g}"
        said = f"{observed}, {found.required:g} {'allowed' if at_most else 'required'}"
    failing = (
        f"{found.classes_failing:,} of {found.classes:,} {'class fails' if found.classes == 1 else 'classes fail'}, "
        f"{found.rows_failing:,} of {subject.told(found.rows)}"
    )
    return model.measurement(
        passed=found.holds,
        observed=found.observed,
        required=found.required,
        sentence=f"{what}: {said}" + ("" if found.holds else f"; {failing}: {advice}"),
        counts={
            "worst": found.observed,
            "classes": found.classes,
            "classes_failing": found.classes_failing,
            "rows": found.rows,
            "rows_failing": found.rows_failing,
        },
        rows_at_risk=found.rows_failing,
    )
