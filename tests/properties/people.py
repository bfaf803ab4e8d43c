"""Tables in which people have several rows, some of them nobody's, and what is counted about them by plain sets."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from hypothesis import strategies as st

from anon_core.engines.arrow import ArrowEngine
from anon_core.frequency import FrequencyTable
from anon_core.plan import RecodingPlan
from anon_core.policy import AlphaEntry, Diversity, LDiversityEntry, TClosenessEntry
from anon_core.recoding.task import Task
from anon_core.spec import Recode, UtilityMeasure
from anon_core.table import Table
from tests.properties.required import LIMITS, SENSITIVE, policy_of
from tests.properties.tables import Cell, Row, Small, ladders_for, small_tables, table_of

PERSON = "person"
ModelEntry = LDiversityEntry | TClosenessEntry | AlphaEntry
ASKED: list[ModelEntry] = [
    LDiversityEntry(column=SENSITIVE, kind=Diversity.DISTINCT, l=2),
    LDiversityEntry(column=SENSITIVE, kind=Diversity.ENTROPY, l=1.5),
    TClosenessEntry(column=SENSITIVE, t=0.4),
    AlphaEntry(column=SENSITIVE, alpha=0.7),
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Crowded:
    """A table, the person of each row (None where nobody knows), the sensitive value of each row, and the task."""

    small: Small
    persons: tuple[Cell, ...]
    secrets: tuple[Cell, ...]
    task: Task
    required: tuple[ModelEntry, ...] = ()

    def table(self, rows: Sequence[Row] | None = None) -> Table:
        return whole(self.small.names, self.small.rows if rows is None else rows, self.secrets, self.persons)

    def published(self, plan: RecodingPlan) -> list[Row | None]:
        """What every row is published as, None where it is removed."""
        names = [domain.to_pylist() for domain in plan.frequencies.domains]
        tuples = list(zip(*(codes.tolist() for codes in plan.frequencies.codes), strict=True))
        at = {tuple(names[i][code] for i, code in enumerate(own)): number for number, own in enumerate(tuples)}
        labels = [ladder.labels.to_pylist() for ladder in plan.ladders]
        codes = [plan.released_codes(i) for i in range(len(labels))]
        numbers = [at[row] for row in self.small.rows]
        return [
            None if plan.removed[number] else tuple(labels[i][codes[i][number]] for i in range(len(labels)))
            for number in numbers
        ]

    def rows_of_classes(self, plan: RecodingPlan) -> dict[Row, list[Cell]]:
        """The person of each row of each published class."""
        found: dict[Row, list[Cell]] = {}
        for cells, person in zip(self.published(plan), self.persons, strict=True):
            if cells is not None:
                found.setdefault(cells, []).append(person)
        return found

    def classes(self, plan: RecodingPlan) -> dict[Row, set[Cell]]:
        """The people of each published class."""
        return {cells: set(persons) for cells, persons in self.rows_of_classes(plan).items()}


def is_filled(persons: Sequence[Cell]) -> bool:
    """Whether one person has more than half of the rows of a class, and more than one; rows of nobody do not count."""
    known = [person for person in persons if person is not None]
    most = max(Counter(known).values(), default=0)
    return most > 1 and 2 * most > len(known)


def people_in(persons: set[Cell]) -> int:
    """How many people a class has: rows of nobody are one person where there is no other."""
    return len(persons - {None}) or min(len(persons), 1)


def whole(names: Sequence[str], rows: Sequence[Row], secrets: Sequence[Cell], persons: Sequence[Cell]) -> Table:
    cells = [(*row, secret, person) for row, secret, person in zip(rows, secrets, persons, strict=True)]
    return table_of([*names, SENSITIVE, PERSON], cells)


@st.composite
def crowded(
    draw: st.DrawFn, *, diverse: bool = False, most: int = 6, unknown: bool = True, max_rows: int = 14
) -> Crowded:
    """Any small table in which a person has up to ``most`` rows, and any policy."""
    small = draw(small_tables(max_columns=3, max_rows=max_rows))
    rows = len(small.rows)
    persons: list[Cell] = []
    while len(persons) < rows:
        persons += [f"{len(persons):02}"] * draw(st.integers(1, most))
    persons = list(draw(st.permutations(persons[:rows])))
    if unknown:
        persons = [None if draw(st.integers(0, 9)) == 0 else person for person in persons]
    secrets = tuple(draw(st.lists(st.sampled_from(["x", "y", "z"]), min_size=rows, max_size=rows)))
    required = tuple(draw(st.lists(st.sampled_from(ASKED), min_size=1, max_size=2, unique_by=str))) if diverse else ()
    policy = policy_of(draw(st.integers(2, 4)), draw(st.sampled_from(LIMITS)), required)
    ladders = draw(ladders_for(small))
    settings = Recode(utility=draw(st.sampled_from(UtilityMeasure)))
    weights = draw(st.lists(st.sampled_from([1.0, 0.5]), min_size=len(small.names), max_size=len(small.names)))
    engine = ArrowEngine(table=whole(small.names, small.rows, secrets, persons), unit=PERSON)
    task = Task.of(
        engine.count(small.names),
        ladders,
        policy,
        weights=dict(zip(small.names, weights, strict=True)),
        sensitive={SENSITIVE: engine.count([*small.names, SENSITIVE])} if required else {},
        settings=settings,
        people=engine.people(small.names),
        sensitive_people={SENSITIVE: engine.people([*small.names, SENSITIVE])} if required else {},
    )
    return Crowded(small=small, persons=tuple(persons), secrets=secrets, task=task, required=required)


def rows_of(frequencies: FrequencyTable) -> list[Row]:
    """The distinct tuples of a table, as cells."""
    names = [domain.to_pylist() for domain in frequencies.domains]
    codes = zip(*(codes.tolist() for codes in frequencies.codes), strict=True)
    return [tuple(names[i][code] for i, code in enumerate(own)) for own in codes]
