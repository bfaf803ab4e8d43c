"""The internal report: what was found before recoding and every recoding that was tried, beside what was published.

It stays inside, because an attacker could use these details. It holds no cell value either.
"""

from __future__ import annotations

from typing import Literal

from pydantic import ConfigDict

from anon_core.report.measured import ClassesMeasured, ReportPart, UtilitySummary
from anon_core.report.public_report import (
    AcceptedSet,
    CheckResult,
    LimitRaised,
    PublishedFile,
    RecodingSummary,
    WaivedCheck,
)

SCHEMA: Literal["anonflow/report/1"] = "anonflow/report/1"


class ColumnSetFound(ReportPart):
    """A set of columns: rows alone on it, its distinct tuples, the share of all pairs of rows that it tells apart."""

    columns: list[str]
    singletons: int
    share: float
    distinct: int
    distinct_ratio: float
    separation_ratio: float | None


class DetectionFound(ReportPart):
    """Which column sets single people out in the data as collected."""

    counted: str
    rows: int
    max_size: int
    identifiers: list[list[str]]
    best: ColumnSetFound | None
    best_by_size: list[ColumnSetFound]
    all_columns: ColumnSetFound
    sets_examined: int


class SubsetCounted(ReportPart):
    columns: list[str]
    distinct: int
    singletons: int


class SelectionFound(ReportPart):
    """Every subset of the declared quasi-identifiers, and the one that tells most rows apart with fewest columns."""

    rows: int
    subsets: list[SubsetCounted]
    elected: list[str]


class ColumnScore(ReportPart):
    """One column; ``exact`` is the probability that ``sensitivity`` bounds, a rank of 1 is the most sensitive."""

    name: str
    type: str
    distinct: int
    missing: int
    sensitivity: float | None
    exact: float | None
    cardinality: int
    unique_share: float
    entropy: float
    ranks: dict[str, int | None]


class UniqueColumnsFound(ReportPart):
    """The minimal sets on which (nearly) every row is unique: how many there are, and the first of them."""

    rows: int
    duplicate_rows: int
    max_size: int | None
    approximate: float
    ignore_duplicates: bool
    found: int
    sets: list[list[str]]


class ScoresFound(ReportPart):
    """The scores of the columns; ``reason`` says why there is no sensitivity."""

    columns: list[ColumnScore]
    average: float | None
    reason: str | None
    unique_columns: UniqueColumnsFound
    exact_method: str | None
    exact_error: float | None
    seed: int | None
    samples: int | None


class Tried(ReportPart):
    """One recoding that was tried: what was generalised, how far, what it cost, and why it could not be chosen.

    Where a method found nothing, the counts are those of the table as it was and the measures are null.
    """

    method: str
    name: str
    singletons: int
    k: int | None
    rows_changed: int
    rows_removed: int
    distinct: int
    loss: float | None
    nue: float | None
    wnue: float | None
    elected: bool
    reason: str | None


class Staged(ReportPart):
    """What came in.

    ``rows_dropped`` had a gap in a quasi-identifier. Of ``rows_without_person`` the source does not say whose they are.
    ``rows_capped`` of ``people_capped`` were left out because they had more rows than allowed; ``rows`` are those left.
    ``unit`` is the staged column that numbers the people; null where each of them has one row. ``verifiable`` is
    whether a column could contradict that every row is another person. ``sha256`` is of the staged table,
    ``surplus_sha256`` of the rows left out.
    """

    rows: int
    rows_dropped: int
    people: int
    rows_without_person: int
    rows_capped: int
    people_capped: int
    surplus_sha256: str | None
    unit: str | None
    verifiable: bool | None
    columns: int
    sha256: str
    spec_digest: str


class Decided(ReportPart):
    """What a person decided about a receipt, and when; a decision for an earlier attempt is not listed."""

    person: str
    decision: str
    at: str
    receipt: str


class StepFailed(ReportPart):
    """A step for information that failed: its part of the report is null, and no other part depends on it."""

    step: str
    reason: str


class InternalReport(ReportPart):
    """Everything that was measured in one run, successful or not; a step that did not run is null."""

    schema_: Literal["anonflow/report/1"] = SCHEMA
    kind: Literal["internal"] = "internal"
    dataset: str
    title: str
    run_id: str
    period: str | None
    generated_by: str
    spec_digest: str | None
    outcome: Literal["published", "unchanged", "refused", "failed"]
    refused_by: str | None
    reasons: list[str]
    steps_failed: list[StepFailed]
    version: str | None
    page: str | None
    approval_required: bool
    approvals: list[Decided]
    staged: Staged | None
    k_means: str
    k_required: int
    before: ClassesMeasured | None
    detection: DetectionFound | None
    selection: SelectionFound | None
    scores: ScoresFound | None
    after: ClassesMeasured | None
    unique_rows_published: int | None
    candidates: list[Tried]
    optimal: bool | None
    recoding: RecodingSummary | None
    utility: UtilitySummary | None
    checks: list[CheckResult]
    accepted: list[AcceptedSet]
    waivers: list[WaivedCheck]
    raised: list[LimitRaised]
    distributions: list[PublishedFile]

    model_config = ConfigDict(frozen=True, extra="forbid", alias_generator=lambda name: name.rstrip("_"))
