"""Privacy models where people have several rows: what is refused, in which words, and what is not measured."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from anon_core.errors import InvalidInputError
from anon_core.frequency import FrequencyTable
from anon_core.models import PrivacyModel, Subject
from anon_core.models.alpha_anonymity import AlphaAnonymity
from anon_core.models.common_values import CommonValues
from anon_core.models.freeform import NoFreeformBreach
from anon_core.models.half_of_class import HalfOfClass
from anon_core.models.k_anonymity import KAnonymity
from anon_core.models.l_diversity import LDiversity
from anon_core.models.max_rows_per_person import MaxRowsPerPerson
from anon_core.models.published_uniqueness import PublishedUniqueness
from anon_core.models.risk import MaxRisk
from anon_core.models.row_sets import RowSets
from anon_core.models.singletons import Singletons
from anon_core.models.t_closeness import TCloseness
from tests.properties.tables import Row, table_of

Q = ("town",)
ILL = "illness"


def subject(rows: Sequence[Row], *, people: bool = True) -> Subject:
    """A table of town, illness and person."""
    table = table_of(["town", ILL, "person"], rows)
    return Subject(
        names=("town", ILL),
        rows=lambda names: FrequencyTable.of(table, list(names)),
        people=(lambda names: FrequencyTable.of(table, list(names), unit="person")) if people else None,
    )


def distinct(l: float) -> LDiversity:  # noqa: E741
    return LDiversity(columns=Q, sensitive=ILL, values="each", kind="distinct", l=l, c=None)


ANN_FIVE_TIMES: list[Row] = [("Enna", "flu", "ann")] * 5


def test_five_rows_of_one_person_are_no_class_of_five() -> None:
    assert KAnonymity(columns=Q, k=5).measured(subject(ANN_FIVE_TIMES, people=False)).passed
    found = KAnonymity(columns=Q, k=5).measured(subject(ANN_FIVE_TIMES))
    assert not found.passed and found.observed == 1
    assert found.sentence.startswith("k-anonymity: smallest class has 1 person, 5 required over town; 1 person lies in")
    alone = Singletons(columns=Q, max_singletons=0).measured(subject(ANN_FIVE_TIMES))
    assert not alone.passed and "1 of 1 person is alone over town" in alone.sentence
    assert not MaxRisk(columns=Q, max_risk=0.2).measured(subject(ANN_FIVE_TIMES)).passed


def test_a_class_in_which_everybody_has_one_value_is_refused_whatever_else_they_have() -> None:
    rows: list[Row] = [("Enna", "HIV", name) for name in "abcd"]
    rows += [("Enna", ill, name) for ill, name in zip(["flu", "gout", "cold"], "abc", strict=True)]
    found = distinct(2).measured(subject(rows))
    assert not found.passed and found.observed == 1
    assert "1 of 1 class fails, 4 of 4 people" in found.sentence
    assert distinct(2).measured(subject(rows, people=False)).passed, "rows have four values"


def test_distinct_values_are_looked_for_up_to_what_is_required_and_the_sentence_says_so() -> None:
    rows: list[Row] = [("Enna", ill, name) for ill, name in zip("pqrst", "abcde", strict=True)]
    rows += [("Enna", "u", "a")]
    found = distinct(3).measured(subject(rows))
    assert found.passed and "in the worst class: at least 3, 3 required" in found.sentence
    assert distinct(5).measured(subject(rows)).passed
    assert not distinct(6).measured(subject(rows)).passed


def test_a_class_of_k_people_of_whom_one_has_most_rows_is_refused() -> None:
    rows: list[Row] = [("Enna", "flu", name) for name in "abcde"] + [("Enna", "flu", "ann")] * 20
    assert KAnonymity(columns=Q, k=5).measured(subject(rows)).passed
    found = HalfOfClass(columns=Q).measured(subject(rows))
    assert not found.passed and found.observed == 0.8
    assert "1 of 1 class fails, with 6 people: generalise further" in found.sentence
    fair: list[Row] = [("Enna", "flu", name) for name in "abcde"] + [("Enna", "flu", "ann")] * 5
    assert HalfOfClass(columns=Q).measured(subject(fair)).passed
    assert HalfOfClass(columns=Q).measured(subject([("Enna", "flu", "a"), ("Noto", "flu", "b")])).passed


def test_classes_that_have_one_value_in_common_are_refused() -> None:
    """Ann is in Enna and in Noto: flu or gout here, flu or cold there."""
    rows: list[Row] = [("Enna", "flu", "ann"), ("Enna", "gout", "bea"), ("Noto", "flu", "ann"), ("Noto", "cold", "cem")]
    assert distinct(2).measured(subject(rows)).passed
    found = CommonValues(columns=Q, sensitive=ILL, l=2.0).measured(subject(rows))
    assert not found.passed and found.observed == 1
    assert "all classes of a person have 1 value of illness in common, 2 required; 1 of 3 people have" in found.sentence
    changing = CommonValues(columns=Q, sensitive=ILL, l=2.0).measured(subject([*rows, ("Noto", "cold", "ann")]))
    assert changing.passed and "1 person of 3 has several values" in changing.sentence


def in_two_towns(number: int) -> list[Row]:
    """People who each have one row in Enna and one in Noto, with the same illness: these have only flu in common."""
    rows: list[Row] = [(town, "flu", f"p{n}") for n in range(number) for town in ("Enna", "Noto")]
    return [*rows, ("Enna", "gout", "bea"), ("Noto", "cold", "cem")]


@pytest.mark.parametrize(("changing", "passed"), [(0, False), (1, False), (2, True)])
def test_one_person_with_two_values_does_not_turn_the_check_of_common_values_off(changing: int, passed: bool) -> None:
    """Of 20 people with several rows one may have several values."""
    rows = [(town, "gout" if town == "Enna" and who in ("p0", "p1")[:changing] else ill, who)
            for town, ill, who in in_two_towns(20)]  # fmt: skip
    found = CommonValues(columns=Q, sensitive=ILL, l=2.0).measured(subject(rows))
    assert found.passed is passed and found.counts["people_changing"] == changing
    if changing == 1:
        assert (
            "1 person of 22 has several values of illness and is left out; 19 of 22 people have fewer" in found.sentence
        )


def test_incomes_a_euro_apart_are_one_common_value_and_make_no_changing_column() -> None:
    def pay(person: int, visit: int) -> str:
        return str(50_000 + 3 * person + visit)

    rows: list[Row] = [(town, pay(n, at), f"p{n}") for n in range(12) for at, town in enumerate(("Enna", "Noto"))]
    rows += [("Enna", "10000", "x"), ("Noto", "90000", "y")]
    found = CommonValues(columns=Q, sensitive=ILL, l=2.0).measured(subject(rows))
    assert not found.passed and found.observed == 1 and found.counts["people_changing"] == 0
    each = CommonValues(columns=Q, sensitive=ILL, values="each", l=2.0).measured(subject(rows))
    assert each.passed and each.counts["people_changing"] == 12
    with pytest.raises(InvalidInputError, match="values must be one of"):
        CommonValues(columns=Q, sensitive=ILL, values="some", l=2.0)


def test_row_sets_are_reported_and_nothing_is_required_of_them() -> None:
    rows: list[Row] = [("Enna", "x", name) for name in "abc"] + [("Noto", "x", name) for name in "ade"]
    found = RowSets(columns=Q, k=2).measured(subject(rows))
    assert found.passed and found.measured and found.required is None
    assert found.counts == {"people": 5, "people_by_all": 1, "people_by_two": 1}
    assert "1 of 5 people share all their classes over town with fewer than 2 people, 1 two of" in found.sentence


def test_a_person_with_too_many_rows_is_refused_with_how_many() -> None:
    found = MaxRowsPerPerson(columns=(), most=4).measured(subject(ANN_FIVE_TIMES))
    assert not found.passed and found.observed == 5
    assert "one person has up to 5 rows, 4 allowed; 1 of 1 person has more" in found.sentence
    assert MaxRowsPerPerson(columns=(), most=5).measured(subject(ANN_FIVE_TIMES)).passed


OF_PEOPLE: list[PrivacyModel] = [
    HalfOfClass(columns=Q),
    CommonValues(columns=Q, sensitive=ILL, l=2.0),
    RowSets(columns=Q, k=2),
    MaxRowsPerPerson(columns=(), most=4),
]


@pytest.mark.parametrize("model", OF_PEOPLE, ids=lambda model: model.key)
def test_what_is_about_people_is_not_measured_where_nobody_says_whose_the_rows_are(model: PrivacyModel) -> None:
    found = model.measured(subject(ANN_FIVE_TIMES, people=False))
    assert not found.passed and not found.measured
    assert "no column says whose the rows are" in found.sentence


def test_freeform_anonymity_is_not_measured_by_people_and_says_what_to_do() -> None:
    model = NoFreeformBreach(columns=Q, hierarchies={}, guards={}, sigma_o=1.0, sigma_t=0.5)
    found = model.measured(subject(ANN_FIVE_TIMES))
    assert not found.passed and not found.measured
    assert "cannot count people yet; remove `privacy.freeform`" in found.sentence


def test_only_k_singletons_risk_and_half_of_class_are_monotone_by_people() -> None:
    uniqueness = PublishedUniqueness(
        columns=Q, max_size=1, max_share=0.0, accepted=(), together=(), protected=(), quasi=()
    )
    models: list[PrivacyModel] = [
        KAnonymity(columns=Q, k=2),
        Singletons(columns=Q, max_singletons=0),
        MaxRisk(columns=Q, max_risk=0.5),
        distinct(2),
        AlphaAnonymity(columns=Q, sensitive=ILL, values="each", alpha=0.5, k=2),
        TCloseness(columns=Q, sensitive=ILL, t=0.5, distance="equal", hierarchy=None),
        uniqueness,
        *OF_PEOPLE,
    ]
    monotone = [one.key for one in models if one.monotone_by_people]
    assert monotone == ["k_anonymity", "no_singletons", "max_risk", "half_of_class"]
