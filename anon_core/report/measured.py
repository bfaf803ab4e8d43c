"""How safe and how useful a table is, in the form of the reports: the schema, and the functions that fill it."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from pydantic import BaseModel, ConfigDict

from anon_core.measures.risk.attackers import Risk
from anon_core.measures.risk.population import PopulationUniqueness
from anon_core.measures.sensitivity.scores import Scores, UniqueSets
from anon_core.measures.utility import Utility
from anon_core.report.assessment import Assessment


class ReportPart(BaseModel):
    """The base of every part of a report: it never changes, and a key that it does not know is an error."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class FourKMeasured(ReportPart):
    """The four k's; null where one was not measured, or where no assignment of rows to originals exists."""

    exact: int | None
    link: int | None = None
    source: int | None = None
    concealment: int | None = None


class RowsAtRisk(ReportPart):
    """How many rows are above a risk, or in classes below a size."""

    limit: float
    rows: int
    share: float


class AttackMeasured(ReportPart):
    """The probability that a row is linked to its person."""

    highest: float
    average: float
    above: list[RowsAtRisk]


class PopulationEstimate(ReportPart):
    """How many people are alone in the population by one estimator; null with the reason."""

    estimator: str
    uniques: float | None
    share: float | None
    reason: str | None


class RiskMeasured(ReportPart):
    """The risk by three attackers, the rows in small classes, and the people alone in the population, if estimated."""

    prosecutor: AttackMeasured
    journalist: AttackMeasured
    marketer: float
    basis: str
    below: list[RowsAtRisk]
    population: list[PopulationEstimate]
    population_elected: str | None
    population_reason: str | None


class SensitiveMeasured(ReportPart):
    """What the worst class gives away about a sensitive column, required or not."""

    name: str
    distinct_l: int
    entropy_l: float
    largest_share: float
    t_equal: float
    t_ordered: float


class QueryError(ReportPart):
    """The relative errors of counts by so many columns; 0 is exact."""

    groups: int
    queries: int
    mean: float
    median: float
    p95: float


class UtilitySummary(ReportPart):
    """
    What is left and what was lost.

    NUE: 1 is everything, 0 is nothing left. Loss: 0 is untouched, 1 is nothing left. Total variation and query errors:
    0 is exact. What needs to know which row became which is null where that is not known; ``reason`` says so.
    """

    nue: float | None
    wnue: float | None
    nue_by_column: dict[str, float] | None
    reason: str | None
    loss: float
    weighted_loss: float
    loss_by_column: dict[str, float]
    discernibility: int
    average_class_size: float | None
    normalised_average_class_size: float | None
    rows_changed_share: float | None
    cells_changed_share: float | None
    total_variation: float
    total_variation_by_column: dict[str, float]
    query_error_one_column: QueryError | None
    query_error_two_columns: QueryError | None
    queries_sampled: bool
    seed: int | None


class ClassesMeasured(ReportPart):
    """The figures over the quasi-identifiers; ``rows_below`` are in classes smaller than the required k."""

    columns: list[str]
    k: FourKMeasured
    singletons: int
    classes: int
    rows: int
    rows_below: int
    risk: RiskMeasured
    sensitive: list[SensitiveMeasured]


def measured_note(columns: tuple[str, ...], assessment: Assessment) -> dict[str, Any]:
    """Return the figures of a table, without a single value."""
    exact, four = assessment.k, assessment.four
    return {
        "columns": list(columns),
        "k": {
            "exact": exact.k,
            "link": four.link if four else None,
            "source": four.source if four else None,
            "concealment": four.concealment if four else None,
        },
        "singletons": exact.singletons,
        "classes": exact.classes,
        "rows": exact.rows,
        "rows_below": exact.rows_below,
        "risk": risk_note(assessment.risk, assessment.population),
        "sensitive": [asdict(column) for column in assessment.sensitive],
    }


def risk_note(risk: Risk, population: PopulationUniqueness) -> dict[str, Any]:
    """Return the risk of being linked, and how many are alone in the population."""
    return {
        "prosecutor": asdict(risk.prosecutor),
        "journalist": asdict(risk.journalist),
        "marketer": risk.marketer,
        "basis": risk.basis,
        "below": [asdict(at) for at in risk.below],
        "population": [{**asdict(one), "estimator": str(one.estimator.value)} for one in population.estimates],
        "population_elected": str(population.elected.estimator.value) if population.elected else None,
        "population_reason": population.reason,
    }


def utility_note(utility: Utility) -> dict[str, Any]:
    """Return the measures of utility by their usual names."""
    entropy, changes, queries = utility.entropy, utility.changes, utility.queries
    return {
        "nue": entropy.overall if entropy else None,
        "wnue": entropy.weighted if entropy else None,
        "nue_by_column": entropy.by_column if entropy else None,
        "reason": utility.reason,
        "loss": utility.loss.overall,
        "weighted_loss": utility.loss.weighted,
        "loss_by_column": utility.loss.by_column,
        "discernibility": utility.classes.discernibility,
        "average_class_size": utility.classes.average,
        "normalised_average_class_size": utility.classes.normalised,
        "rows_changed_share": changes.rows if changes else None,
        "cells_changed_share": changes.cells if changes else None,
        "total_variation": utility.marginals.mean,
        "total_variation_by_column": utility.marginals.by_column,
        "query_error_one_column": asdict(queries.one_column) if queries.one_column else None,
        "query_error_two_columns": asdict(queries.two_columns) if queries.two_columns else None,
        "queries_sampled": queries.sampled,
        "seed": queries.seed,
    }


MAX_SETS_NAMED = 200
"""The report names at most so many unique sets, the smallest first; a wide table may have a hundred thousand."""


def scoring_note(unique: UniqueSets, scores: Scores, *, ignore_duplicates: bool) -> dict[str, Any]:
    """Return the scores, and the sets from which they were computed, without a single value."""
    return {
        "columns": [asdict(column) for column in scores.columns],
        "average": scores.average,
        "reason": scores.reason,
        "unique_columns": {
            "rows": unique.rows,
            "duplicate_rows": unique.duplicate_rows,
            "max_size": unique.max_size,
            "approximate": unique.approximate,
            "ignore_duplicates": ignore_duplicates,
            "found": len(unique.sets),
            "sets": [list(names) for names in unique.sets[:MAX_SETS_NAMED]],
        },
        "exact_method": scores.exact_method,
        "exact_error": scores.exact_error,
        "seed": scores.seed,
        "samples": scores.samples,
    }
