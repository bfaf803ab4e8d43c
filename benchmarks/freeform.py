"""How long it takes to find freeform attacks in Adult and to get rid of them, and how both grow.

Adult: 9 columns, ARX's hierarchies, guards on occupation, native-country and salary-class; the folder adult_arx is
looked for in the one that ANON_REFERENCE_DATA names. Then a million rows, once Adult 33 times below itself and once
with cells drawn anew, so that there are many more distinct tuples; growth with rows and with columns; and a check in
plain pandas, one group-by for every target, whose threats are compared. Seconds are after loading and compiling.
"""

from __future__ import annotations

import argparse
import os
import platform
import time
from dataclasses import dataclass, replace
from importlib.metadata import version
from pathlib import Path

import numpy as np
import pandas as pd  # noqa: TID253 - the peer
from timing import best_of

import anon_core.kernels.compiled  # noqa: F401, TID253 - what is measured is the work, not loading numba
from anon_core.engines.arrow import ArrowEngine
from anon_core.frequency import FrequencyTable
from anon_core.measures.freeform import Definition, check_freeform
from anon_core.plan import RecodingPlan
from anon_core.policy import Belief, Freeform, Guard, PartialPolicy
from anon_core.recoding.freeform.search import recode_freeform
from anon_core.recoding.freeform_problem import FreeformProblem
from anon_core.recoding.task import Task
from anon_core.spec import PartialPublication, Recode
from anon_core.table import Column, Table, read

