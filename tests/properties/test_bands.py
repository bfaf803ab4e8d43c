"""Bands of numbers and dates: what counts as one value where diversity is judged."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, timedelta
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anon_core.engines.arrow import ArrowEngine
from anon_core.measures.diversity.bands import MAX_COARSENED, MIN_BANDED, MIN_BANDS, bands
from anon_core.models import Subject
from anon_core.models.alpha_anonymity import AlphaAnonymity
from anon_core.models.l_diversity import LDiversity
from anon_core.models.t_closeness import TCloseness
from anon_core.policy import CountedValues
from tests.properties.tables import table_of

NUMBERS = st.one_of(
    st.integers(-(10**6), 10**6).map(str),
    st.integers(-(10**25), 10**25).map(str),
    st.decimals(-1000, 1000, places=2, allow_nan=False).map(lambda number: f"{number:f}"),
)
OTHERS = st.sampled_from(["n/a", "150000 or more", "*", "", "x"])
COLUMNS = st.lists(st.one_of(NUMBERS, NUMBERS, NUMBERS, OTHERS), min_size=1, max_size=40, unique=True)


def groups(values: Sequence[str | None], how: CountedValues = CountedValues.BANDS) -> set[frozenset[str | None]]:
    """Return which values count as one."""
    domain = pa.array(values, pa.string())
    found = bands(domain, np.ones(len(values), np.bool_), how)
    codes = range(len(values)) if found is None else found.tolist()
    together: dict[int, set[str | None]] = {}
    for code, value in zip(codes, values, strict=True):
        together.setdefault(code, set()).add(value)
    return {frozenset(one) for one in together.values()}


def is_number(value: str) -> bool:
    try:
        Fraction(value)
    except ValueError:
        return False
    return True


@settings(max_examples=200, deadline=None)
@given(values=COLUMNS)
def test_a_band_is_the_largest_power_of_two_that_is_at_most_a_tenth_of_the_range(values: list[str]) -> None:
    numbers = {value: Fraction(value) for value in values if is_number(value)}
    distinct = set(numbers.values())
    if len(distinct) < MIN_BANDED:
        expected: dict[str, object] = dict(numbers)
    else:
        width = Fraction(1)
        tenth = (max(distinct) - min(distinct)) / MIN_BANDS
        while width > tenth:
            width /= 2
        while width * 2 <= tenth:
            width *= 2
        expected = {value: number // width for value, number in numbers.items()}
    brute: dict[object, set[str]] = {}
    for value in values:
        brute.setdefault(expected.get(value, value), set()).add(value)
    assert groups(values) == {frozenset(one) for one in brute.values()}


@settings(max_examples=200, deadline=None)
@given(values=COLUMNS, how=st.sampled_from(CountedValues), data=st.data())
def test_without_some_values_bands_stay_or_get_finer(
    values: list[str], how: CountedValues, data: st.DataObject
) -> None:
    left = data.draw(st.lists(st.sampled_from(values), min_size=1, unique=True))
    before = groups(values, how)
    assert all(any(one <= other for other in before) for one in groups(left, how))


def test_fifty_thousand_and_one_more_are_one_value_whatever_else_stands_in_the_column() -> None:
    pay = [str(50_000 + n) for n in range(5)] + [str(n) for n in range(0, 100_000, 9_000)]
    for other in ((), ("unknown", "*"), (None,)):
        found = groups([*pay, *other])
        assert any({"50000", "50001", "50004"} <= one for one in found)
        assert all(frozenset([value]) in found for value in other)


def test_few_different_numbers_are_categories() -> None:
    codes = ["1", "2", "3", "4", "5", "99"]
    assert groups(codes) == {frozenset([code]) for code in codes}


def test_spellings_of_one_amount_are_one_value_but_codes_are_not() -> None:
    amounts = ["1,000.00", "1000", "1000.0", "€ 1000", "1 000", "\u0661\u0660\u0660\u0660", "2000"]
    assert groups(amounts) == {frozenset(amounts[:-1]), frozenset(["2000"])}
    assert groups(["3,5", "3.50", "0,25"]) == {frozenset(["3,5", "3.50"]), frozenset(["0,25"])}
    assert groups(["1.234,50", "1.234", "1234"]) == {frozenset(["1.234", "1234"]), frozenset(["1.234,50"])}
    assert groups(["01", "1"], CountedValues.EACH) == {frozenset(["01"]), frozenset(["1"])}


def test_dates_count_by_bands_in_whatever_form_each_is_written() -> None:
    days = [date(1950, 1, 1) + timedelta(days=700 * n) for n in range(20)]
    iso = [day.isoformat() for day in days]
    dotted = [f"{day.day}.{day.month}.{day.year} 10:00" for day in days]
    slashed = [f"{day.day:02}/{day.month:02}/{day.year}" for day in days]
    found = groups([*iso, *dotted, *slashed, "31/31/1950"])
    assert len(found) < 20 and frozenset(["31/31/1950"]) in found
    for three in zip(iso, dotted, slashed, strict=True):
        assert any(set(three) <= one for one in found)


def test_a_coarsened_column_counts_each_value_unless_coarsening_left_too_many() -> None:
    rounded = [str(1000 * n) for n in range(MAX_COARSENED)]
    assert len(groups([*rounded, "200000 or more"], CountedValues.COARSENED)) == MAX_COARSENED + 1
    unrounded = [str(n) for n in range(MAX_COARSENED + 1)]
    assert len(groups(unrounded, CountedValues.COARSENED)) <= 2 * MIN_BANDS + 1


def diversity(values: str, kind: str = "distinct", c: float | None = None) -> LDiversity:
    return LDiversity(columns=("town",), sensitive="pay", values=values, kind=kind, l=2, c=c)


ASKED = (diversity("bands"), diversity("bands", "entropy"), diversity("bands", "recursive", 2.0))
SHARE = AlphaAnonymity(columns=("town",), sensitive="pay", values="bands", alpha=0.8, k=2)


def subject_of(rows: Sequence[tuple[str, str]]) -> Subject:
    engine = ArrowEngine(table=table_of(("town", "pay"), rows))
    return Subject(names=engine.names, rows=engine.count)


@pytest.mark.parametrize("model", [*ASKED, SHARE], ids=lambda model: model.name)
def test_a_class_whose_salaries_are_a_euro_apart_is_not_diverse(model: LDiversity | AlphaAnonymity) -> None:
    spread = [("Enna", str(7_000 * n)) for n in range(15)]
    close = [("Noto", str(50_000 + n)) for n in range(5)]
    found = model.measure(subject_of([*spread, *close]))
    assert not found.passed and found.rows_at_risk == 5
    assert "set `coarsen`" in found.sentence and "50000" not in found.sentence
    assert model.measure(subject_of(spread)).passed


@settings(max_examples=60, deadline=None)
@given(
    rows=st.lists(st.tuples(st.sampled_from("AB"), st.integers(0, 400).map(str)), min_size=12, max_size=40),
    kind=st.sampled_from([("distinct", None), ("entropy", None), ("recursive", 1.5)]),
)
def test_bands_are_never_less_strict_than_values(rows: list[tuple[str, str]], kind: tuple[str, float | None]) -> None:
    subject = subject_of(rows)
    by_bands, by_values = (diversity(values, *kind).measure(subject) for values in ("bands", "each"))
    assert by_values.passed or not by_bands.passed
    shares = [
        AlphaAnonymity(columns=("town",), sensitive="pay", values=values, alpha=0.8, k=1).measure(subject).observed
        for values in ("bands", "each")
    ]
    assert float(str(shares[0])) >= float(str(shares[1]))


def test_closeness_stays_on_values_for_bands_would_hide_a_class_with_one_rare_gain() -> None:
    """Nine of ten gain nothing, and by bands the small gains with them; a class in which all gain 700 is unlike."""
    rows = [("Enna", "0")] * 900 + [("Enna", str(100 * n)) for n in range(1, 96)] + [("Noto", "700")] * 5
    equal = TCloseness(columns=("town",), sensitive="pay", t=0.3, distance="equal", hierarchy=None)
    assert float(str(equal.measure(subject_of(rows)).observed)) > 0.99


def test_spellings_of_one_word_are_one_value_unless_each_counts() -> None:
    spelled = [
        "HIV",
        "hiv",
        "Hiv ",
        "HIV\u200b",
        "\uff28IV",
        "flu",
        "heart attack",
        "Heart  attack",
        "heart\u00a0attack",
    ]
    assert groups([*spelled, None]) == {
        frozenset(spelled[:5]), frozenset({"flu"}), frozenset(spelled[6:]), frozenset({None})
    }  # fmt: skip
    assert len(groups(spelled, CountedValues.COARSENED)) == 3
    assert len(groups(spelled, CountedValues.EACH)) == len(spelled)


def test_a_class_of_one_illness_in_three_spellings_is_not_diverse() -> None:
    rows = [(sex, ill) for sex in "FM" for ill in ("HIV", "hiv", "Hiv ")] * 3
    engine = ArrowEngine(table=table_of(["sex", "ill"], rows))
    model = LDiversity(columns=("sex",), sensitive="ill", values="bands", kind="distinct", l=2, c=None)
    found = model.measured(Subject(names=("sex", "ill"), rows=engine.count))
    assert not found.passed and found.observed == 1
