"""Every privacy model that counts people, measured of a table, against sets of people in plain Python."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from itertools import combinations

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from anon_core.frequency import FrequencyTable
from anon_core.models import MODELS, Measurement, PrivacyModel, Subject
from anon_core.models.alpha_anonymity import AlphaAnonymity
from anon_core.models.common_values import CommonValues
from anon_core.models.half_of_class import HalfOfClass
from anon_core.models.homogeneity import Homogeneity
from anon_core.models.joint_classes import JointClasses
from anon_core.models.k_anonymity import KAnonymity
from anon_core.models.l_diversity import LDiversity
from anon_core.models.max_rows_per_person import MaxRowsPerPerson
from anon_core.models.published_identifier import NoPublishedIdentifier
from anon_core.models.published_uniqueness import PublishedUniqueness
from anon_core.models.risk import MaxRisk
from anon_core.models.row_sets import RowSets
from anon_core.models.sensitive_alone import SensitiveAlone
from anon_core.models.sensitivity import MaxSensitivity
from anon_core.models.singletons import Singletons
from anon_core.models.t_closeness import TCloseness
from anon_core.models.unique_with_sensitive import UniqueWithSensitive
from tests.properties.persons import PERSON, alone, entries, everybody, members, persons, projected
from tests.properties.sensitive import Class
from tests.properties.tables import Cell, Row, table_of

NAMES = ("town", "sex", "illness", "service", "office")
QUASI, SENSITIVE, OTHER = NAMES[:2], NAMES[2:4], NAMES[4:]
ELSEWHERE = {
    "k_beside_original": "test_linkage",
    "joint_beside_original": "test_linkage",
}
"""Models that need the originals, and the module that holds them against sets of people."""
Found = tuple[bool, object]
"""Whether a model holds, and what it observes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Crowd:
    """Rows, and the person of each; None where nobody knows."""

    rows: tuple[Row, ...]
    people: tuple[Cell, ...]

    def keys(self, columns: Sequence[str]) -> list[Row]:
        return [tuple(row[NAMES.index(name)] for name in columns) for row in self.rows]

    def values(self, name: str) -> list[Cell]:
        return [row[NAMES.index(name)] for row in self.rows]

    def classes(self, columns: Sequence[str] = QUASI) -> dict[Hashable, set[Hashable]]:
        return members(self.keys(columns), self.people)

    def sensitive(self, name: str = "illness") -> list[Class]:
        found = entries(self.keys(QUASI), self.values(name), self.people)
        return [Class.of(pairs) for pairs in found.values()]

    @property
    def known(self) -> set[Hashable]:
        return set(self.people) - {None}

    @property
    def number(self) -> int:
        return len(self.known) or 1

    @property
    def times(self) -> Counter[Hashable]:
        return Counter(person for person in self.people if person is not None)

    @property
    def subject(self) -> Subject:
        table = table_of((*NAMES, PERSON), projected(self.rows, self.people))
        return Subject(
            names=NAMES,
            rows=lambda names: FrequencyTable.of(table, list(names)),
            people=lambda names: FrequencyTable.of(table, list(names), unit=PERSON),
        )


@st.composite
def crowds(draw: st.DrawFn) -> Crowd:
    """People with 1 to 6 rows each, and rows of nobody known."""
    cells = (st.sampled_from(["A", "B", None]), st.sampled_from("FM"), st.sampled_from(["flu", "cold", "HIV", None]))
    rows = draw(st.lists(st.tuples(*cells, st.sampled_from("xy"), st.sampled_from("12")), min_size=1, max_size=30))
    return Crowd(rows=tuple(rows), people=tuple(draw(persons(len(rows)))))


def k(crowd: Crowd) -> Found:
    smallest = min(map(len, crowd.classes().values()))
    return smallest >= 2, smallest


def joint(crowd: Crowd) -> Found:
    smallest = min(map(len, crowd.classes((*QUASI, *OTHER)).values()))
    return smallest >= 2, smallest


def singletons(crowd: Crowd) -> Found:
    found = len(alone(crowd.keys(QUASI), crowd.people))
    return found <= 1, found


def risk(crowd: Crowd) -> Found:
    smallest = min(map(len, crowd.classes().values()))
    return 1 / smallest <= 0.5, pytest.approx(1 / smallest)


def distinct(crowd: Crowd) -> Found:
    fewest = min(one.smallest_cover for one in crowd.sensitive())
    return fewest >= 2, ANY if fewest > 2 else fewest


def entropy(crowd: Crowd) -> Found:
    least = min(math.exp(-sum(share * math.log(share) for share in one.shares.values())) for one in crowd.sensitive())
    return least >= 1.5 * (1 - 1e-9), pytest.approx(least)


def recursive(crowd: Crowd) -> Found:
    def holds(one: Class) -> bool:
        counts = sorted(one.counts.values(), reverse=True)
        return len(counts) >= 2 and counts[0] < 3 * sum(counts[1:])

    return all(map(holds, crowd.sensitive())), ANY


