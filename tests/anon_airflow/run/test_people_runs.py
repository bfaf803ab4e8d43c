"""Publications whose people have several rows: counted as people, by a witness that the gate does not just believe."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from anon_airflow import steps
from anon_airflow.gate.witness import KEPT, STAGED
from anon_core.errors import RefusedError
from anon_core.publishing.distribution import write_parquet
from anon_core.table import RELEASED, Column, Table, read
from tests.anon_airflow.run.step_runs import run_of, take
from tests.faults.publications import csv_text, files_below, versions_of, write_publication

NAMES = ("person", "case_no", "town", "sex", "visit")
COLUMNS: dict[str, Any] = {
    "person": {"role": "identifier"},
    "case_no": {"role": "identifier"},
    "town": {"role": "quasi", "hierarchy": {"file": "hierarchies/towns.csv"}},
    "sex": {"role": "quasi"},
    "visit": {"role": "sensitive"},
}
PERSON = "person_"
"""What the column with the numbers of the people is called here, where the source has a `person`."""
BELIEVED = {"recode": {"method": "none"}, "detect": {"max_size": 2}}


def visits(people_of_class: int = 8, rows: int = 3, seed: int = 1) -> list[tuple[str, ...]]:
    """As many people in each class of town and sex, with as many visits each."""
    draw = random.Random(seed)
    found = []
    for town in ("Alba", "Elva"):
        for sex in "FM":
            for number in range(people_of_class):
                person = f"{town}{sex}{number:03}"
                found += [(person, f"c{len(found) + n:05}", town, sex, draw.choice("abcd")) for n in range(rows)]
    draw.shuffle(found)
    return found


def begun(folder: Path, rows: list[tuple[str, ...]] | None = None, **changes: Any) -> Any:
    given = {"unit": "person", **BELIEVED, **changes}
    source = csv_text(visits() if rows is None else rows, NAMES)
    spec = write_publication(folder, source=source, columns=COLUMNS, **given)
    return run_of(spec, folder / "home")


def test_people_are_counted_and_published(tmp_path: Path) -> None:
    run = begun(tmp_path)
    take(run, "stage", "recode", "detect", "score", "gate", "publish", "record")
    with run.audit() as audit:
        checks = {check["name"]: check for check in audit.run(run.run_id, run.dataset)["checks"]}
        assert audit.runs()[0].verdict == "published"
    assert checks["k_anonymity"]["observed"] == 8
    assert checks["witness"]["passed"]
    report = run.noted("gate")
    (k,) = [check for check in report["checks"] if check["name"] == "k_anonymity"]
    assert "8 people" in k["message"]


def test_many_rows_of_few_people_are_refused(tmp_path: Path) -> None:
    run = begun(tmp_path, visits(people_of_class=3, rows=4))
    take(run, "stage", "recode", "detect", "score")
    with pytest.raises(RefusedError) as caught:
        steps.gate(run)
    assert "smallest class has 3 people, 5 required" in str(caught.value)


@pytest.mark.parametrize(
    ("unit", "said"),
    [
        ("row", "person spans units: 96 rows, 32 people; say `unit: person`"),
        ("case_no", "person spans units: 96 rows, 32 people, which contradicts `unit: case_no`"),
        (["person", "case_no"], "person spans units: 96 rows, 32 people"),
    ],
)
def test_a_claim_that_an_identifier_contradicts_is_refused(tmp_path: Path, unit: Any, said: str) -> None:
    with pytest.raises(RefusedError) as caught:
        take(begun(tmp_path, unit=unit), "stage")
    assert said in str(caught.value)
    assert files_below(tmp_path / "home/staging") == []


def test_a_person_may_answer_for_the_claim_that_rows_are_people(tmp_path: Path) -> None:
    word = {"reason": "Every case is another family, numbers are reused", "by": "Ada", "until": "2027-06-30"}
    run = begun(tmp_path, unit={"rows_are_people": word})
    assert take(run, "stage")["unit"] is None


def test_rows_without_a_unit_add_nobody_and_are_one_person_where_nobody_is_known(tmp_path: Path) -> None:
    rows = [("", *row[1:]) if row[2] == "Alba" and row[3] == "F" else row for row in visits()]
    run = begun(tmp_path, rows)
    take(run, "stage", "recode", "detect", "score")
    with pytest.raises(RefusedError) as caught:
        steps.gate(run)
    assert "smallest class has 1 person, 5 required" in str(caught.value)


def test_one_row_for_each_person_is_published_as_rows(tmp_path: Path) -> None:
    run = begun(tmp_path, visits(rows=1))
    assert take(run, "stage")["unit"] is None
    take(run, "recode", "detect", "score", "gate", "publish")
    assert not list(tmp_path.rglob(KEPT))


Change = Callable[[Table], Table]


def with_people(change: Callable[[Any], Any]) -> Change:
    """Change whose the rows are, in a witness that stays as it is otherwise."""

    def changed(table: Table) -> Table:
        place = table.names.index(PERSON)
        column = table.columns[place]
        codes = np.asarray(change(column.codes), np.int32)
        columns = list(table.columns)
        columns[place] = Column(name=column.name, codes=codes, domain=column.domain)
        return Table(columns=tuple(columns), rows=table.rows)

    return changed


WITNESSES: dict[str, tuple[Change, str]] = {
    "swapped": (with_people(lambda codes: np.concatenate([codes[1:], codes[:1]])), "more than were collected"),
    "shifted": (with_people(lambda codes: (codes + 1) % (codes.max() + 1)), "more than were collected"),
    "another person for each row": (with_people(lambda codes: np.arange(len(codes)) % 32), "more than were collected"),
    "shortened": (lambda table: table.keep(np.arange(table.rows) > 0), "does not hold the published rows (95 against"),
    "without people": (lambda table: table.select([n for n in table.names if n != PERSON]), "the columns that it"),
}


@pytest.mark.parametrize("name", WITNESSES)
def test_a_witness_that_is_not_that_of_the_originals_is_refused(tmp_path: Path, name: str) -> None:
    run = begun(tmp_path)
    take(run, "stage", "recode", "detect", "score")
    change, said = WITNESSES[name]
    path = run.staging / STAGED
    write_parquet(change(read(path, RELEASED)), path)
    with pytest.raises(RefusedError) as caught:
        steps.gate(run)
    assert said in str(caught.value)


def test_a_witness_with_other_values_beside_the_labels_is_refused(tmp_path: Path) -> None:
    run = begun(tmp_path)
    take(run, "stage", "recode", "detect", "score")
    path = run.staging / STAGED
    table = read(path, RELEASED)
    sex = table.names.index("sex as collected")
    column = table.columns[sex]
    other = Column(name=column.name, codes=(1 - column.codes).astype(np.int32), domain=column.domain)
    write_parquet(Table(columns=(*table.columns[:sex], other, *table.columns[sex + 1 :]), rows=table.rows), path)
    with pytest.raises(RefusedError):
        steps.gate(run)


def test_a_witness_that_is_gone_shuts_the_gate(tmp_path: Path) -> None:
    run = begun(tmp_path)
    take(run, "stage", "recode", "detect", "score")
    (run.staging / STAGED).unlink()
    with pytest.raises(RefusedError) as caught:
        steps.gate(run)
    assert "the witness cannot be compared with the rows" in str(caught.value)


@pytest.mark.parametrize("how", ["changed", "gone"])
def test_a_witness_that_was_changed_after_the_gate_is_refused_by_publish(tmp_path: Path, how: str) -> None:
    run = begun(tmp_path)
    take(run, "stage", "recode", "detect", "score", "gate")
    path = run.gated / KEPT
    if how == "gone":
        path.unlink()
    else:
        write_parquet(with_people(lambda codes: np.arange(len(codes)) % 32)(read(path, RELEASED)), path)
    with pytest.raises(RefusedError) as caught:
        steps.publish(run)
    assert "another witness" in str(caught.value)
    assert versions_of(run.publication.file) == []


def test_nothing_of_a_witness_outlives_its_run(tmp_path: Path) -> None:
    run = begun(tmp_path)
    take(run, "stage", "recode", "detect", "score", "gate")
    assert [path.name for path in files_below(tmp_path / "home/staging")] == []
    kept = read(run.gated / KEPT, RELEASED)
    assert kept.names == ("town", "sex", "visit", PERSON), "what they were is gone with the staging area"
    assert (run.gated / KEPT).stat().st_mode & 0o777 == 0o600
    take(run, "publish", "record")
    assert not [path for path in files_below(tmp_path) if "witness" in path.name or ".nonce" in path.name]


def without_a_class(run: Any) -> None:
    """Leave one class out of everything that recode has written, as a method that removes for diversity would."""
    from anon_core.publishing.distribution import write_csv

    def left(table: Table) -> Table:
        cells = table.to_arrow()
        town, sex = (np.asarray(cells.column(name).to_pylist()) for name in ("town", "sex"))
        return table.keep((town != "Alba") | (sex != "F"))

    for path in (run.staging / STAGED, *(run.staging / "release").iterdir()):
        write = write_csv if path.suffix == ".csv" else write_parquet
        write(left(read(path, RELEASED)), path)


@pytest.mark.parametrize("unit", ["person", "row"])
def test_the_gate_refuses_a_class_that_is_missing_and_that_k_alone_would_have_kept(tmp_path: Path, unit: str) -> None:
    lenient = {"suppression_limit": 0.5}
    run = begun(tmp_path, visits(rows=1 if unit == "row" else 3), unit=unit, privacy=lenient)
    take(run, "stage", "recode", "detect", "score")
    without_a_class(run)
    with pytest.raises(RefusedError) as caught:
        steps.gate(run)
    rows = 8 if unit == "row" else 24
    assert f"removal: {rows} rows removed that k 5 alone would keep, 0 allowed" in str(caught.value)


def test_a_class_that_is_smaller_than_k_may_be_missing(tmp_path: Path) -> None:
    rows = [row for row in visits() if row[2] != "Alba" or row[3] != "F" or row[0] < "AlbaF004"]
    run = begun(tmp_path, rows, privacy={"suppression_limit": 0.5})
    take(run, "stage", "recode", "detect", "score")
    without_a_class(run)
    steps.gate(run)
    (removal,) = [one for one in run.noted("gate")["checks"] if one["name"] == "removal"]
    assert removal["passed"] and "of 3 original classes that large 0 are missing, 0 coarser" in removal["message"]
