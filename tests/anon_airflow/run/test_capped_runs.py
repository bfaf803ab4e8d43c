"""Publications that leave out what one person has beyond `privacy.max_rows_per_person`."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from anon_airflow import steps
from anon_airflow.run.summary import summary_lines
from anon_airflow.sources.staging import ORIGINAL, SURPLUS
from anon_core.publishing.distribution import write_parquet
from anon_core.table import RELEASED, Table, read
from tests.anon_airflow.run.step_runs import take
from tests.anon_airflow.run.test_people_runs import begun, visits
from tests.faults.anon_process import anon
from tests.faults.publications import files_below, portal_of, source_of

CAP = {"max_rows_per_person": 3}
ALL = ("stage", "recode", "detect", "score", "gate", "publish", "record")


def uneven() -> list[tuple[str, ...]]:
    """Three rows for most people; seven for one of them, five for another."""
    rows = visits()
    for person, town, sex, more in (("AlbaF000", "Alba", "F", 4), ("ElvaM001", "Elva", "M", 2)):
        rows += [(person, f"x{len(rows) + n}", town, sex, "abcd"[n]) for n in range(more)]
    return rows


def released(run: Any) -> bytes:
    return (portal_of(run.publication.file) / "people/latest/people.csv").read_bytes()


def report_of(run: Any) -> dict[str, Any]:
    latest = portal_of(run.publication.file) / "people/latest/report.json"
    report: dict[str, Any] = json.loads(latest.read_bytes())
    return report


def test_surplus_rows_of_a_person_are_left_out_counted_and_told(tmp_path: Path) -> None:
    run = begun(tmp_path, uneven(), privacy=CAP)
    staged = take(run, "stage")
    assert (staged["rows"], staged["rows_capped"], staged["people_capped"], staged["people"]) == (96, 6, 2, 32)
    take(run, *ALL[1:])
    checks = {one["name"]: one for one in run.noted("gate")["checks"]}
    assert checks["rows_capped"]["passed"] and checks["removal"]["passed"]
    assert checks["max_rows_per_person"]["observed"] == 3
    assert checks["rows_suppressed_at_most"]["observed"] == 0, "what was capped is no suppression"
    assert report_of(run)["rows"] == {"published": 96, "removed": 0, "dropped": 0, "capped": 5, "rounded_to": 5}
    (internal,) = (path for path in (tmp_path / "home").rglob("*.json") if b'"internal"' in path.read_bytes())
    said = "\n".join(summary_lines(json.loads(internal.read_bytes())))
    assert "rows left out       6 of 2 people with more rows than allowed" in said
    assert not [path for path in files_below(tmp_path) if path.name == SURPLUS]
    pages = "".join(path.read_text() for path in portal_of(run.publication.file).rglob("*.html"))
    assert "Left out because one person had more rows than allowed: 5 to 9 rows." in pages


def test_neither_the_order_of_the_source_nor_the_names_of_people_change_what_is_released(tmp_path: Path) -> None:
    rows = uneven()
    renamed = [(f"z{hash_of(row[0])}", *row[1:]) for row in reversed(rows)]
    runs = [begun(tmp_path / name, some, privacy=CAP) for name, some in (("one", rows), ("two", renamed))]
    for run in runs:
        take(run, *ALL)
    assert released(runs[0]) == released(runs[1])


def hash_of(text: str) -> int:
    return sum((at + 1) * ord(letter) * 7919 for at, letter in enumerate(text))


def test_a_person_with_one_row_each_is_capped_too(tmp_path: Path) -> None:
    run = begun(tmp_path, uneven(), privacy={"max_rows_per_person": 1})
    staged = take(run, "stage")
    assert (staged["rows"], staged["rows_capped"], staged["people_capped"]) == (32, 70, 32)
    take(run, *ALL[1:])
    assert report_of(run)["rows"]["published"] == 32


def without_the_first(table: Table) -> Table:
    return table.keep(np.arange(table.rows) > 0)


def robbed(kept: Table, surplus: Table) -> tuple[Table, Table]:
    """Leave out a row of a person who has no more than allowed."""
    place = next(at for at, name in enumerate(kept.names) if name.startswith("person"))
    capped = set(surplus.columns[place].domain.to_pylist())
    whose = kept.columns[place]
    at = next(at for at, code in enumerate(whose.codes) if whose.domain[int(code)].as_py() not in capped)
    out = np.arange(kept.rows) == at
    return kept.keep(~out), added(kept.keep(out), surplus)


def edited(run: Any, change: Callable[[Table, Table], tuple[Table, Table]]) -> None:
    """Change what was staged, and say that this was put on record."""
    paths = [run.staging / ORIGINAL, run.staging / SURPLUS]
    for path, table in zip(paths, change(*(read(path, RELEASED) for path in paths)), strict=True):
        write_parquet(table, path)


def moved(kept: Table, surplus: Table) -> tuple[Table, Table]:
    """Leave out another row of the same person: one that stayed in the place of one that did not."""
    from anon_core.table.assembling import stack

    place = next(at for at, name in enumerate(kept.names) if name.startswith("person"))
    whole = Table(
        columns=tuple(stack([kept.columns[at], surplus.columns[at]]) for at in range(len(kept.columns))),
        rows=kept.rows + surplus.rows,
    )
    person = whole.columns[place].codes[-1]
    out = np.arange(whole.rows) >= kept.rows
    visit = whole.columns[whole.names.index("visit")].codes
    mine = np.flatnonzero((whole.columns[place].codes == person) & ~out)
    back = next(at for at in np.flatnonzero(out) if whole.columns[place].codes[at] == person)
    other = next(at for at in mine if visit[at] != visit[back])
    out[[other, back]] = True, False
    return whole.keep(~out), whole.keep(out)


TAMPERED: dict[str, tuple[Callable[[Table, Table], tuple[Table, Table]], str]] = {
    "a person of too few rows": (robbed, "rows of 1 person were left out who do not have 3 rows left"),
    "too many stay": (lambda kept, out: (added(kept, out), out), "with more than 3 rows in the staged table"),
    "other rows of the same people": (moved, "the rows left out are not those that the rule selects"),
    "no columns": (lambda kept, out: (kept, out.select(["visit"])), "do not have the columns of the staged table"),
}


def added(kept: Table, out: Table) -> Table:
    from anon_core.table.assembling import stack

    columns = tuple(stack([kept.columns[at], out.columns[at]]) for at in range(len(kept.columns)))
    return Table(columns=columns, rows=kept.rows + out.rows)


@pytest.mark.parametrize("name", TAMPERED)
def test_what_was_left_out_is_held_against_what_stays(tmp_path: Path, name: str) -> None:
    from anon_airflow.gate.surplus import surplus_problem

    run = begun(tmp_path, uneven(), privacy=CAP)
    unit = take(run, "stage")["unit"]
    change, said = TAMPERED[name]
    paths = run.staging / ORIGINAL, run.staging / SURPLUS
    assert surplus_problem(run.publication, *paths, unit=unit, most=3) is None
    edited(run, change)
    assert said in str(surplus_problem(run.publication, *paths, unit=unit, most=3))


@pytest.mark.parametrize("how", ["changed", "gone"])
def test_rows_left_out_that_are_not_those_on_record_shut_the_gate(tmp_path: Path, how: str) -> None:
    run = begun(tmp_path, uneven(), privacy=CAP)
    take(run, *ALL[:4])
    if how == "gone":
        (run.staging / SURPLUS).unlink()
    else:
        edited(run, lambda kept, out: (kept, without_the_first(out)))
    with pytest.raises(Exception, match="is missing or was changed"):
        steps.gate(run)
    assert not run.gated.exists()


def test_a_gate_that_is_not_given_what_was_left_out_still_counts_the_rows_of_people(tmp_path: Path) -> None:
    run = begun(tmp_path, uneven())
    take(run, *ALL[:4])
    limited = run.publication.model_copy(
        update={"privacy": run.publication.privacy.model_copy(update={"max_rows_per_person": 3})}
    )
    from anon_airflow.gate.measurement import measure
    from anon_airflow.gate.witness import STAGED, Witness
    from anon_airflow.sources.staging import staged_original

    with run.audit() as audit:
        staged = run.history(audit).staged
    verdict = measure(
        limited,
        sorted((run.staging / "release").iterdir()),
        rows_before=staged["rows"],
        today=steps._today(),
        original=staged_original(run, staged["sha256"]),
        witness=Witness(path=run.staging / STAGED, unit=staged["unit"]),
    )
    failed = {one.name: one.sentence for one in verdict.checks if not one.holds}
    assert "2 people with more than 3 rows in the staged table" in failed["rows_capped"]
    assert "2 of 32 people have more" in failed["max_rows_per_person"]


def test_by_hand_the_same_rows_are_left_out_as_in_a_run(tmp_path: Path) -> None:
    run = begun(tmp_path / "run", uneven(), privacy=CAP)
    take(run, *ALL)
    spec, out = run.publication.file, tmp_path / "out.csv"
    source = source_of(spec)
    ended = anon("recode", source, "--spec", spec, "--output", out, "--json", home=tmp_path / "home")
    assert (ended.json["rows"], ended.json["rows_capped"], ended.json["people_capped"]) == (96, 6, 2)
    assert Counter(out.read_bytes().splitlines()) == Counter(released(run).splitlines())
    told = anon("recode", source, "--spec", spec, "--output", out, "--force", home=tmp_path / "home")
    assert "left out because of privacy.max_rows_per_person: 6 rows of 2 people" in told.out
    options = ("--spec", spec, "--output", out, "--force", "--keep-order")
    assert anon("recode", source, *options, home=tmp_path / "home").code == 0
    beside = anon("check", out, "--spec", spec, "--original", source, "--same-order", "--json", home=tmp_path / "home")
    removal = next(one for one in beside.json["checks"] if one["name"] == "removal")
    assert removal["passed"] and removal["observed"] == 0, "as collected is what is left of the surplus"


def test_too_many_rows_without_a_limit_are_as_before(tmp_path: Path) -> None:
    run = begun(tmp_path, uneven())
    staged = take(run, "stage")
    assert (staged["rows"], staged["rows_capped"]) == (102, 0)
    assert not (run.staging / SURPLUS).exists()
    take(run, *ALL[1:])
    assert report_of(run)["rows"]["capped"] is None


@pytest.mark.parametrize(
    ("rows", "unit", "verifiable"),
    [
        (visits(rows=1), "row", True),
        ([("", "", *row[2:]) for row in visits(rows=1)], "row", False),
        ([("", *row[1:]) for row in visits(rows=3)], "row", False),
        ([("", *row[1:]) for row in visits(rows=3)], "case_no", False),
        (visits(rows=1), "person", True),
        (visits(rows=1), "case_no", True),
        (visits(), "person", None),
    ],
)
def test_whether_anything_could_contradict_the_claim_is_on_the_page(
    tmp_path: Path, rows: list[tuple[str, ...]], unit: str, verifiable: bool | None
) -> None:
    run = begun(tmp_path, rows, unit=unit)
    take(run, *ALL)
    assert report_of(run)["people"]["verifiable"] is verifiable
    pages = "".join(path.read_text() for path in portal_of(run.publication.file).rglob("*.html"))
    assert ("this is not verifiable, because" in pages) is (verifiable is False)


def test_identifiers_that_contradict_a_claim_answered_for_by_name_do_not_verify_it(tmp_path: Path) -> None:
    word = {"reason": "Every case is another family, numbers are reused", "by": "Ada", "until": "2027-06-30"}
    run = begun(tmp_path, unit={"rows_are_people": word})
    assert take(run, "stage")["verifiable"] is None


def test_the_smallest_table_counts_people_exactly_where_a_witness_tells(tmp_path: Path) -> None:
    run = begun(tmp_path, visits(people_of_class=6, rows=4))
    take(run, *ALL[:4])
    from anon_airflow.gate.measurement import measure
    from anon_airflow.gate.witness import STAGED, Witness
    from anon_airflow.sources.staging import staged_original
    from anon_core.site import SitePolicy

    with run.audit() as audit:
        staged = run.history(audit).staged

    def smallest(**site: Any) -> Any:
        verdict = measure(
            run.publication,
            sorted((run.staging / "release").iterdir()),
            rows_before=staged["rows"],
            today=steps._today(),
            original=staged_original(run, staged["sha256"]),
            witness=Witness(path=run.staging / STAGED, unit=staged["unit"]),
            site=SitePolicy.model_validate(site),
            people=1000,
        )
        return next(one for one in verdict.checks if one.name == "smallest_table")

    few = smallest(min_people=25)
    assert not few.passed and few.observed == 24 and "the table has 24 people" in few.sentence
    assert smallest(min_people=24).passed
