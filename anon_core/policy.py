"""The ``privacy`` section of a publication file: what must hold before anything is published."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

from pydantic import ConfigDict, Field, model_validator

from anon_core.settings import (
    AS_MAPPING,
    AS_VALUE,
    EITHER_SHAPE,
    NOT_EMPTY,
    Day,
    Filled,
    Names,
    Number,
    Reason,
    Settings,
    Share,
    Text,
    Whole,
)

__all__ = [
    "Acceptance",
    "AlphaEntry",
    "Belief",
    "Breach",
    "CountedValues",
    "Distance",
    "Diversity",
    "EarlierReleases",
    "Freeform",
    "Guard",
    "KMeans",
    "LDiversityEntry",
    "Observability",
    "PartialPolicy",
    "PatternAcceptance",
    "Patterns",
    "PersonalPattern",
    "Policy",
    "Raised",
    "ReleaseMode",
    "Sensitivity",
    "TClosenessEntry",
    "UniquenessLimits",
    "Waiver",
]


IDENTIFYING = 0.95
"""From this share of values that occur once on, a column identifies people in any role."""


def rows_allowed(limit: float, rows: int) -> int:
    """
    Return how many of so many rows may be suppressed: the largest number whose share is not above the limit.

    >>> rows_allowed(0.29, 100), rows_allowed(0.01, 99)
    (29, 0)
    """
    allowed = int(limit * rows)
    return allowed + 1 if allowed < rows and (allowed + 1) / rows <= limit else allowed


class KMeans(StrEnum):
    """Which k a release must reach."""

    EXACT = "exact"
    LINK = "link"


class Diversity(StrEnum):
    """The kinds of l-diversity."""

    DISTINCT = "distinct"
    ENTROPY = "entropy"
    RECURSIVE = "recursive"


class CountedValues(StrEnum):
    """
    What counts as one value where diversity is measured.

    ``bands``: many numbers or dates count by bands. ``coarsened``: they do so only if coarsening left very many.
    ``each``: every value counts by itself, as codes do.
    """

    BANDS = "bands"
    COARSENED = "coarsened"
    EACH = "each"


class Distance(StrEnum):
    """The distances between two distributions of a sensitive column."""

    EQUAL = "equal"
    ORDERED = "ordered"
    HIERARCHICAL = "hierarchical"


class Sensitivity(StrEnum):
    """How the sensitivity of a generalised value follows from its leaves."""

    AGGREGATE = "aggregate"
    NON_AGGREGATE = "non-aggregate"
    FREQUENCY = "frequency"


class Observability(StrEnum):
    """How it is known which values an outsider can observe, unless by belief."""

    SENSITIVITY = "sensitivity"


class ReleaseMode(StrEnum):
    """How releases of one dataset relate to each other."""

    SNAPSHOT = "snapshot"
    CUMULATIVE = "cumulative"
    DISJOINT = "disjoint"


class Breach(StrEnum):
    """What follows when earlier releases and this one reveal a small change."""

    WARN = "warn"
    BLOCK = "block"


class LDiversityEntry(Settings):
    """At least ``l`` well represented values of a sensitive column in every class."""

    column: Text
    kind: Diversity = Diversity.DISTINCT
    l: Annotated[Number, Field(gt=1)]  # noqa: E741 - the name in the literature
    c: Annotated[Number, Field(gt=0)] | None = None

    @model_validator(mode="after")
    def _c_goes_with_recursive(self) -> LDiversityEntry:
        if self.kind is Diversity.RECURSIVE and self.c is None:
            raise ValueError("`kind: recursive` needs `c`")
        if self.kind is not Diversity.RECURSIVE and self.c is not None:
            raise ValueError("`c` belongs to `kind: recursive`; remove it or set that kind")
        return self


class TClosenessEntry(Settings):
    """The distribution of a sensitive column in every class is at most ``t`` away from that of the whole table."""

    column: Text
    t: Share
    distance: Distance = Distance.EQUAL


class AlphaEntry(Settings):
    """No value of a sensitive column holds more than ``alpha`` of a class."""

    column: Text
    alpha: Annotated[Share, Field(gt=0)]


class Acceptance(Settings):
    """A set of published columns that a person accepts as identifying, until a day."""

    columns: Annotated[Names, NOT_EMPTY]
    reason: Reason
    by: Filled
    until: Day


class UniquenessLimits(Settings):
    """
    How many people published columns may single out.

    No set of up to ``max_size`` columns that others may know leaves more than ``max_share`` of the people alone. Fewer
    than k share one sensitive value, or a pair of them, with at most ``max_share_alone`` of the people, and with no
    more than 100. At most ``max_share_with_sensitive`` are alone over all published columns; None states no limit.
    """

    max_size: Annotated[Whole, Field(ge=1)] = 3
    max_share: Share = 0.0
    max_share_alone: Share = 0.01
    max_share_with_sensitive: Share | None = None
    accept: tuple[Acceptance, ...] = ()


class PersonalPattern(StrEnum):
    """What personal data may look like, as a publication file names it."""

    EMAIL = "email"
    IBAN = "iban"
    IBAN_FORM = "iban_form"
    TAX_CODE = "tax_code"
    IDENTITY_NUMBER = "identity_number"
    PAYMENT_CARD = "payment_card"
    SOCIAL_SECURITY_NUMBER = "social_security_number"
    TELEPHONE = "telephone"
    NUMBER_PLATE = "number_plate"
    IP_ADDRESS = "ip_address"
    DEVICE_NUMBER = "device_number"
    WEB_PROFILE = "web_profile"
    NAME = "name"


class PatternAcceptance(Settings):
    """A pattern of personal data that a person accepts in a published column, until a day."""

    column: Text
    pattern: PersonalPattern
    reason: Reason
    by: Filled
    until: Day


class Patterns(Settings):
    """What looks like personal data and may be published all the same."""

    accept: tuple[PatternAcceptance, ...] = ()


class Belief(Settings):
    """Observability by belief: how likely it is thought that an outsider knows a value, and by how much to boost it."""

    belief: dict[str, Share]
    boost: Share


class Guard(Settings):
    """The values of a column that must not be inferred."""

    guard: Annotated[Names, NOT_EMPTY]
    sensitivity: Sensitivity = Sensitivity.AGGREGATE
    observability: Annotated[Annotated[Observability, AS_VALUE] | Annotated[Belief, AS_MAPPING], EITHER_SHAPE] = (
        Observability.SENSITIVITY
    )


class Freeform(Settings):
    """Freeform anonymity: nothing observable implies a guarded value with a likelihood above ``sigma_t``."""

    sigma_o: Annotated[Number, Field(gt=0, le=1)]
    sigma_t: Share
    columns: Annotated[dict[str, Guard], NOT_EMPTY]


class EarlierReleases(Settings):
    """How this release is compared with the last ``window`` ones."""

    mode: ReleaseMode = ReleaseMode.SNAPSHOT
    delta_k: Annotated[Whole, Field(ge=2)] | None = None
    window: Annotated[Whole, Field(ge=1)] = 3
    on_breach: Breach = Breach.WARN
    unit_key: Text | None = None


class Waiver(Settings):
    """A check that may fail until a day, because a person waives it; :mod:`anon_core.waivers` says which checks."""

    check: Filled
    reason: Reason
    by: Filled
    until: Day


class Raised(Settings):
    """A limit of the site that a person lets this file raise until a day; ``limit`` is a key below ``privacy``."""

    limit: Filled
    reason: Reason
    by: Filled
    until: Day


class PartialPolicy(Settings):
    """
    A policy whose ``k`` may come from elsewhere, such as the command line.

    Other keys are those of privacy models of other packages, with their settings. A key whose package is not installed
    is kept as it is written; :func:`anon_core.models.required` refuses it.
    """

    model_config = ConfigDict(extra="allow")

    k: Annotated[Whole, Field(ge=2)] | None = None
    k_means: KMeans = KMeans.EXACT
    singletons: Annotated[Whole, Field(ge=0)] = 0
    suppression_limit: Share = 0.0
    l_diversity: tuple[LDiversityEntry, ...] = ()
    t_closeness: tuple[TClosenessEntry, ...] = ()
    alpha: tuple[AlphaEntry, ...] = ()
    max_rows_per_person: Annotated[Whole, Field(ge=1)] | None = None
    max_sensitivity: Share | None = None
    max_risk: Annotated[Share, Field(gt=0)] | None = None
    published_uniqueness: UniquenessLimits = UniquenessLimits()
    patterns: Patterns = Patterns()
    max_restored: Annotated[Whole, Field(ge=0)] = 0
    freeform: Freeform | None = None
    earlier_releases: EarlierReleases | None = None
    waivers: tuple[Waiver, ...] = ()
    raised: tuple[Raised, ...] = ()


class Policy(PartialPolicy):
    """What must hold before anything is published."""

    k: Annotated[Whole, Field(ge=2)]
