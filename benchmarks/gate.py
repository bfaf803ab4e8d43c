"""How long the gate takes to judge a release of ten million rows, beside the engine's own group-by and pandas'.

A register is drawn with the columns of a usual publication: four quasi-identifiers as labels, a sensitive column and one
that is declared other. What is measured is what happens after the file was read: counting its rows once, then every
expectation of the suite through Great Expectations. Reading is told beside it. Seconds are after loading and compiling,
each the best of a few runs.
"""

from __future__ import annotations

import argparse
import platform
import tempfile
from datetime import date
from importlib.metadata import version
from pathlib import Path

import numpy as np
import pandas as pd  # noqa: TID253 - the peer
import pyarrow as pa
from timing import best_of, grown_by

import anon_core.kernels.compiled  # noqa: F401, TID253 - what is measured is the work, not loading numba
from anon_airflow.distributions import reread
from anon_airflow.expectations.evaluation import Evaluation
from anon_airflow.suite import render_suite
from anon_core.distribution import write_parquet
from anon_core.frequency import FrequencyTable
from anon_core.spec import Publication
from anon_core.table import Column, Table

ROWS = 10_000_000
CARDINALITIES = {"municipality": 80, "birth_year": 12, "sex": 2, "issued": 40, "category": 15, "points": 20}
TODAY = date(2026, 1, 1)


def release(rows: int) -> Table:
    """Draw a release; most people live in few places, as anywhere."""
    draw = np.random.default_rng(0)
    columns = []
    for name, cardinality in CARDINALITIES.items():
        codes = np.minimum(draw.geometric(min(6 / cardinality, 0.6), rows) - 1, cardinality - 1).astype(np.int32)
        present = np.flatnonzero(np.bincount(codes, minlength=cardinality))
        codes = np.searchsorted(present, codes).astype(np.int32)
        domain = pa.array([f"{name} {value:03}" for value in range(len(present))])
        columns.append(Column(name=name, codes=codes, domain=domain))
    return Table(columns=tuple(columns), rows=rows)


def publication() -> Publication:
    roles = dict.fromkeys(CARDINALITIES, "quasi") | {"category": "sensitive", "points": "other"}
    return Publication.model_validate(
        {
            "dataset": "register",
            "title": "Register",
            "source": {"file": "register.csv"},
            "columns": {name: {"role": role} for name, role in roles.items()},
            "privacy": {
                "k": 5,
                "suppression_limit": 0.1,
                "l_diversity": [{"column": "category", "l": 2}],
                "t_closeness": [{"column": "category", "t": 0.5}],
                "max_risk": 0.2,
            },
            "portal": {"folder": "portal"},
        }
    )


def judged(table: Table, frequencies: FrequencyTable, suite: dict) -> int:
    """Evaluate every expectation of the suite; return how many hold."""
    evaluation = Evaluation(table, frequencies, Path(), {})
    outcomes = [evaluation.evaluate(entry) for entry in suite["expectations"]]
    assert all(outcome.evaluated for outcome in outcomes), [o.message for o in outcomes if not o.evaluated]
    return sum(outcome.passed for outcome in outcomes)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=ROWS)
    parser.add_argument("--runs", type=int, default=3)
    options = parser.parse_args()
    versions = ", ".join(f"{name} {version(name)}" for name in ("anonflow", "great_expectations", "pandas", "pyarrow"))
    print(f"Python {platform.python_version()}, {versions}")
    table = release(options.rows)
    suite = render_suite(publication(), rows_before=options.rows, today=TODAY)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "register.parquet"
        write_parquet(table, path)
        reading = best_of(1, lambda: reread(path))
        table = reread(path)
    frequencies = FrequencyTable.of(table)
    judged(table, frequencies, suite)  # Loads and compiles.
    counting = best_of(options.runs, lambda: FrequencyTable.of(table))
    gate = best_of(options.runs, lambda: judged(table, FrequencyTable.of(table), suite))
    grown = grown_by(lambda: judged(table, FrequencyTable.of(table), suite))
    frame = pd.DataFrame({c.name: pd.Categorical.from_codes(c.codes, c.domain.to_pylist()) for c in table.columns})
    pandas = best_of(options.runs, lambda: frame.groupby(list(frame.columns), observed=True, dropna=False).size())
    print(f"{table.rows:,} rows, {frequencies.tuples:,} distinct, {len(suite['expectations'])} expectations")
    print(f"reading the Parquet file         {reading:8.2f} s")
    print(f"the engine's group-by            {counting:8.2f} s")
    print(f"group-by and the whole suite     {gate:8.2f} s   {gate / counting:.2f} times the group-by")
    print(f"pandas' group-by of categoricals {pandas:8.2f} s   {gate / pandas:.2f} times as long is the gate")
    print(f"memory of the gate beyond the table {grown / 2**20:,.0f} MB")


if __name__ == "__main__":
    main()
