"""Adult as ARX ships it, with the four experiments of Bampoulidis et al. and what the peers reach (BASELINE.md)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from anon_core.frequency import FrequencyTable
from anon_core.hierarchy.build import ladder
from anon_core.policy import Policy
from anon_core.recoding.task import Task
from anon_core.spec import Hierarchy, Recode
from anon_core.table import Table, read

# Most important first; columns of one priority stand together.
PRIORITIES = {
    1: "sex,salary-class race workclass,marital-status occupation education native-country age",
    2: "age native-country education occupation workclass,marital-status race sex,salary-class",
    3: "age sex native-country salary-class education race occupation workclass marital-status",
    4: "sex age salary-class native-country race education workclass occupation marital-status",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Reached:
    """What one program reaches in one experiment for one k."""

    nue: float
    wnue: float


_FIGURES = """
1 2  .8575 .8707 .9388 .9396
1 5  .7495 .7514 .8831 .8751
1 10 .6819 .6800 .8425 .8293
2 2  .8937 .8935 .9300 .9256
2 5  .7961 .7624 .8606 .8338
2 10 .7251 .6794 .8105 .7717
3 2  .8844 .8861 .9393 .9370
3 5  .7845 .7527 .8805 .8579
3 10 .7098 .6711 .8352 .8059
4 2  .8788 .8838 .9377 .9359
4 5  .7808 .7462 .8819 .8581
4 10 .7021 .6653 .8395 .8091
"""
_ROWS = [line.split() for line in _FIGURES.split("\n") if line]
CELLS = [(int(row[0]), int(row[1])) for row in _ROWS]
AUTHORS = {cell: Reached(nue=float(row[2]), wnue=float(row[4])) for cell, row in zip(CELLS, _ROWS, strict=True)}
ARX = {cell: Reached(nue=float(row[3]), wnue=float(row[5])) for cell, row in zip(CELLS, _ROWS, strict=True)}


def weights_of(experiment: int) -> dict[str, float]:
    """The weight of every column: (P - p + 1) / P."""
    ranks = [names.split(",") for names in PRIORITIES[experiment].split()]
    return {name: (len(ranks) - rank) / len(ranks) for rank, names in enumerate(ranks) for name in names}


def read_adult(folder: Path) -> Table:
    return read(folder / "adult_arx" / "adult.csv")


def task_of(
    adult: Table,
    folder: Path,
    policy: Policy,
    settings: Recode,
    *,
    quasi: Sequence[str] | None = None,
    weights: Mapping[str, float] | None = None,
) -> Task:
    """What a policy asks of Adult with the hierarchies of ARX, over all columns unless some are given."""
    quasi = adult.names if quasi is None else quasi
    hierarchies = {name: Hierarchy(file=f"adult_arx/hierarchy_{name}.csv") for name in quasi}
    sensitive = sorted({one.column for one in (*policy.l_diversity, *policy.t_closeness)})
    return Task.of(
        FrequencyTable.of(adult, quasi),
        [ladder(adult.column(name), hierarchies[name], folder) for name in quasi],
        policy,
        weights=weights,
        sensitive={name: FrequencyTable.of(adult, [*quasi, name]) for name in sensitive},
        settings=settings,
    )


def experiment_of(adult: Table, folder: Path, experiment: int, k: int, settings: Recode) -> Task:
    """One of the four experiments, with the one percent of the rows that may go."""
    policy = Policy(k=k, suppression_limit=0.01)
    return task_of(adult, folder, policy, settings, weights=weights_of(experiment))
