"""The finding of a measure that every class must keep."""

from __future__ import annotations

from anon_airflow.expectations.measured_expectation import Finding
from anon_core.score.classes import ClassMeasure
from anon_core.wording import counted


def class_finding(
    found: ClassMeasure, what: str, advice: str, *, at_most: bool = False, said: str | None = None
) -> Finding:
    """
    Return the finding: ``what`` was observed in the worst class, and what to do if it does not hold.

    ``at_most`` says that it may not be above what is required, rather than not below; ``said`` stands for both numbers
    where that is no comparison of the two.
    """
    if said is None:
        observed = "none" if found.observed is None else f"{found.observed:.4g}"
        said = f"{observed}, {found.required:g} {'allowed' if at_most else 'required'}"
    failing = (
        f"{found.classes_failing:,} of {found.classes:,} {'class fails' if found.classes == 1 else 'classes fail'}, "
        f"{found.rows_failing:,} of {counted(found.rows, 'row')}"
    )
    return Finding(
        passed=found.holds,
        measured=found.observed,
        required=found.required,
        observed={
            "worst": found.observed,
            "classes": found.classes,
            "classes_failing": found.classes_failing,
            "rows": found.rows,
            "rows_failing": found.rows_failing,
        },
        sentence=f"{what}: {said}" + ("" if found.holds else f"; {failing}: {advice}"),
    )