def alpha(crowd: Crowd) -> Found:
    largest = max(max(one.counts.values()) / len(one.units) for one in crowd.sensitive())
    return largest <= 0.75, pytest.approx(largest)


def closeness(crowd: Crowd) -> Found:
    by_value = members(crowd.values("illness"), crowd.people)
    whole = Class.of({(unit, value) for value, some in by_value.items() for unit in some}).shares  # type: ignore[misc]
    far = max(
        sum(abs(one.shares.get(value, 0) - share) for value, share in whole.items()) / 2 for one in crowd.sensitive()
    )
    return far <= 0.4 + 1e-9, pytest.approx(far, abs=1e-9)


def certain(crowd: Crowd) -> Found:
    inside = [one.units for one in crowd.sensitive() if max(one.counts.values()) == len(one.units)]
    return True, len(everybody(inside))


def common(crowd: Crowd) -> Found:
    own: dict[Hashable, set[Cell]] = {}
    classes: dict[Hashable, set[Row]] = {}
    for person, key, value in zip(crowd.people, crowd.keys(QUASI), crowd.values("illness"), strict=True):
        if person is not None:
            own.setdefault(person, set()).add(value)
            classes.setdefault(person, set()).add(key)
    changing = sum(len(some) > 1 for some in own.values())
    if not own or 20 * changing > sum(rows > 1 for rows in crowd.times.values()):
        return True, None
    inside = entries(crowd.keys(QUASI), crowd.values("illness"), crowd.people)
    left = [
        len(set.intersection(*({value for _, value in inside[key]} for key in classes[person])))
        for person, some in own.items()
        if len(some) == 1
    ]
    return min(left) >= 2, min(2, *left)


def half(crowd: Crowd) -> Found:
    inside = crowd.classes()
    rows: dict[Hashable, Counter[Hashable]] = {key: Counter() for key in inside}
    for key, person in zip(crowd.keys(QUASI), crowd.people, strict=True):
        of = ("nobody", key) if person is None else person
        rows[key].update([of] * (of in inside[key]))
    shares = [times / own.total() for own in rows.values() for times in own.values() if times > 1]
    largest = max(shares, default=0.0)
    return largest <= 0.5, pytest.approx(largest)


def most_rows(crowd: Crowd) -> Found:
    most = max(crowd.times.values(), default=len(crowd.rows))
    return most <= 3, most


def sets_of_rows(crowd: Crowd) -> Found:
    own: dict[Hashable, set[Row]] = {}
    for person, key in zip(crowd.people, crowd.keys(QUASI), strict=True):
        if person is not None:
            own.setdefault(person, set()).add(key)
    return True, sum(sum(mine == other for other in own.values()) < 2 for mine in own.values())


def rare(crowd: Crowd) -> Found:
    """A pair counts where each of its values is common; rows of nobody that are alone are one by all their values."""
    single = [crowd.classes((name,)) for name in SENSITIVE]
    found: set[Hashable] = set()
    for size in (1, 2):
        for columns in combinations(SENSITIVE, size):
            inside = crowd.classes(columns)
            for key, cells, person in zip(crowd.keys(columns), crowd.keys(SENSITIVE), crowd.people, strict=True):
                common = size == 1 or all(len(of[value,]) >= 2 for of, value in zip(single, key, strict=True))
                if common and len(inside[key]) < 2 and (person is not None or not inside[key] & crowd.known):
                    found.add(("nobody", cells) if person is None else person)
    return len(found) <= crowd.number // 10, len(found)


def unique(crowd: Crowd) -> Found:
    share = len(alone(crowd.keys(NAMES), crowd.people)) / crowd.number
    return share <= 0.5, pytest.approx(share)


def identifiers(crowd: Crowd) -> Found:
    shares = []
    for name in ("town", "office"):
        known = [(v, p) for v, p in zip(crowd.values(name), crowd.people, strict=True) if v is not None]
        keys, people = [value for value, _ in known], [person for _, person in known]
        inside = members(keys, people)
        shares.append(len(alone(keys, people)) / len(everybody(inside.values())) if known else 0.0)
    return max(shares) < 0.9, pytest.approx(max(shares))


def sets_of_columns(crowd: Crowd) -> Found:
    too_many = [
        set(columns)
        for size in (1, 2)
        for columns in combinations(NAMES, size)
        if len(alone(crowd.keys(columns), crowd.people)) > 0.25 * crowd.number
    ]
    minimal = [one for one in too_many if not any(other < one for other in too_many)]
    return not minimal, len(minimal)


class _Any:
    """Equal to anything: what is observed there is held against plain Python where the measure itself is tested."""

    def __eq__(self, other: object) -> bool:
        return True

    __hash__ = None  # type: ignore[assignment]


