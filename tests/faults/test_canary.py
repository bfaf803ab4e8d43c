"""Canaries in cells that must not get out: they may stand in the source, and nowhere else."""

from __future__ import annotations

import logging
import stat
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from anon_airflow import steps
from anon_airflow.run import local
from anon_core.errors import AnonError, InternalError, RefusedError
from anon_core.spec import load_spec
from tests.anon_airflow.run.step_runs import run_of
from tests.faults.anon_process import Ended, anon
from tests.faults.publications import (
    COLUMNS,
    NAMES,
    TOWNS,
    csv_text,
    files_below,
    people,
    portal_of,
    source_of,
    staged_files,
    versions_of,
    write_publication,
)
from tests.faults.search import found_in
from tests.parameters import parameters

IDENTIFIER, DROPPED, REMOVED, TOWN = "QanaryIdentifier", "QanaryDropped", "QanaryRemovedRow", "QanaryTown"
INCOME, MOVED, CODE = "473829156", "1987-03-17", "ZX81QANARY"
CANARIES = (IDENTIFIER, DROPPED, REMOVED, TOWN, INCOME, MOVED, CODE)
SENSITIVE = "QanarySensitive"
ERROR = "QanaryInAnError"
COLUMNS_OF_CANARIES = {
    **COLUMNS,
    "income": {"role": "quasi", "hierarchy": {"intervals": [100_000_000, 1_000_000_000]}},
    "moved": {"role": "quasi", "hierarchy": {"date": ["year", "decade"]}},
    "code": {"role": "quasi", "hierarchy": {"prefix": [2, 1]}},
}


def rows_with_canaries(sensitive: str = "7") -> list[tuple[str, ...]]:
    """A register whose new columns single everybody out until they are generalised, with a canary in one cell each."""
    rows = [
        (*row, str(400_000_000 + 7919 * at), f"198{at % 9}-05-{at % 28 + 1:02}", f"ZX{at:03}")
        for at, row in enumerate(people())
    ]
    plain = ("P", "1950", "Alba", "F", "7", "x", "412000000", "1984-01-01", "ZX11")
    rows += [plain] * 10
    for at, canary in ((0, IDENTIFIER), (5, DROPPED), (6, INCOME), (7, MOVED), (8, CODE)):
        rows.append((*plain[:at], canary, *plain[at + 1 :]))
    rows.append((*plain[:2], TOWN, *plain[3:]))
    rows.append(("P", "1850", "Alba", "F", REMOVED, "x", "912000000", "1884-01-01", "AA11"))
    rows.append((*plain[:4], sensitive, *plain[5:]))
    return [(f"Q{at:04}", *row[1:]) if row[0] == "P" else row for at, row in enumerate(rows)]


def write_canaries(folder: Path, *, sensitive: str = "7", towns=(*TOWNS, (TOWN, "NORTH")), **changes) -> Path:
    source = csv_text(rows_with_canaries(sensitive), (*NAMES, "income", "moved", "code"))
    return write_publication(folder, source=source, columns=COLUMNS_OF_CANARIES, towns=towns, **changes)


def assert_no_canary(folder: Path, spec: Path, ended: Ended | None = None, *others: str) -> None:
    """Search the private folder, the portal, the folder for temporary files and all that was said."""
    canaries = (*CANARIES, SENSITIVE, ERROR, *others)
    hierarchy = folder / "include/hierarchies/towns.csv"  # written by people, as the source is
    assert found_in(folder, canaries, but=[source_of(spec), hierarchy]) == []
    if ended:
        assert [canary for canary in canaries if canary in ended.out + ended.err] == []