TIMES = 33
POLICY = Freeform(
    sigma_o=1,
    sigma_t=0.5,
    columns={
        "occupation": Guard(guard=("Handlers-cleaners", "Priv-house-serv", "Protective-serv", "Armed-Forces")),
        "native-country": Guard(guard=("Asia", "Mexico", "Cuba")),
        "salary-class": Guard(guard=(">50K",), observability=Belief(belief={"default": 0}, boost=1)),
    },
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Adult:
    """The table and the publication file that it would have."""

    table: Table
    publication: PartialPublication

    @classmethod
    def loaded(cls, folder: Path) -> Adult:
        table = read(folder / "adult.csv")
        columns = {
            name: {"role": "quasi", "hierarchy": {"file": str(folder / f"hierarchy_{name}.csv")}}
            for name in table.names
        }
        return cls(table=table, publication=PartialPublication.model_validate({"columns": columns}))

    def of_columns(self, count: int) -> Adult:
        """Return the guarded columns and some others, the first ones of the table."""
        others = [name for name in self.table.names if name not in POLICY.columns]
        names = [*POLICY.columns, *others[: count - len(POLICY.columns)]]
        columns = {name: column for name, column in self.publication.columns.items() if name in names}
        return Adult(
            table=self.table.select([name for name in self.table.names if name in names]),
            publication=self.publication.model_copy(update={"columns": columns}),
        )

    def of_rows(self, rows: int, *, redrawn: bool = False) -> Adult:
        """Return so many rows: the first ones, Adult again and again, or every cell by chance from one like its own."""
        draw = np.random.Generator(np.random.PCG64(1))
        which = np.arange(rows) % self.table.rows
        columns = []
        for column in self.table.columns:
            codes = column.codes[which]
            if redrawn:  # One cell in five comes from another row: single columns stay as they are, tuples multiply.
                other = draw.random(rows) < 0.2
                codes = np.where(other, column.codes[draw.integers(0, self.table.rows, rows)], codes).astype(np.int32)
            columns.append(Column(name=column.name, codes=codes, domain=column.domain))
        return replace(self, table=Table(columns=tuple(columns), rows=rows))

    @property
    def problem(self) -> FreeformProblem:
        return FreeformProblem.of_table(self.publication, POLICY, ArrowEngine(table=self.table), {})


def published(problem: FreeformProblem) -> FrequencyTable:
    """Return the table as collected, as labels of the taxonomies."""
    codes = problem.frequencies.codes
    return problem.published([one.maps[0][own] for one, own in zip(problem.ladders, codes, strict=True)])


def task_of(problem: FreeformProblem) -> Task:
    task = Task.of(
        problem.frequencies,
        problem.ladders,
        PartialPolicy(k=2, freeform=POLICY),
        settings=Recode(method="freeform"),
    )
    return replace(task, freeform=problem)


def line(told: str, adult: Adult, *, searched: bool = True) -> None:
    """Print what a table costs: making distinct tuples and taxonomies of it, a check, and the search."""
    problem = adult.problem
    prepared = best_of(2, lambda: adult.problem)
    labels = published(problem)
    check = best_of(5, lambda: check_freeform(labels, problem.columns, POLICY.sigma_t))
    found = check_freeform(labels, problem.columns, POLICY.sigma_t)
    search = ""
    if searched:
        start = time.perf_counter()
        recoding = recode_freeform(task_of(problem))
        seconds = time.perf_counter() - start
        left = next(one for one in recoding.candidates if one.elected).nue or 0.0
        beside = next(one for one in recoding.candidates if not one.elected).nue or 0.0
        search = f"{seconds:>8.2f} s {left:>7.4f} {beside:>7.4f}"
    print(
        f"  {told:<26} {adult.table.rows:>10,} {problem.frequencies.tuples:>9,} {len(problem.columns):>7}"
        f" {prepared:>7.3f} s {check:>7.4f} s {found.breaches:>8,}{search}",
        flush=True,
    )


def head(told: str) -> None:
    print(f"{told}\n  {'':<26} {'rows':>10} {'tuples':>9} {'columns':>7} {'counting':>9} {'check':>9} {'breaches':>8}"
          f"{'search':>10} {'NUE':>7} {'T2':>7}")  # fmt: skip


def plain_check(problem: FreeformProblem, labels: FrequencyTable) -> dict[str, float]:
    """
    Return the largest threat to every guarded column as one writes it down in pandas: a group-by for every target.

    What can be seen of a cell is the lowest label that can be observed, and rows count for all such labels above.
    """
    rows = pd.DataFrame(dict(zip(labels.names, labels.codes, strict=True))).assign(rows=labels.weights)
    worst = {}
    for at, column in enumerate(problem.columns):
        if not column.has_secrets:
            continue
        seen = rows
        others = [name for name in labels.names if name != labels.names[at]]
        for other, one in enumerate(problem.columns):
            if other == at:
                continue
            name = labels.names[other]
            floors = {int(one.floors[label]) for label in seen[name].unique()}
            above = [
                (label, up)
                for label in seen[name].unique()
                for up in one.taxonomy.path(int(one.floors[label]))
                if up in floors
            ]
            pairs = pd.DataFrame(above, columns=[name, "seen"])
            seen = seen.merge(pairs, on=name).drop(columns=name).rename(columns={"seen": name})
        support = seen.groupby(others)["rows"].sum().rename("support")
        threats = [0.0]
        for label in np.flatnonzero(column.hidden & (column.sensitivity > 0)).tolist():
            below = seen[column.taxonomy.below(label)[seen[labels.names[at]].to_numpy()]]
            if len(below):
                inside = below.groupby(others)["rows"].sum()
                share = (inside / support.reindex(inside.index)).max()
                threats.append(float(share * column.sensitivity[label]))
        worst[column.taxonomy.column] = max(threats)
    return worst


def peer(told: str, adult: Adult) -> None:
    problem = adult.problem
    labels = published(problem)
    found = check_freeform(labels, problem.columns, POLICY.sigma_t)
    plain = plain_check(problem, labels)
    if any(abs(plain[one.column] - one.threat) > 1e-9 for one in found.columns):
        raise SystemExit("pandas finds other threats")
    ours = best_of(5, lambda: check_freeform(labels, problem.columns, POLICY.sigma_t))
    theirs = best_of(1, lambda: plain_check(problem, labels))
    print(
        f"  {told:<26} ours {ours:.4f} s, pandas {theirs:.2f} s, {theirs / ours:.0f} times as long; equal threats",
        flush=True,
    )


def definitions(adult: Adult) -> None:
    """Print what is found in Adult by both definitions, and what the search leaves of every column."""
    problem = adult.problem
    labels = published(problem)
    for definition in Definition:
        found = check_freeform(labels, problem.columns, POLICY.sigma_t, definition=definition)
        told = "; ".join(f"{one.column} {one.breaches:,} on {one.rows:,} rows" for one in found.columns)
        print(f"  Definition {definition.value}: {found.breaches:,} breaches ({told})")
    recoding = recode_freeform(task_of(problem))
    print(f"  {recoding.why}")
    for one in recoding.candidates:
        print(f"  {one.name}: NUE {one.nue:.4f}; {one.reason or 'elected'}")
    plan: RecodingPlan = recoding.plan
    for at, name in enumerate(plan.frequencies.names):
        print(f"    {name:<16} rows by level {plan.rows_by_level(at)}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--part", choices=["adult", "million", "growth", "peer"], help="only this part")
    only = parser.parse_args().part
    adult = Adult.loaded(Path(os.environ["ANON_REFERENCE_DATA"]) / "adult_arx")
    packages = ", ".join(f"{name} {version(name)}" for name in ("numpy", "pyarrow", "numba", "pandas"))
    print(f"python {platform.python_version()}, {packages}; {platform.machine()}, {os.cpu_count()} cores")
    million = TIMES * adult.table.rows
    published(adult.problem)
    if only in (None, "adult"):
        head("Adult; T2 is the NUE that suppressing every sensitive value would leave")
        line("Adult", adult)
        definitions(adult)
    if only in (None, "million"):
        head("a million rows")
        line(f"Adult {TIMES} times", adult.of_rows(million))
        line("cells drawn anew", adult.of_rows(million, redrawn=True))
    if only in (None, "growth"):
        head("growth with rows, cells drawn anew")
        for rows in (10_000, 30_000, 100_000, 300_000):
            line("", adult.of_rows(rows, redrawn=True))
        head("growth with columns, Adult")
        for count in range(3, len(adult.table.names) + 1):
            line("", adult.of_columns(count))
    if only in (None, "peer"):
        print("a check by one group-by for every target in plain pandas")
        peer("Adult, 5 columns", adult.of_columns(5))
        peer("Adult", adult)


if __name__ == "__main__":
    main()
