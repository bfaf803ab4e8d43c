"""How long the gate takes to judge a release of ten million rows, beside the engine's own group-by and pandas'.

A register is drawn with the columns of a usual publication: four quasi-identifiers as labels, a sensitive column and
one that is declared other. The gate counts the rows of a file once and then judges the frequency table, every
expectation of the suite through Great Expectations; the engine's group-by is that counting alone. Once from the Parquet
file, where the gate is the whole gate, digests included; and once of rows that are in memory already, where the engine
needs so little time that what Great Expectations needs for any table shows. Seconds are after loading and compiling,
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
from anon_airflow.expectations.evaluation import Evaluation
from anon_airflow.gate.files import reread
from anon_airflow.gate.measurement import measure
from anon_airflow.gate.suite import render_suite
from anon_core.frequency import FrequencyTable
from anon_core.publishing.distribution import write_parquet
from anon_core.spec import Publication
from anon_core.table import Column, Table

ROWS = 10_000_000
CARDINALITIES = {"municipality": 80, "birth_year": 12, "sex": 2, "issued": 40, "category": 15, "points": 20}
"""The published columns and their labels: together about a million distinct rows."""
COARSER = CARDINALITIES | {"municipality": 20, "issued": 10}
"""As a recoding leaves them that needs districts and years: about a hundred thousand."""
TODAY = date(2026, 1, 1)


def release(rows: int, cardinalities: dict[str, int]) -> Table:
    """Draw a release; most people live in few places, as anywhere."""
    draw = np.random.default_rng(0)
    columns = []
    for name, cardinality in cardinalities.items():
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


def measured(rows: int, runs: int, cardinalities: dict[str, int]) -> None:
    """Time one release and print what came out."""
    table = release(rows, cardinalities)
    suite = render_suite(publication(), rows_before=rows, today=TODAY)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "register.parquet"
        write_parquet(table, path)
        table = reread(path)
        judged(table, FrequencyTable.of(table), suite)  # Loads and compiles.
        engine = best_of(runs, lambda: FrequencyTable.of(reread(path)))
        gate = best_of(runs, lambda: measure(publication(), [path], rows_before=rows, today=TODAY))
    counting = best_of(runs, lambda: FrequencyTable.of(table))
    counted = best_of(runs, lambda: judged(table, FrequencyTable.of(table), suite))
    grown = grown_by(lambda: judged(table, FrequencyTable.of(table), suite))
    frequencies = FrequencyTable.of(table)
    frame = pd.DataFrame({c.name: pd.Categorical.from_codes(c.codes, c.domain.to_pylist()) for c in table.columns})
    pandas = best_of(runs, lambda: frame.groupby(list(frame.columns), observed=True, dropna=False).size())
    print(f"{table.rows:,} rows, {frequencies.tuples:,} distinct, {len(suite['expectations'])} expectations")
    print(f"  from the file: the engine's group-by {engine:.2f} s, the gate {gate:.2f} s: {gate / engine:.2f} times")
    print(
        f"  of rows in memory: the engine's {counting:.2f} s, the gate {counted:.2f} s: {counted / counting:.2f} times"
    )
    print(
        f"  pandas' group-by of categoricals in memory {pandas:.2f} s: the gate takes {counted / pandas:.2f} times that"
    )
    print(f"  memory of the gate beyond the table {grown / 2**20:,.0f} MB")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=ROWS)
    parser.add_argument("--runs", type=int, default=5)
    options = parser.parse_args()
    versions = ", ".join(f"{name} {version(name)}" for name in ("anonflow", "great_expectations", "pandas", "pyarrow"))
    print(f"Python {platform.python_version()}, {versions}")
    for cardinalities in (COARSER, CARDINALITIES):
        measured(options.rows, options.runs, cardinalities)


if __name__ == "__main__":
    main()