def test_the_search_finds_what_is_there(tmp_path):
    """The search itself must work, or finding nothing means nothing: a dictionary page keeps what no row has."""
    values = pa.DictionaryArray.from_arrays(pa.array([0, 0, 0]), pa.array(["seen", "QanaryUnused"]))
    pq.write_table(pa.table({"a": values}), tmp_path / "a.parquet", compression="zstd")
    assert any("pages" in place for place in found_in(tmp_path, ["QanaryUnused"]))
    pq.write_table(pa.table({"a": ["QanaryCell"] * 50}), tmp_path / "b.parquet", compression="zstd")
    assert {"(pages)", "(cells and footer)"} <= {p[p.index("(") :] for p in found_in(tmp_path, ["QanaryCell"])}


def test_a_release_that_passes_holds_no_canary_anywhere(tmp_path):
    spec, home = write_canaries(tmp_path), tmp_path / "home"
    ended = anon("run", spec, "--json", home=home)
    assert ended.code == 0, ended.err + ended.out
    assert_no_canary(tmp_path, spec, ended)
    published = portal_of(spec) / "people" / "latest"
    content = (published / "people.csv").read_text()
    assert '"400000000-499999999"' in content, "the canary's row is there, generalised"
    assert '"ZX*"' in content
    assert any("pages" in place for place in found_in(published.resolve(), ["400000000-499999999"]))
    for command in (["list"], ["show", "people"], ["verify"], ["export"]):
        said = anon("audit", *command, home=home)
        assert said.code == 0
        assert_no_canary(tmp_path, spec, said)


@pytest.mark.parametrize(
    "recode", [{"method": "none"}, {"method": "singletons", "singletons": {"columns": ["town", "sex"]}}], ids=str
)
def test_a_refused_release_holds_no_canary_anywhere(tmp_path, recode):
    spec, home = write_canaries(tmp_path, recode=recode), tmp_path / "home"
    ended = anon("run", spec, home=home)
    assert ended.code == 1, ended.err
    assert versions_of(spec) == []
    assert_no_canary(tmp_path, spec, ended)
    assert_no_canary(tmp_path, spec, anon("audit", "show", "people", "--json", home=home))
    assert_no_canary(tmp_path, spec, anon("audit", "export", home=home))


STOCK = [
    {"type": "expect_column_values_to_be_in_set", "kwargs": {"column": "points", "value_set": ["7", "8"]}},
    {"type": "expect_column_values_to_match_regex", "kwargs": {"column": "points", "regex": "^[0-9]+$"}},
    {"type": "expect_column_max_to_be_between", "kwargs": {"column": "points", "max_value": 10}},
    {"type": "expect_column_distinct_values_to_equal_set", "kwargs": {"column": "points", "value_set": ["7"]}},
    {"type": "expect_column_values_to_be_between", "kwargs": {"column": "points", "min_value": 1, "max_value": 30}},
    {"type": "expect_column_values_to_be_unique", "kwargs": {"column": "points"}},
    {"type": "expect_column_most_common_value_to_be_in_set", "kwargs": {"column": "points", "value_set": ["none"]}},
]


@pytest.mark.parametrize(
    "expectation",
    parameters(STOCK, always=STOCK[:2]),
    ids=lambda expectation: expectation["type"],
)
def test_a_stock_expectation_that_fails_on_a_cell_does_not_quote_it(tmp_path, expectation):
    spec, home = write_canaries(tmp_path, sensitive=SENSITIVE, expectations=[expectation]), tmp_path / "home"
    ended = anon("run", spec, "--json", home=home)
    assert ended.code == 1, ended.out + ended.err
    assert versions_of(spec) == []
    assert_no_canary(tmp_path, spec, ended)


def test_a_hierarchy_that_misses_a_canary_does_not_name_it(tmp_path):
    spec, home = write_canaries(tmp_path, towns=TOWNS), tmp_path / "home"
    ended = anon("run", spec, home=home)
    assert ended.code == 2
    assert_no_canary(tmp_path, spec, ended)