ANY = _Any()
ILL = {"columns": QUASI, "sensitive": "illness"}
CASES: list[tuple[PrivacyModel, Callable[[Crowd], Found]]] = [
    (KAnonymity(columns=QUASI, k=2), k),
    (JointClasses(columns=(*QUASI, *OTHER), k=2, others=OTHER), joint),
    (Singletons(columns=QUASI, max_singletons=1), singletons),
    (MaxRisk(columns=QUASI, max_risk=0.5), risk),
    (LDiversity(**ILL, kind="distinct", l=2.0), distinct),
    (LDiversity(**ILL, kind="entropy", l=1.5), entropy),
    (LDiversity(**ILL, kind="recursive", l=2.0, c=3.0), recursive),
    (AlphaAnonymity(**ILL, alpha=0.75, k=1), alpha),
    (TCloseness(**ILL, t=0.4), closeness),
    (Homogeneity(**ILL), certain),
    (CommonValues(**ILL, l=2.0), common),
    (HalfOfClass(columns=QUASI), half),
    (MaxRowsPerPerson(columns=(), most=3), most_rows),
    (RowSets(columns=QUASI, k=2), sets_of_rows),
    (SensitiveAlone(columns=SENSITIVE, k=2, max_share=0.1), rare),
    (UniqueWithSensitive(columns=NAMES, limit=0.5), unique),
    (NoPublishedIdentifier(columns=("town", "office"), share=0.9), identifiers),
    (PublishedUniqueness(columns=NAMES, max_size=2, max_share=0.25), sets_of_columns),
]
ALONE = Crowd(rows=(("A", "F", "flu", "x", "1"),) * 6, people=("p",) * 6)
NOBODY_KNOWN = Crowd(rows=(("A", "F", "flu", "x", "1"),) * 6, people=(None,) * 6)
SPLIT = Crowd(rows=tuple((t, "F", i, "x", "1") for t in "AB" for i in ("flu", "cold", "HIV")), people=("p",) * 6)
ONE_CLASS = Crowd(rows=(("A", "F", "flu", "x", "1"),) * 7, people=("p", "p", "q", "q", "r", None, None))


def test_every_model_that_counts_people_is_held_against_sets_of_people() -> None:
    counting = {key for key, model in MODELS.members().items() if model.counts_people}
    assert counting == {model.key for model, _ in CASES} | set(ELSEWHERE) | {"max_sensitivity"}


@pytest.mark.parametrize(("model", "by_hand"), CASES, ids=[f"{one.key} {by.__name__}" for one, by in CASES])
def test_a_model_measures_sets_of_people(model: PrivacyModel, by_hand: Callable[[Crowd], Found]) -> None:
    @settings(max_examples=150, deadline=None)
    @given(crowd=crowds())
    @example(crowd=ALONE)
    @example(crowd=NOBODY_KNOWN)
    @example(crowd=SPLIT)
    @example(crowd=ONE_CLASS)
    def compare(crowd: Crowd) -> None:
        found = model.measure(crowd.subject)
        passed, observed = by_hand(crowd)
        assert (passed, observed) == (found.passed, found.observed)

    compare()


@settings(max_examples=60, deadline=None)
@given(crowd=crowds(), copies=st.integers(2, 4))
def test_more_equal_rows_of_the_same_people_make_nothing_safer(crowd: Crowd, copies: int) -> None:
    """Rows are cheap: whoever repeats them must not get past a model that counts people."""
    more = Crowd(rows=crowd.rows * copies, people=crowd.people * copies)

    def found(model: PrivacyModel, one: Crowd) -> Measurement:
        return model.measure(one.subject)

    for model, _ in CASES:
        if isinstance(model, HalfOfClass | MaxRowsPerPerson | CommonValues):
            assert found(model, crowd).passed or not found(model, more).passed, model.key
        else:
            assert (found(model, more).passed, found(model, more).observed) == (
                found(model, crowd).passed,
                found(model, crowd).observed,
            ), model.key


@settings(max_examples=60, deadline=None)
@given(crowd=crowds())
def test_sensitivity_counts_people_in_the_sets_on_which_they_are_alone(crowd: Crowd) -> None:
    """Of one row each people are rows, so both ways must agree; the sets themselves are tried by brute force apart."""
    model = MaxSensitivity(
        columns=NAMES,
        limit=0.5,
        max_size=3,
        approximate=0.25,
        ignore_duplicates=False,
        reveal=dict.fromkeys(NAMES, 0.5),
    )
    once = Crowd(rows=crowd.rows, people=tuple(f"p{at}" for at in range(len(crowd.rows))))
    table = table_of(NAMES, list(crowd.rows))
    rows = Subject(names=NAMES, rows=lambda names: FrequencyTable.of(table, list(names)))
    one, other = model.measured(once.subject), model.measured(rows)
    assert (one.passed, one.observed, one.measured) == (other.passed, other.observed, other.measured)
