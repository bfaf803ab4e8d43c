"""How safe and how useful a table is: all figures that are measured, beside its original if there is one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from anon_core.comparison import Comparison
from anon_core.frequency import FrequencyTable
from anon_core.measures.classes import sensitive_classes
from anon_core.measures.diversity.bands import in_bands
from anon_core.measures.diversity.closeness import t_closeness
from anon_core.measures.diversity.diversity import alpha_anonymity, distinct_diversity, entropy_diversity
from anon_core.measures.linkage.four_ks import FourK, KFigures, four_k, k_anonymity
from anon_core.measures.risk.attackers import Risk, risk
from anon_core.measures.risk.population import PopulationUniqueness, population_uniqueness
from anon_core.measures.utility import Utility, utility
from anon_core.policy import CountedValues, Distance

MAX_COVER = 5
"""Where people have several values, distinct l is counted up to this number, which also stands for more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SensitiveColumn:
    """
    What the classes give away about one sensitive column, required or not: the worst class of each measure.

    ``distinct_l`` (by people up to ``MAX_COVER``) and ``entropy_l`` are its l-diversity, ``largest_share`` what
    (alpha,k) limits, ``t_equal`` and ``t_ordered`` how far it is from the whole table. The first three count bands of
    numbers and dates; see ``counted`` of :func:`assess`.
    """

    name: str
    distinct_l: int
    entropy_l: float
    largest_share: float
    t_equal: float
    t_ordered: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Assessment:
    """The figures of a table. ``four`` and ``utility`` need the original and are None without it."""

    k: KFigures
    four: FourK | None
    risk: Risk
    population: PopulationUniqueness
    sensitive: tuple[SensitiveColumn, ...]
    utility: Utility | None


def assess(
    frequencies: FrequencyTable,
    quasi_identifiers: Sequence[str],
    *,
    k: int,
    sensitive: Sequence[str] = (),
    max_risk: float | None = None,
    sampling_fraction: float | None = None,
    comparison: Comparison | None = None,
    people: Comparison | None = None,
    weights: Mapping[str, float] | None = None,
    counted: Mapping[str, CountedValues] | None = None,
) -> Assessment:
    """
    Measure a table over its quasi-identifiers and sensitive columns.

    With a comparison of the rows, over the same quasi-identifiers, the other three k's and the loss are measured too.
    If the four k's count units, or other columns were recoded as well, ``people`` is the comparison for the four k's.
    Without it only exact k counts units, and the other three are not measured. ``weights`` are those of the columns by
    their priority. ``counted`` says what counts as one value of a sensitive column, by default bands of numbers and
    dates.

    :raises UnknownColumnError: a column is not in the table.
    :raises InvalidInputError: there are no rows, so every requirement would hold.
    """
    exact = k_anonymity(frequencies, quasi_identifiers, k=k)
    beside = people or comparison
    four = four_k(beside, k=k) if beside else None
    if four and beside and frequencies.units is not None and beside.after.units is None:
        four = four.of_people(exact)
    return Assessment(
        k=exact,
        four=four,
        risk=risk(frequencies, quasi_identifiers, k=k, max_risk=max_risk, sampling_fraction=sampling_fraction),
        population=population_uniqueness(frequencies, quasi_identifiers, sampling_fraction=sampling_fraction),
        sensitive=tuple(
            _sensitive(frequencies, quasi_identifiers, name, (counted or {}).get(name, CountedValues.BANDS))
            for name in sensitive
        ),
        utility=utility(comparison, weights, k=k) if comparison else None,
    )


def _sensitive(
    frequencies: FrequencyTable, quasi_identifiers: Sequence[str], name: str, counted: CountedValues
) -> SensitiveColumn:
    cells = frequencies.project([*quasi_identifiers, name])
    judged = in_bands(cells, name, counted)
    classes = sensitive_classes(cells, quasi_identifiers, name)
    diverse = classes if judged is cells else sensitive_classes(judged, quasi_identifiers, name)
    return SensitiveColumn(
        name=name,
        distinct_l=int(distinct_diversity(diverse, l=MAX_COVER).observed or 0),
        entropy_l=float(entropy_diversity(diverse, l=1).observed or 0.0),
        largest_share=float(alpha_anonymity(diverse, alpha=1.0).observed or 0.0),
        t_equal=float(t_closeness(classes, t=1.0, distance=Distance.EQUAL).observed or 0.0),
        t_ordered=float(t_closeness(classes, t=1.0, distance=Distance.ORDERED).observed or 0.0),
    )
