"""There is one judge: recoding, ``anon check`` and the gate say the same of the same table, figure by figure."""

from __future__ import annotations

import tempfile
from datetime import date
from pathlib import Path
from typing import Any

import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from anon_airflow.gate import measurement
from anon_airflow.gate.suite import render_suite
from anon_core.engines.arrow import ArrowEngine
from anon_core.plan import RecodingPlan
from anon_core.publishing.distribution import write_csv, write_parquet
from anon_core.recoding.compliance import measurements
from anon_core.recoding.task import Task
from anon_core.report.criteria import Criteria
from anon_core.report.judgement import Original, judge
from anon_core.spec import Publication, load_spec
from anon_core.table import Table
from tests.faults.publications import LENIENT
from tests.properties.judged import figures
from tests.properties.tables import table_of

TODAY = date(2026, 11, 18)
NAMES = ("town", "sex", "illness", "office", "pay")
OFFICE = {"columns": ["office"], "reason": "where, and not who", "by": "A. Rossi", "until": "2027-06-30"}
"""Accepted: recoding would count it in its classes, and the gate counts those with it by another model."""
CELLS = (
    st.sampled_from("AB"),
    st.sampled_from("FM"),
    st.sampled_from(["flu", "cold", "gout"]),
    st.sampled_from("XY"),
    st.one_of(st.integers(0, 99).map(str), st.integers(0, 99).map(str), st.sampled_from(["n/a", "50.0", "1,000.00"])),
)
SHARES = st.sampled_from([0.1, 0.3, 0.5, 0.8, 1.0])
TABLES = st.lists(st.tuples(*CELLS), min_size=4, max_size=24)


@st.composite
def policies(draw: st.DrawFn) -> dict[str, Any]:
    """A policy that asks for several things, reached or not."""
    found: dict[str, Any] = {"k": draw(st.integers(2, 4)), "suppression_limit": draw(SHARES)}
    if draw(st.booleans()):
        kind = draw(st.sampled_from(["distinct", "entropy", "recursive"]))
        found["l_diversity"] = [
            {"column": "illness", "l": 2, "kind": kind, **({"c": 2} if kind == "recursive" else {})}
        ]
    if draw(st.booleans()):
        found["t_closeness"] = [
            {"column": "illness", "t": draw(SHARES), "distance": draw(st.sampled_from(["equal", "ordered"]))}
        ]
    if draw(st.booleans()):
        found["alpha"] = [{"column": "illness", "alpha": draw(SHARES)}]
    if draw(st.booleans()):
        found.setdefault("l_diversity", []).append({"column": "pay", "l": draw(st.integers(2, 3))})
        found.setdefault("alpha", []).append({"column": "pay", "alpha": draw(SHARES)})
        found.setdefault("t_closeness", []).append({"column": "pay", "t": draw(SHARES)})
    if draw(st.booleans()):
        found["max_risk"] = draw(SHARES)
    if draw(st.booleans()):
        found["k_means"] = "link"
    if draw(st.booleans()):
        found["singletons"] = draw(st.integers(0, 2))
    return found


PAY = st.sampled_from([{}, {"type": "text"}, {"coarsen": {"round": 1, "unmapped": "suppress"}}])


def publication(folder: Path, policy: dict[str, Any], pay: dict[str, Any]) -> Publication:
    content = {
        "dataset": "people",
        "title": "People",
        "source": {"file": "people.csv"},
        "columns": {
            "town": {"role": "quasi", "hierarchy": {"root": "any"}},
            "sex": {"role": "quasi", "hierarchy": {"root": "any"}},
            "illness": {"role": "sensitive"},
            "office": {"role": "other"},
            "pay": {"role": "sensitive", **pay},
        },
        "privacy": {**policy, "published_uniqueness": {**LENIENT, "accept": [OFFICE]}},
        "recode": {"method": "none"},
        "unit": "row",
        "reviewed": {"by": "Ada", "on": "2026-01-02"},
        "portal": {"folder": "portal"},
    }
    path = folder / "people.yaml"
    path.write_text(yaml.safe_dump(content))
    return load_spec(path)


def by_command(spec: Publication, table: Table) -> dict[str, Any]:
    judged = judge(table, Criteria.of(spec), Original(table=table), engine=ArrowEngine, today=TODAY)
    return {one.name: figures(one) for one in judged.checks}


def by_recoding(spec: Publication, table: Table) -> dict[str, Any]:
    task = Task.of_table(spec, spec.privacy, ArrowEngine(table=table))
    plan = RecodingPlan.unchanged(task.frequencies, task.ladders)
    return {one.name: figures(one) for one in measurements(task, plan)}


def by_gate(spec: Publication, table: Table, folder: Path) -> dict[str, Any]:
    files = [folder / "people.csv", folder / "people.parquet"]
    write_csv(table, files[0])
    write_parquet(table, files[1])
    counted = measurement.StagedOriginal(sha256="0" * 64, frequencies=table_frequencies(table))
    verdict = measurement.measure(spec, files, rows_before=table.rows, today=TODAY, original=counted)
    assert not [check.sentence for check in verdict.checks if check.observed == "not evaluated"]
    return {one.name: (one.passed, one.observed, one.required) for one in verdict.checks}


def by_expectations(spec: Publication, table: Table, *, weighted: bool) -> dict[str, Any]:
    """Measure each expectation of the suite by itself, on the rows or on distinct rows with their weights."""
    from anon_airflow.expectations import OURS, hierarchies_in, originals
    from anon_airflow.expectations.evaluation import batch_of

    name = "0" * 64
    suite = render_suite(spec, rows_before=table.rows, today=TODAY, original=name)
    frame = table.to_arrow().to_pandas()
    weight = "rows" if weighted else None
    if weighted:
        frame = frame.groupby(list(NAMES), dropna=False, observed=True).size().rename("rows").reset_index()
    batch, found = batch_of(frame), {}
    with hierarchies_in(spec.root), originals({f"sha256:{name}": table_frequencies(table)}):
        for entry in suite["expectations"]:
            expectation = OURS[entry["type"]](**{**entry["kwargs"], "weight_column": weight})
            result = batch.validate(expectation, result_format="BASIC")
            measured = result.result["measured"]
            observed = "none" if measured is None else measured
            found[entry["meta"]["name"]] = (result.success, observed, result.result["required"])
    return found


def table_frequencies(table: Table) -> Any:
    from anon_core.frequency import FrequencyTable

    return FrequencyTable.of(table, ["town", "sex"])


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(rows=TABLES, policy=policies(), pay=PAY)
def test_recoding_command_gate_and_expectations_measure_the_same(
    rows: list[tuple[str, ...]], policy: dict[str, Any], pay: dict[str, Any]
) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        spec, table = publication(folder, policy, pay), table_of(NAMES, rows)
        command, recoding, gated = by_command(spec, table), by_recoding(spec, table), by_gate(spec, table, folder)
        alone = [by_expectations(spec, table, weighted=weighted) for weighted in (False, True)]
    own = {name: gated[name] for name in alone[0]}
    assert alone == [own, own]
    asked = set(command) - {"made_from_original", "removal"}
    assert asked <= set(gated)
    assert {name: command[name] for name in asked} == {name: gated[name] for name in asked}
    # Recoding sees quasi-identifiers and sensitive values only; its k is as large as a risk needs.
    of_k = {"k_anonymity", "link_k", "source_k", "alpha(illness)", "alpha(pay)"}
    common = set(recoding) - {"removal"} - (of_k if "max_risk" in policy else set())
    assert {name: recoding[name] for name in common} == {name: gated[name] for name in common}