@pytest.mark.parametrize("line", [",".join(CANARIES[:4]) + "\n", f'"{SENSITIVE}\n'], ids=["ragged", "open quote"])
def test_a_table_that_cannot_be_read_is_not_quoted(tmp_path, line):
    spec, home = write_canaries(tmp_path), tmp_path / "home"
    source_of(spec).write_text(source_of(spec).read_text() + line)
    ended = anon("run", spec, home=home)
    assert ended.code == 2, ended.err
    assert_no_canary(tmp_path, spec, ended)


@pytest.mark.parametrize("values", ["born", "moved"])
def test_a_value_that_is_not_of_its_kind_is_not_quoted(tmp_path, values):
    spec, home = write_canaries(tmp_path), tmp_path / "home"
    at = (*NAMES, "income", "moved", "code").index(values)
    row = ["P", "1950", "Alba", "F", "7", "x", "412000000", "1984-01-01", "ZX11"]
    row[at] = SENSITIVE
    source_of(spec).write_text(source_of(spec).read_text() + ",".join(row) + "\n")
    ended = anon("run", spec, home=home)
    assert ended.code == 2, ended.err
    assert f"column '{values}': 1 distinct value, 1 row," in ended.err
    assert_no_canary(tmp_path, spec, ended)


PLACES = {
    "anon_core.table.reading.from_arrow": 2,
    "anon_core.detection.singletons.detect": 0,
    "anon_core.measures.sensitivity.scores.score_columns": 0,
    "anon_core.recoding.methods.recode": 2,
    "anon_core.publishing.distribution.write_csv": 2,
    "anon_airflow.gate.measurement.measure": 2,
    "anon_airflow.gate.measurement.reread": 1,
    "anon_airflow.expectations.evaluation.Evaluation.evaluate": 1,
    "anon_airflow.steps.build_public_report": 2,
    "anon_airflow.release.publish.build_release": 2,
    "anon_airflow.portals.folder.portal.FolderPortal.publish": 2,
    "anon_airflow.run.record.build_internal_report": 2,
    "anon_airflow.run.summary.summary_lines": 2,
    "anon_core.spec.load_spec": 2,
}
"""Where something unforeseen happens, and how the run ends."""
ALWAYS = [
    "anon_core.table.reading.from_arrow",
    "anon_core.recoding.methods.recode",
    "anon_airflow.expectations.evaluation.Evaluation.evaluate",
    "anon_airflow.portals.folder.portal.FolderPortal.publish",
    "anon_airflow.run.summary.summary_lines",
    "anon_core.spec.load_spec",
]


@pytest.mark.parametrize("where", parameters(PLACES, always=ALWAYS))
def test_an_unforeseen_error_with_a_canary_in_its_text_gives_only_its_place(tmp_path, where):
    spec, home = write_canaries(tmp_path), tmp_path / "home"
    ended = anon("run", spec, home=home, fault=(where, f"cannot do with {ERROR}"))
    assert ended.code == PLACES[where], ended.out + ended.err
    assert_no_canary(tmp_path, spec, ended)
    assert "ValueError" in ended.err + ended.out, "its kind and place are told, so that it can be reported"
    assert staged_files(home) == []
    published = where in ("anon_airflow.run.record.build_internal_report", "anon_airflow.run.summary.summary_lines")
    assert bool(versions_of(spec)) == (published or PLACES[where] == 0), "what only informs stops nothing"


def test_log_records_of_every_level_hold_no_canary(tmp_path, monkeypatch, caplog):
    monkeypatch.setenv("ANON_HOME", str(tmp_path / "home"))
    caplog.set_level(logging.DEBUG)
    said: list[str] = []
    passing = load_spec(write_canaries(tmp_path / "one"))
    failing = load_spec(write_canaries(tmp_path / "two", recode={"method": "none"}))
    assert local.run_all(passing, start=None, end=None, progress=said.append)["published"]
    assert not local.run_all(failing, start=None, end=None, progress=said.append)["published"]
    lines = [*said, *(str(record.__dict__) for record in caplog.records), caplog.text]
    assert [line for line in lines for canary in CANARIES if canary in line] == []
    assert len(said) > 5


