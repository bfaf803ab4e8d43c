"""What a policy asks of sensitive columns, drawn at random and checked by plain counting."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from math import exp, log

from hypothesis import strategies as st

from anon_core.errors import PolicyNotMetError
from anon_core.frequency import FrequencyTable
from anon_core.policy import AlphaEntry, Diversity, LDiversityEntry, PartialPolicy, Policy, TClosenessEntry
from anon_core.recoding.methods import recode
from anon_core.recoding.task import Recoding, Task
from anon_core.spec import Recode, UtilityMeasure
from tests.properties.tables import Cell, Small, ladders_for, small_tables

SENSITIVE = "illness"
LIMITS = ["0", "0", "0.1", "0.29", "0.5", "1"]
ROUNDING = 1e-9
ModelEntry = LDiversityEntry | TClosenessEntry | AlphaEntry

REQUIREMENTS: list[ModelEntry] = [
    LDiversityEntry(column=SENSITIVE, kind=Diversity.DISTINCT, l=2),
    LDiversityEntry(column=SENSITIVE, kind=Diversity.ENTROPY, l=1.5),
    LDiversityEntry(column=SENSITIVE, kind=Diversity.RECURSIVE, l=2, c=1.5),
    TClosenessEntry(column=SENSITIVE, t=0.3),
    AlphaEntry(column=SENSITIVE, alpha=0.6),
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """A table whose last column is sensitive, and everything that a recoding is given."""

    small: Small
    secrets: tuple[Cell, ...]
    task: Task
    required: tuple[ModelEntry, ...] = field(default=())

    @property
    def rows(self) -> int:
        return len(self.small.rows)

    def in_order(self, order: Sequence[int]) -> Problem:
        """The same problem with its rows in another order."""
        small = Small(names=self.small.names, rows=tuple(self.small.rows[n] for n in order))
        secrets = tuple(self.secrets[n] for n in order)
        return replace(self, small=small, secrets=secrets, task=self._task(small, secrets))

    def _task(self, small: Small, secrets: Sequence[Cell]) -> Task:
        task = self.task
        return Task.of(
            FrequencyTable.of(small.table),
            task.ladders,
            task.policy,
            weights=task.by_name,
            sensitive={SENSITIVE: with_secrets(small, secrets)} if self.required else {},
            settings=task.settings,
        )


@st.composite
def problems(draw: st.DrawFn, *, diverse: bool = False, max_columns: int = 3, max_rows: int = 10) -> Problem:
    """Any small table, ladders and policy; with ``diverse`` the policy asks something of the sensitive column."""
    small = draw(small_tables(max_columns=max_columns, max_rows=max_rows))
    rows = len(small.rows)
    secrets = tuple(draw(st.lists(st.sampled_from(["x", "y", "z", None]), min_size=rows, max_size=rows)))
    required = (
        tuple(draw(st.lists(st.sampled_from(REQUIREMENTS), min_size=1, max_size=2, unique_by=str))) if diverse else ()
    )
    weights = draw(st.lists(st.sampled_from([1.0, 0.5, 0.25]), min_size=len(small.names), max_size=len(small.names)))
    policy = policy_of(draw(st.integers(2, 4)), draw(st.sampled_from(LIMITS)), required)
    settings = Recode(utility=draw(st.sampled_from(UtilityMeasure)))
    return Problem(
        small=small,
        secrets=secrets,
        required=required,
        task=Task.of(
            FrequencyTable.of(small.table),
            draw(ladders_for(small)),
            policy,
            weights=dict(zip(small.names, weights, strict=True)),
            sensitive={SENSITIVE: with_secrets(small, secrets)} if required else {},
            settings=settings,
        ),
    )


def policy_of(k: int, limit: str, required: Sequence[ModelEntry]) -> PartialPolicy:
    return Policy(
        k=k,
        suppression_limit=float(limit),
        l_diversity=tuple(one for one in required if isinstance(one, LDiversityEntry)),
        t_closeness=tuple(one for one in required if isinstance(one, TClosenessEntry)),
        alpha=tuple(one for one in required if isinstance(one, AlphaEntry)),
    )


def with_secrets(small: Small, secrets: Sequence[Cell]) -> FrequencyTable:
    """The table counted together with its sensitive column."""
    rows = tuple((*row, secret) for row, secret in zip(small.rows, secrets, strict=True))
    return FrequencyTable.of(Small(names=(*small.names, SENSITIVE), rows=rows).table)


def holds(required: ModelEntry, secrets: Sequence[Cell], whole: Sequence[Cell]) -> bool:
    """Whether a class with these sensitive values keeps a requirement; closeness is held to ``whole``."""
    counts = sorted(Counter(secrets).values(), reverse=True)
    size = len(secrets)
    if isinstance(required, AlphaEntry):
        return Fraction(counts[0], size) <= Fraction(str(required.alpha))
    if isinstance(required, TClosenessEntry):
        mine, all_ = Counter(secrets), Counter(whole)
        away = sum(abs(mine[value] / size - all_[value] / len(whole)) for value in all_ | mine) / 2
        return away <= required.t + ROUNDING
    if required.kind is Diversity.DISTINCT:
        return len(counts) >= required.l
    if required.kind is Diversity.ENTROPY:
        return exp(-sum(n / size * log(n / size) for n in counts)) >= required.l * (1 - ROUNDING)
    return counts[0] < Fraction(str(required.c)) * sum(counts[int(required.l) - 1 :])


def solved(task: Task) -> Recoding | None:
    """Recode a table; None where the policy cannot be met, which is said of all its rows."""
    try:
        return recode(task)
    except PolicyNotMetError as error:
        assert error.rows == task.frequencies.rows
        return None
