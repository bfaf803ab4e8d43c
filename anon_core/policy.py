"""The ``privacy`` section of a publication file: what must hold before anything is published.

It also holds the scalar types and the base that all models of the publication file share.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections import Counter
from datetime import date
from enum import StrEnum
from typing import Annotated, Any

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Discriminator,
    Field,
    StrictBool,
    StrictInt,
    Tag,
    ValidationInfo,
    model_validator,
)

from anon_core.files.yaml_lines import as_text

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


def number(value: Any) -> int | float:
    """Return a finite number, whole ones as ``int`` so that labels made of them read ``5`` and not ``5.0``."""
    usable = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
    if not usable:
        raise ValueError(f"should be a number, not {quoted(value)}")
    return int(value) if isinstance(value, int) else float(value)


def quoted(value: Any) -> str:
    """Quote a value of the file in a message, shortened; a specification is not personal data."""
    if isinstance(value, dict | list | tuple):
        return "a mapping" if isinstance(value, dict) else "a list"
    written = {"None": "null", "True": "true", "False": "false"}.get(repr(value)) or str(as_text(value))
    return f"`{written[:40] + '...' if len(written) > 40 else written}`"


MIN_REASON_LETTERS = 10

_UNSEEN = frozenset("\u115f\u1160\u2800\u3164\uffa0")
"""Letters and symbols that are drawn as nothing: fillers of Hangul, and the empty pattern of Braille."""


def _day(value: Any) -> Any:
    # pydantic would also take a number of seconds, so 20271231 would quietly be a day in 1970.
    if isinstance(value, date) or (isinstance(value, str) and re.fullmatch(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", value)):
        return value
    raise ValueError(f"should be a date such as 2027-12-31, not {quoted(value)}")


def _not_blank(value: str) -> str:
    # Letters, numbers, punctuation and symbols are seen; spaces, and what only joins or turns others, are not.
    if not any(unicodedata.category(sign)[0] in "LNPS" and sign not in _UNSEEN for sign in value):
        raise ValueError("should not be empty")
    return value


def _long_enough(value: str) -> str:
    if sum(sign.isalpha() and sign not in _UNSEEN for sign in value) < MIN_REASON_LETTERS:
        raise ValueError(f"should be a reason of at least {MIN_REASON_LETTERS} letters, for those who read it later")
    return value


def _not_empty(value: Any) -> Any:
    if not value:
        raise ValueError("should not be empty")
    return value


def distinct(names: tuple[str, ...]) -> tuple[str, ...]:
    """:raises ValueError: a name is there twice."""
    if twice := sorted(name for name, times in Counter(names).items() if times > 1):
        raise ValueError(f"names {', '.join(map(quoted, twice))} twice")
    return names


def _shape(value: Any) -> str:
    return "<mapping>" if isinstance(value, dict | BaseModel) else "<value>"


Text = Annotated[str, BeforeValidator(as_text)]
Filled = Annotated[Text, AfterValidator(_not_blank)]
Reason = Annotated[Filled, AfterValidator(_long_enough)]
Names = Annotated[tuple[Text, ...], AfterValidator(distinct)]
Flag = StrictBool
Whole = StrictInt
Number = Annotated[int | float, BeforeValidator(number)]
Share = Annotated[float, BeforeValidator(number), Field(ge=0, le=1)]
Day = Annotated[date, BeforeValidator(_day)]

# Not pydantic's `min_length`, which also calls a list empty when its entries are wrong.
NOT_EMPTY = AfterValidator(_not_empty)
# A value that is either a word or a mapping; without these tags pydantic reports the errors of both readings.
EITHER_SHAPE = Discriminator(_shape)
AS_VALUE = Tag("<value>")
AS_MAPPING = Tag("<mapping>")


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


class Model(BaseModel):
    """The base of every section: it never changes, and a key it does not know is an error."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    @model_validator(mode="before")
    @classmethod
    def _null_is_not_set(cls, value: Any, info: ValidationInfo) -> Any:
        if not isinstance(value, dict):
            return value
        if info.context is not None:
            # So that an unknown key can be compared with the keys that are known at that very place.
            info.context[id(value)] = cls
        return {key: item for key, item in value.items() if item is not None or key not in cls.model_fields}


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


class LDiversityEntry(Model):
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


class TClosenessEntry(Model):
    """The distribution of a sensitive column in every class is at most ``t`` away from that of the whole table."""

    column: Text
    t: Share
    distance: Distance = Distance.EQUAL


class AlphaEntry(Model):
    """No value of a sensitive column holds more than ``alpha`` of a class."""

    column: Text
    alpha: Annotated[Share, Field(gt=0)]


class Acceptance(Model):
    """A set of published columns that a person accepts as identifying, until a day."""

    columns: Annotated[Names, NOT_EMPTY]
    reason: Reason
    by: Filled
    until: Day


class UniquenessLimits(Model):
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


class PatternAcceptance(Model):
    """A pattern of personal data that a person accepts in a published column, until a day."""

    column: Text
    pattern: PersonalPattern
    reason: Reason
    by: Filled
    until: Day


class Patterns(Model):
    """What looks like personal data and may be published all the same."""

    accept: tuple[PatternAcceptance, ...] = ()


class Belief(Model):
    """Observability by belief: how likely it is thought that an outsider knows a value, and by how much to boost it."""

    belief: dict[str, Share]
    boost: Share


class Guard(Model):
    """The values of a column that must not be inferred."""

    guard: Annotated[Names, NOT_EMPTY]
    sensitivity: Sensitivity = Sensitivity.AGGREGATE
    observability: Annotated[Annotated[Observability, AS_VALUE] | Annotated[Belief, AS_MAPPING], EITHER_SHAPE] = (
        Observability.SENSITIVITY
    )


class Freeform(Model):
    """Freeform anonymity: nothing observable implies a guarded value with a likelihood above ``sigma_t``."""

    sigma_o: Annotated[Number, Field(gt=0, le=1)]
    sigma_t: Share
    columns: Annotated[dict[str, Guard], NOT_EMPTY]


class EarlierReleases(Model):
    """How this release is compared with the last ``window`` ones."""

    mode: ReleaseMode = ReleaseMode.SNAPSHOT
    delta_k: Annotated[Whole, Field(ge=2)] | None = None
    window: Annotated[Whole, Field(ge=1)] = 3
    on_breach: Breach = Breach.WARN
    unit_key: Text | None = None


class Waiver(Model):
    """A check that may fail until a day, because a person waives it; :mod:`anon_core.waivers` says which checks."""

    check: Filled
    reason: Reason
    by: Filled
    until: Day


class Raised(Model):
    """A limit of the site that a person lets this file raise until a day; ``limit`` is a key below ``privacy``."""

    limit: Filled
    reason: Reason
    by: Filled
    until: Day


class PartialPolicy(Model):
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
