"""What recoding finds diverse beside rows that it removes is diverse without them, by bands too."""

from __future__ import annotations

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from anon_core.errors import PolicyNotMetError
from anon_core.frequency import FrequencyTable
from anon_core.hierarchy.ladder import climb
from anon_core.policy import AlphaEntry, LDiversityEntry, Policy
from anon_core.recoding.compliance import shortfalls
from anon_core.recoding.methods import recode
from anon_core.recoding.task import Task
from anon_core.spec import Recode
from tests.properties.tables import table_of

PAY = st.one_of(st.integers(0, 60).map(str), st.sampled_from(["5000", "n/a", "60.0"]))
ROWS = st.lists(st.tuples(st.sampled_from("ABCD"), PAY), min_size=12, max_size=40)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(rows=ROWS, limit=st.sampled_from([0.0, 0.2, 0.5]), method=st.sampled_from(["global", "prioritised"]))
def test_a_recoding_that_ends_keeps_the_diversity_of_bands(
    rows: list[tuple[str, str]], limit: float, method: str
) -> None:
    table = table_of(("town", "pay"), rows)
    tuples = FrequencyTable.of(table, ["town"])
    paths = {"A": ["N"], "B": ["N"], "C": ["S"], "D": ["S"]}
    ladder = climb("town", tuples.domains[0], {town: paths[town] for town in paths}, ["half", "root"])
    policy = Policy(
        k=2,
        suppression_limit=limit,
        l_diversity=(LDiversityEntry(column="pay", l=2),),
        alpha=(AlphaEntry(column="pay", alpha=0.7),),
    )
    task = Task.of(
        tuples,
        [ladder],
        policy,
        sensitive={"pay": FrequencyTable.of(table, ["town", "pay"])},
        settings=Recode.model_validate({"method": method}),
    )
    try:
        plan = recode(task).plan
    except PolicyNotMetError:
        return
    assert not shortfalls(task, plan)