def modes_below(folder: Path) -> dict[str, int]:
    return {str(path): stat.S_IMODE(path.stat().st_mode) for path in [folder, *folder.rglob("*")]}


def assert_private(home: Path) -> None:
    for path, mode in modes_below(home).items():
        assert mode == (0o700 if Path(path).is_dir() else 0o600), f"{path} has mode {mode:o}"


@pytest.fixture
def loose_umask():
    """The umask under which a careless program makes files that everybody reads."""
    import os

    before = os.umask(0)
    yield
    os.umask(before)


def test_everything_of_a_run_is_for_its_owner_only_and_the_originals_are_gone_after_the_gate(tmp_path, loose_umask):
    home = tmp_path / "home"
    run = run_of(write_canaries(tmp_path), home)
    staged = Path(steps.stage(run, "samples/people.csv")["uri"].removeprefix("file://"))
    assert staged.exists()
    assert found_in(home / "staging", [IDENTIFIER, DROPPED]) == [], "these columns do not even get there"
    assert found_in(home / "staging", [REMOVED]), "the search would find a canary if there were one"
    for step in (steps.detect, steps.score, steps.recode):
        assert_private(home)
        step(run)
    assert_private(home)
    steps.gate(run)
    assert_private(home)
    assert files_below(home / "staging") == []
    assert not run.staging.exists()
    assert found_in(home, CANARIES) == []
    steps.publish(run)
    steps.record(run)
    assert_private(home)
    assert (
        found_in(tmp_path, CANARIES, but=[source_of(run.publication.file), tmp_path / "include/hierarchies/towns.csv"])
        == []
    )


def fail(*_, **__):
    raise ValueError(ERROR)


@pytest.mark.parametrize(
    ("step", "where"),
    [
        ("stage", "anon_core.hierarchy.build.ladders"),
        ("detect", "anon_core.detection.singletons.detect"),
        ("score", "anon_core.measures.sensitivity.scores.score_columns"),
        ("recode", "anon_core.publishing.distribution.write_parquet"),
        ("gate", "anon_airflow.gate.measurement.measure"),
    ],
)
def test_when_a_step_fails_record_leaves_no_original(tmp_path, monkeypatch, step, where):
    """As in Airflow, where the tasks after a failed one do not run, and the teardown does."""
    home = tmp_path / "home"
    run = run_of(write_canaries(tmp_path), home)
    for name in ("stage", "detect", "score", "recode", "gate"):
        arguments = ["samples/people.csv"] if name == "stage" else []
        if name == step:
            monkeypatch.setattr(where, fail)
            with pytest.raises(InternalError) as caught:
                getattr(steps, name)(run, *arguments)
            assert ERROR not in str(caught.value)
            assert caught.value.__suppress_context__
            break
        getattr(steps, name)(run, *arguments)
    if step == "gate":
        assert files_below(home / "staging") == []
    assert steps.record(run)["verdict"] == "failed"
    assert files_below(home / "staging") == []
    assert found_in(home, [*CANARIES, ERROR]) == []


def test_a_gate_that_refuses_removes_the_originals_too(tmp_path):
    home = tmp_path / "home"
    run = run_of(write_canaries(tmp_path, recode={"method": "none"}), home)
    steps.stage(run, "samples/people.csv")
    for step in (steps.detect, steps.score, steps.recode):
        step(run)
    assert files_below(home / "staging")
    with pytest.raises(RefusedError):
        steps.gate(run)
    assert files_below(home / "staging") == []
    assert not run.gated.exists()


def test_errors_that_travel_to_another_process_take_no_canary_along(tmp_path):
    import pickle

    run = run_of(write_canaries(tmp_path, towns=TOWNS), tmp_path / "home")
    with pytest.raises(AnonError) as caught:
        steps.stage(run, "samples/people.csv")
    assert TOWN.encode() not in pickle.dumps(caught.value)
    assert TOWN not in repr(caught.value) + str(caught.value) + str(caught.value.__dict__)
