"""A publication whose illnesses nobody may infer, from its source to the portal."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from anon_airflow import steps
from anon_airflow.gate import measurement
from anon_core.errors import InvalidInputError, PolicyNotMetError, RefusedError
from tests.anon_airflow.run.step_runs import run_of
from tests.faults.anon_process import anon
from tests.faults.publications import csv_text, portal_of, released, source_of, versions_of, write_publication
from tests.faults.search import found_in

CANARY, RARE = "QanaryIllness", "QanaryTown"
ILLNESSES = [("Flu", "VI"), ("AIDS", "VI"), (CANARY, "VI"), ("Ulcer", "Stomach"), ("Gastritis", "Stomach")]
TOWNS = [("Alba", "North"), ("Bria", "North"), (RARE, "North"), ("Elva", "South")]
COLUMNS = {
    "id": {"role": "identifier"},
    "sex": {"role": "quasi", "hierarchy": {"root": "any"}},
    "town": {"role": "quasi", "hierarchy": {"file": "hierarchies/towns.csv"}},
    "illness": {"role": "sensitive", "hierarchy": {"file": "hierarchies/illness.csv"}},
}
GUARD = {"guard": ["AIDS", CANARY], "sensitivity": "aggregate", "observability": "sensitivity"}
FREEFORM = {"sigma_o": 1, "sigma_t": 0.15, "columns": {"illness": GUARD}}
THEN = {"method": "freeform", "then": "prioritised"}


def patients() -> list[tuple[str, ...]]:
    """Every man of Alba has AIDS; two people have what only they have."""
    groups = [
        (("M", "Alba", "AIDS"), 6),
        (("F", "Alba", "Flu"), 6),
        (("F", "Alba", "Ulcer"), 4),
        (("M", "Bria", "Flu"), 5),
        (("F", "Elva", "Gastritis"), 6),
        (("M", "Elva", "Ulcer"), 6),
        (("F", "Bria", CANARY), 1),
        (("F", RARE, "Flu"), 1),
    ]
    rows = [row for row, times in groups for _ in range(times)]
    return [(f"P{at:03}", *row) for at, row in enumerate(rows)]


def publication(folder: Path, *, recode=THEN, rows=None, freeform=FREEFORM, columns=COLUMNS, **privacy) -> Path:
    spec = write_publication(
        folder,
        source=csv_text(patients() if rows is None else rows, ("id", "sex", "town", "illness")),
        columns=columns,
        towns=TOWNS,
        privacy={"k": 3, "freeform": freeform, **privacy},
        recode=recode,
    )
    (spec.parent.parent / "hierarchies/illness.csv").write_text("".join(f"{a};{b}\n" for a, b in ILLNESSES))
    return spec


def written_by_people(spec: Path) -> list[Path]:
    """The source, the hierarchies and the publication file, whose guard names an illness."""
    include = spec.parent.parent
    return [source_of(spec), spec, *(include / "hierarchies").iterdir()]


@pytest.mark.parametrize("recode", [THEN, {"method": "best"}], ids=["freeform", "best"])
def test_guarded_values_are_generalised_and_the_release_passes(tmp_path, recode):
    spec = publication(tmp_path, recode=recode)
    ended = anon("run", spec, "--json", home=tmp_path / "home")
    assert ended.code == 0, ended.err + ended.out
    rows = released(spec)
    assert {row["illness"] for row in rows} & {"AIDS", CANARY} == set()
    assert min(Counter((row["sex"], row["town"]) for row in rows).values()) >= 3
    report = json.loads((portal_of(spec) / "people/latest/report.json").read_text())
    (illness,) = [column for column in report["recoding"]["columns"] if column["name"] == "illness"]
    assert sum(level["rows"] for level in illness["levels"]) == len(rows)
    assert any(level["level"] > 0 for level in illness["levels"])
    checks = [check for check in report["privacy"]["checks"] if check["name"] == "no_freeform_breach"]
    assert [check["passed"] for check in checks] == [True]


def test_freeform_alone_does_not_reach_k_and_the_gate_says_so(tmp_path):
    spec = publication(tmp_path, recode={"method": "freeform"}, k=12)
    ended = anon("run", spec, home=tmp_path / "home")
    assert ended.code == 1, ended.err
    assert "k-anonymity" in ended.out
    assert "guarded value" not in ended.out
    assert versions_of(spec) == []


@pytest.mark.parametrize("method", ["global", "prioritised"])
def test_a_method_that_leaves_guarded_values_refuses_with_the_numbers(tmp_path, method):
    run = run_of(publication(tmp_path, recode={"method": method}), tmp_path / "home")
    steps.stage(run, "samples/people.csv")
    with pytest.raises(PolicyNotMetError, match=r"freeform threat to column 'illness' of at most 0\.15 not reached"):
        steps.recode(run)


def test_a_breach_shuts_the_gate(tmp_path):
    spec = publication(tmp_path, recode={"method": "none"}, rows=[row for row in patients() if CANARY not in row])
    ended = anon("run", spec, home=tmp_path / "home")
    assert ended.code == 1, ended.err
    assert "1 way to infer a guarded value of illness" in ended.out
    assert "largest threat 1 (illness), 0.15 allowed" in ended.out
    assert versions_of(spec) == []


@pytest.mark.parametrize("recode", [THEN, {"method": "none"}, {"method": "best"}], ids=["passed", "refused", "best"])
def test_no_cell_that_must_not_get_out_gets_out(tmp_path, recode):
    spec, home = publication(tmp_path, recode=recode), tmp_path / "home"
    ended = anon("run", spec, "--json", home=home)
    assert ended.code == (recode["method"] == "none"), ended.err
    said = [ended, anon("audit", "show", "people", "--json", home=home), anon("audit", "export", home=home)]
    assert [one for one in said if RARE in one.out + one.err] == []
    assert found_in(tmp_path, [RARE], but=written_by_people(spec)) == []
    # The guard itself is a word of the publication file: it stands in the suite beside the notes, and nowhere else.
    assert found_in(portal_of(spec).parent, [CANARY], but=written_by_people(spec)) == []
    assert {place.split(" (")[0].split("/")[-1] for place in found_in(home, [CANARY])} <= {"gate.json"}
    assert CANARY not in ended.out + ended.err


def test_the_suite_names_files_as_the_publication_does_and_no_folder(tmp_path):
    run = run_of(publication(tmp_path), tmp_path / "home")
    suite = measurement.render_suite(run.publication, rows_before=35, today=steps._today())
    (entry,) = [one for one in suite["expectations"] if one["type"] == "expect_no_freeform_breach"]
    assert entry["kwargs"]["columns"] == ["sex", "town", "illness"]
    assert entry["kwargs"]["hierarchies"]["sex"] == {"root": "any"}
    assert entry["kwargs"]["hierarchies"]["illness"]["file"] == "hierarchies/illness.csv"
    assert entry["kwargs"]["guards"] == {"illness": GUARD}
    assert str(tmp_path) not in json.dumps(suite)
    assert entry["type"] in measurement.mandatory(run.publication, steps._today())
    assert json.loads(json.dumps(suite)) == suite


def test_a_hierarchy_changed_after_the_run_began_is_noticed(tmp_path):
    run = run_of(publication(tmp_path), tmp_path / "home")
    steps.stage(run, "samples/people.csv")
    steps.recode(run)
    file = run.publication.resolve("hierarchies/illness.csv")
    file.write_text(file.read_text() + "Cold;VI\n")
    with pytest.raises((RefusedError, InvalidInputError), match="changed"):
        steps.gate(run)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"columns": {**COLUMNS, "sex": {"role": "quasi", "hierarchy": {"root": "M"}}}}, "read like the root"),
        (
            {"freeform": {**FREEFORM, "columns": {"illness": {"guard": ["Aids"]}}}},
            "column 'illness', guard in privacy.freeform",
        ),
        ({"rows": [*patients(), ("P", "M", "Alba", "Cold")]}, "'illness': 1 distinct value, 1 row"),
    ],
    ids=["root", "guard", "unmapped"],
)
def test_what_the_gate_could_not_measure_is_found_before_any_work(tmp_path, changes, words):
    run = run_of(publication(tmp_path, **changes), tmp_path / "home")
    with pytest.raises(InvalidInputError, match=words):
        steps.stage(run, "samples/people.csv")


def test_an_unknown_label_in_a_release_shuts_the_gate(tmp_path):
    run = run_of(publication(tmp_path), tmp_path / "home")
    file = tmp_path / "people.csv"
    file.write_text("sex,town,illness\n" + "any,*,Cold\n" * 35)
    verdict = measurement.measure(run.publication, [file], rows_before=35, today=steps._today())
    failed = {check.name: check.sentence for check in verdict.checks if not check.passed}
    assert "hierarchy of illness does not know 1 label, in 35 rows" in failed["no_freeform_breach"]
    assert "Cold" not in str(verdict.to_dict())


@pytest.mark.parametrize(("threshold", "tells"), [(0.3, True), (0.15, False)])
def test_without_quasi_identifiers_it_is_measured_too(tmp_path, threshold, tells):
    """Of 35 people 7 have what is guarded."""
    spec = publication(
        tmp_path,
        columns={**COLUMNS, "sex": {"role": "drop"}, "town": {"role": "drop"}},
        recode={"method": "freeform"},
        freeform={**FREEFORM, "sigma_t": threshold},
        published_uniqueness={"max_share": 1.0},
    )
    ended = anon("run", spec, home=tmp_path / "home")
    assert ended.code == 0, ended.err + ended.out
    assert list(released(spec)[0]) == ["illness"]
    assert ("AIDS" in {row["illness"] for row in released(spec)}) is tells
