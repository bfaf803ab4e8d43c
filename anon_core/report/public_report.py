"""The public report: what was published and how it was protected. It holds no cell value.

``docs/report.schema.json`` is made from it and the internal one. :mod:`anon_core.report.public` decides which figures
are public, and how they are rounded.
"""

from __future__ import annotations

from typing import Literal

from pydantic import ConfigDict

from anon_core.report.measured import ReportPart, RowsAtRisk, SensitiveMeasured

PUBLIC_SCHEMA: Literal["anonflow/report/2"] = "anonflow/report/2"


class CheckResult(ReportPart):
    """
    One check of the gate; if it did not pass and was waived, the waiver and its person.

    ``required`` is null where nothing is required: then it is only reported, and does not count as a check.
    """

    distribution: str
    name: str
    passed: bool
    observed: str | int | float
    required: str | int | float | None
    message: str
    waiver: str | None = None
    waived_by: str | None = None


class AcceptedSet(ReportPart):
    """
    A column set that a named person accepts as singling people out, or a ``pattern`` of personal data in a column.

    ``needed`` is whether it does; null where that was not measured, or where the acceptance has ended.
    """

    columns: list[str]
    pattern: str | None = None
    reason: str
    by: str
    until: str
    needed: bool | None


class WaivedCheck(ReportPart):
    """
    A check that a named person lets fail until a day.

    ``needed`` is whether it fails; null where that was not measured, or where the waiver has ended.
    """

    check: str
    reason: str
    by: str
    until: str
    needed: bool | None


class LimitRaised(ReportPart):
    """
    A limit of the site that a named person let this file raise, until a day, to ``value``; null: to no limit at all.

    ``needed`` is whether the site's limit is lower; null where that is not known, or where it has ended.
    """

    limit: str
    value: float | None
    reason: str
    by: str
    until: str
    needed: bool | None


class UniquenessAllowed(ReportPart):
    """
    Sets of up to ``max_size`` of the ``columns`` were searched; each may leave the share ``max_share`` alone.

    The share ``max_share_alone``, and never more than 100, may have a value or a pair of values of sensitive columns
    that fewer than k share, and the share ``max_share_with_sensitive`` may be alone over all published columns, which
    is null where no column is sensitive. ``protected`` are columns that all together are judged by k instead, and were
    not searched as a set.
    """

    max_size: int
    max_share: float
    max_share_alone: float
    max_share_with_sensitive: float | None
    columns: list[str]
    protected: list[str]


class PublicCheck(ReportPart):
    """
    A check as the public may read it.

    ``observed`` is null where people or originals took part, or the model does not say that it counts published rows
    only; ``message`` is then the promise of its model, and whether it holds.
    """

    distribution: str
    name: str
    passed: bool
    observed: str | int | float | None
    required: str | int | float | None
    message: str
    waiver: str | None = None
    waived_by: str | None = None


class KInRows(ReportPart):
    """The rows of the smallest class; null where people are counted, where there are no classes, or k is by linkage."""

    exact: int | None


class RiskOfRows(ReportPart):
    """The probability, by class sizes in the published rows, that a row is linked to its person (prosecutor)."""

    highest: float
    average: float
    above: list[RowsAtRisk]
    below: list[RowsAtRisk]


class Privacy(ReportPart):
    """
    What was required, and what can be counted in the published rows.

    ``k``, ``singletons``, ``risk`` and ``sensitive`` are withheld where people with several rows are counted: k is then
    at least ``k_required``. ``not_measured`` names in words what a reader may believe to be promised.
    """

    k_required: int
    k_means: str
    k: KInRows
    singletons: int | None
    risk: RiskOfRows | None
    sensitive: list[SensitiveMeasured]
    suppression_limit: float
    published_uniqueness: UniquenessAllowed
    checks: list[PublicCheck]
    accepted: list[AcceptedSet]
    waivers: list[WaivedCheck]
    raised: list[LimitRaised]
    not_measured: list[str]


class Rows(ReportPart):
    """
    ``removed`` to protect people, within the policy's limit; ``dropped`` because a quasi-identifier was missing.

    ``capped`` were left out before that because their person had more than allowed; null where there is no limit. All
    are rounded down to multiples of ``rounded_to``: 0 is fewer than that.
    """

    published: int
    removed: int
    dropped: int
    capped: int | None
    rounded_to: int


class UnitAnswered(ReportPart):
    """What a person answers for about whose the rows are: that rows are people, or that a ``column`` may span them."""

    reason: str
    by: str
    until: str
    column: str | None


class PeoplePublished(ReportPart):
    """
    Whether checks counted rows or people; the ``published`` people, those ``alone`` over all columns, and those sharing
    their ``row_sets``, all their classes, with fewer than k: rounded down as rows removed are, null where rows count.

    ``rows_are_people``: the publication file says that every row is another person; ``verifiable`` is whether the
    source has an identifier that could contradict that, null where that was not looked for.
    """

    counted: Literal["rows", "people"]
    published: int | None
    alone: int | None
    row_sets: int | None
    rows_are_people: bool
    verifiable: bool | None
    answered: list[UnitAnswered]


class LevelUse(ReportPart):
    """How many published rows stand at one level of a column."""

    level: int
    name: str
    rows: int


class PublishedColumn(ReportPart):
    """A column of the release; ``type`` is what all its published cells read as."""

    name: str
    role: str
    type: str
    description: str | None
    levels: list[LevelUse]
    cells_changed: int


class RecodingSummary(ReportPart):
    method: str
    why: str
    rows_changed: int
    columns: list[PublishedColumn]


class PublicColumn(ReportPart):
    """A column of the release; its ``levels`` are told by labels alone: one that two levels share counts below."""

    name: str
    role: str
    type: str
    description: str | None
    levels: list[LevelUse]


class PublicRecoding(ReportPart):
    """The method that the publication file asks for, and how coarse each column is."""

    method: str
    columns: list[PublicColumn]


class PublicDetail(ReportPart):
    """
    What is coarser than collected, told by labels alone: shares of the published rows and of their cells.

    ``rows_without_detail`` say nothing in any quasi-identifier, ``columns_without_detail`` nothing in any row.
    """

    rows_coarser_share: float
    cells_coarser_share: float
    rows_without_detail: int
    columns_without_detail: list[str]


class PublishedFile(ReportPart):
    name: str
    media_type: str
    sha256: str
    bytes: int
    rows: int


class PublicReport(ReportPart):
    """What every reader may see beside the data; ``approved``: a person had to approve it before it was published."""

    schema_: Literal["anonflow/report/2"] = PUBLIC_SCHEMA
    kind: Literal["public"] = "public"
    dataset: str
    title: str
    version: str
    period: str | None
    generated_by: str
    approved: bool
    rows: Rows
    people: PeoplePublished
    privacy: Privacy
    recoding: PublicRecoding
    detail: PublicDetail
    distributions: list[PublishedFile]

    model_config = ConfigDict(frozen=True, extra="forbid", alias_generator=lambda name: name.rstrip("_"))
