"""A publication with a decomposed column, from its source to the portal."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from anon_airflow import steps
from anon_airflow.operators.dag_docs import dag_docs
from anon_airflow.sources.staging import read_source
from anon_airflow.sources.staging import source_of as opened
from anon_core.errors import DecomposeError
from anon_core.spec import load_spec
from tests.anon_airflow.run.step_runs import run_of
from tests.faults.anon_process import anon
from tests.faults.publications import csv_text, released, source_of, versions_of, write_publication
from tests.faults.search import found_in

CANARY = "QanaryPostcode"
STATES = ("28", "32", "51", "54", "59")
SPLIT = {"widths": [2, 3], "names": ["state", "local"]}


def zips(*, times: int = 1, locals_: int = 5, states: tuple[str, ...] = STATES) -> list[tuple[str, ...]]:
    """Every state with every local code: each part is common, a pair of both is as rare as ``times`` says."""
    pairs = [state + f"{local:03}" for state in states for local in range(locals_) for _ in range(times)]
    return [(str(at), code, "F", "3") for at, code in enumerate(pairs)]


def publication(folder: Path, rows=None, *, rule=SPLIT, method="global", hierarchy=None, **sections) -> Path:
    columns = {
        "id": {"role": "identifier"},
        "zip": {"role": "quasi", "hierarchy": hierarchy or {"prefix": [2, 1]}, "decompose": rule},
        "sex": {"role": "other"},
        "points": {"role": "sensitive"},
    }
    source = csv_text(zips() if rows is None else rows, ("id", "zip", "sex", "points"))
    sections = {"privacy": {"published_uniqueness": {"max_share": 1.0}}, "recode": {"method": method}, **sections}
    return write_publication(folder, source=source, columns=columns, **sections)


def test_parts_that_are_harmless_alone_and_single_out_together_are_refused(tmp_path):
    """Every state and every local code has five rows, every pair has one."""
    spec = publication(tmp_path, method="none")
    ended = anon("run", spec, home=tmp_path / "home")
    assert ended.code == 1, ended.err + ended.out
    assert "state, local" in ended.err and versions_of(spec) == []


@pytest.mark.parametrize("part", ["state", "local"])
def test_one_of_these_parts_alone_is_published(tmp_path, part):
    spec = publication(tmp_path, rule={**SPLIT, "publish": [part]}, method="none")
    assert anon("run", spec, home=tmp_path / "home").code == 0
    assert list(released(spec)[0]) == [part, "sex", "points"]
    assert min(Counter(row[part] for row in released(spec)).values()) == 5


def test_parts_that_single_out_together_are_recoded_together(tmp_path):
    spec = publication(tmp_path)
    ended = anon("run", spec, "--json", home=tmp_path / "home")
    assert ended.code == 0, ended.err
    rows = released(spec)
    assert list(rows[0]) == ["state", "local", "sex", "points"]
    assert min(Counter((row["state"], row["local"]) for row in rows).values()) >= 5


def test_a_part_that_is_not_published_gets_nowhere(tmp_path):
    states = ("NW", "QX", "SZ", "XY", "ZK")  # A code of digits would turn up in some digest or key by chance.
    rows = zips(times=5, states=states)
    spec = publication(tmp_path, rows, rule={**SPLIT, "publish": ["state"]})
    run = run_of(spec, tmp_path / "home")
    steps.stage(run, str(run.publication.source.file))
    originals = sorted({code for _, code, *_ in rows})
    assert len(originals) == 25 and (run.staging / "original.parquet").exists()
    assert found_in(tmp_path, originals, but=[source_of(spec)]) == []
    table = read_source(run.publication, opened(run.publication, run.publication.source_template)).table
    assert table.names == ("state", "sex", "points")
    assert table.column("state").domain.to_pylist() == list(states)


def test_a_value_that_does_not_fit_stops_the_run_without_being_quoted(tmp_path):
    spec = publication(tmp_path, [*zips(times=5), ("x", CANARY, "F", "3"), ("y", CANARY, "F", "3")])
    ended = anon("run", spec, "--show-values", home=tmp_path / "home")
    assert ended.code == 2
    assert "column 'zip': 1 distinct value, 2 rows, not of the form `widths: [2, 3]`" in ended.err
    assert CANARY not in ended.err + ended.out
    assert "on a terminal only" in ended.err
    assert found_in(tmp_path, [CANARY], but=[source_of(spec)]) == []


def test_a_value_that_does_not_fit_is_published_as_nothing_where_the_file_says_so(tmp_path):
    rows = [*zips(times=5), *[(f"x{n}", f"{CANARY}{n}", "F", "3") for n in range(5)]]
    spec = publication(
        tmp_path, rows, rule={**SPLIT, "unmapped": "suppress"}, privacy={"k": 5, "suppression_limit": 0.2}
    )
    ended = anon("run", spec, home=tmp_path / "home")
    assert ended.code == 0, ended.err
    counts = Counter((row["state"], row["local"]) for row in released(spec))
    assert counts["*", "*"] == 5 and sum(counts.values()) == len(rows)
    assert found_in(tmp_path, [CANARY], but=[source_of(spec)]) == []


def test_suppressed_values_count_as_suppressed_rows(tmp_path):
    rows = [*zips(times=5), *[(f"x{n}", f"{CANARY}{n}", "F", "3") for n in range(5)]]
    spec = publication(
        tmp_path, rows, rule={**SPLIT, "unmapped": "suppress"}, privacy={"k": 5, "suppression_limit": 0.0}
    )
    ended = anon("run", spec, home=tmp_path / "home")
    assert ended.code == 1, ended.err + ended.out
    assert versions_of(spec) == []


def test_suppressed_values_need_no_place_in_the_hierarchy_of_a_part(tmp_path):
    """A star is no number, and does not have to be one."""
    rows = [*zips(times=5), *[(f"x{n}", CANARY, "F", "3") for n in range(5)]]
    rule = {**SPLIT, "unmapped": "suppress", "hierarchies": {"local": {"intervals": [2, 10]}}}
    spec = publication(tmp_path, rows, rule=rule, privacy={"k": 30, "suppression_limit": 0.2})
    ended = anon("run", spec, home=tmp_path / "home")
    assert ended.code == 0, ended.err
    assert min(Counter((row["state"], row["local"]) for row in released(spec)).values()) >= 30


def test_codes_are_published_by_their_names(tmp_path):
    spec = publication(
        tmp_path, zips(times=5), rule={**SPLIT, "publish": ["state"], "lookup": {"state": "hierarchies/states.csv"}}
    )
    lookup = tmp_path / "include/hierarchies/states.csv"
    lookup.write_text("".join(f"{code};{name}\n" for code, name in zip(STATES, ("N", "N", "S", "E", "E"), strict=True)))
    ended = anon("run", spec, home=tmp_path / "home")
    assert ended.code == 0, ended.err
    assert Counter(row["state"] for row in released(spec)) == {"N": 50, "S": 25, "E": 50}
    lookup.write_text("28;N\n")
    with pytest.raises(DecomposeError) as caught:
        read_source(load_spec(spec), opened(load_spec(spec), "samples/people.csv"))
    assert caught.value.unnamed == {("zip", "state"): (4, 100)}


def test_a_gap_in_a_part_that_is_not_published_drops_no_row(tmp_path):
    rows = [*zips(times=5), ("x", "28-", "F", "3"), ("y", "", "F", "3")]
    for row in range(125):
        rows[row] = (rows[row][0], rows[row][1][:2] + "-" + rows[row][1][2:], *rows[row][2:])
    rule = {"separator": "-", "names": ["state", "local"]}
    for publish, dropped in ((["state"], 1), (["state", "local"], 2)):
        spec = publication(tmp_path, rows, rule={**rule, "publish": publish}, missing="drop")
        loaded = load_spec(spec)
        assert read_source(loaded, opened(loaded, "samples/people.csv")).dropped == dropped


def test_the_dag_tells_of_the_parts(tmp_path):
    docs = dag_docs(load_spec(publication(tmp_path, rule={**SPLIT, "publish": ["state"]})))
    assert "| `state`, part of `zip` | quasi | prefix |" in docs
    assert "`local`" not in docs
