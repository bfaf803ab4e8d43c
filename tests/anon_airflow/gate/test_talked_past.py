"""Publications that were once let through, or refused for a wrong reason, from their source to the portal."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from anon_airflow.gate import measurement
from anon_core.errors import PolicyNotMetError, RefusedError, TableError
from anon_core.spec import load_spec
from tests.anon_airflow.gate.gate_publications import LENIENT, TODAY, failed, write
from tests.anon_airflow.run.step_runs import UNTIL_GATE, run_of, take
from tests.faults.publications import csv_text
from tests.faults.search import found_in

YEARS = ("1980", "1990")
UNTIL_RECODED = ("stage", "detect", "score", "recode")


def publication(
    folder: Path, names: Any, rows: Any, columns: Any, *, privacy: Any = None, files: Any = None, **more: Any
) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "x.csv").write_text(csv_text(rows, names))
    for name, text in (files or {}).items():
        (folder / name).write_text(text)
    spec = {
        "dataset": "people",
        "title": "People",
        "source": {"file": "x.csv"},
        "columns": columns,
        "privacy": {
            "k": 3,
            **(privacy or {}),
            "published_uniqueness": {**LENIENT, **(privacy or {}).get("published_uniqueness", {})},
        },
        "recode": {"method": "global"},
        "unit": "row",
        "reviewed": {"by": "Ada", "on": "2026-01-02"},
        "portal": {"folder": "portal"},
        **more,
    }
    path = folder / "people.yaml"
    path.write_text(yaml.safe_dump(spec, sort_keys=False, allow_unicode=True))
    return path


def published(spec: Path) -> dict[str, Any]:
    run = run_of(spec, spec.parent / "home")
    take(run, *UNTIL_GATE, "publish")
    return json.loads((spec.parent / "portal/people/latest/report.json").read_text())


def refused(spec: Path) -> str:
    run = run_of(spec, spec.parent / "home")
    with pytest.raises(RefusedError) as caught:
        take(run, *UNTIL_GATE)
    return str(caught.value)


def with_phones(folder: Path, phones: list[str], role: str = "sensitive", **privacy: Any) -> Path:
    rows = [(YEARS[at % 2], phone) for at, phone in enumerate(phones)]
    columns = {"y": {"role": "quasi"}, "phone": {"role": role}}
    return publication(folder, ("y", "phone"), rows, columns, privacy=privacy)


@pytest.mark.parametrize("without", [12, 100, 197])
def test_a_telephone_number_names_whoever_has_one(tmp_path: Path, without: int) -> None:
    phones = [f"+39 333 {at:06}" if at >= without else "" for at in range(200)]
    assert "100.0% of the values of phone occur once" in refused(with_phones(tmp_path, phones))


def test_a_column_of_nothing_but_gaps_names_nobody(tmp_path: Path) -> None:
    assert published(with_phones(tmp_path, [""] * 20))["rows"]["published"] == 20


@pytest.mark.parametrize("role", ["other", "sensitive"])
def test_no_share_of_rows_lets_a_column_of_names_through(tmp_path: Path, role: str) -> None:
    names = [f"Somebody {at}" for at in range(20)]
    spec = with_phones(tmp_path / "a", names, role, published_uniqueness={"max_share": 1.0})
    if role == "other":
        with pytest.raises(PolicyNotMetError) as caught:
            take(run_of(spec, tmp_path / "a/home"), *UNTIL_RECODED)
        said = str(caught.value)
        assert "phone is declared other" in said and "20 are alone" in said and "drop phone" in said
    else:
        said = refused(spec)
        assert "published identifiers" in said
    assert "Somebody" not in said
    accept = {"columns": ["phone"], "reason": "a public list", "by": "A. Rossi", "until": "2999-12-31"}
    report = published(with_phones(tmp_path / "b", names, role, published_uniqueness={"accept": [accept]}))
    assert [one["needed"] for one in report["privacy"]["accepted"]] == [True]


def all_other(folder: Path, times: int, **limits: Any) -> Path:
    """Pairs of columns are common, all three together single out unless each row is there ``times``."""
    cells = [(f"{a}", f"{b}", f"{(a + b) % 5}") for a in range(5) for b in range(5) for _ in range(times)]
    columns = {name: {"role": "other"} for name in ("a", "b", "c")}
    return publication(
        folder, ("a", "b", "c"), cells, columns, recode={"method": "none"}, privacy={"published_uniqueness": limits}
    )


def test_without_quasi_columns_whole_rows_are_looked_at_whatever_the_size(tmp_path: Path) -> None:
    said = refused(all_other(tmp_path / "a", 1, max_size=1))
    assert "a, b, c: 25 rows" in said
    report = published(all_other(tmp_path / "b", 3, max_size=1, max_share=0.25))
    assert report["privacy"]["published_uniqueness"] == {
        "max_size": 1,
        "max_share": 0.25,
        **LENIENT,
        "columns": ["a", "b", "c"],
        "protected": [],
    }
    page = (tmp_path / "b/portal/people/index.html").read_text()
    assert "all sets of up to 1 were searched" in page and "none leaves more than 25 % of the rows alone" in page


@pytest.mark.parametrize(
    ("header", "columns"),
    [
        (("Qanary Rossi", "1950", "F"), ("name", "born", "F")),
        (("Qanary Rossi", "1950", "F", "M", "x"), ("F", "M")),
        (("Qanary Rossi", "F"), ("F",)),
    ],
)
def test_cells_of_a_file_without_a_header_are_not_told(tmp_path: Path, header: Any, columns: Any) -> None:
    roles = {name: {"role": "other" if name == "F" else "quasi"} for name in columns}
    spec = publication(tmp_path, header, [[f"{cell}'" for cell in header]] * 8, roles, recode={"method": "none"})
    run = run_of(spec, tmp_path / "home")
    with pytest.raises(TableError, match="at place") as caught:
        take(run, "stage")
    assert "Qanary" not in str(caught.value)
    take(run, "record")
    assert found_in(tmp_path / "home", ["Qanary"]) == []


def test_one_more_column_in_a_good_file_is_named(tmp_path: Path) -> None:
    spec = publication(tmp_path, ("y", "s", "shoe"), [("1", "2", "3")] * 5, {n: {"role": "quasi"} for n in "ys"})
    with pytest.raises(TableError, match=r"not declared in people\.yaml: shoe"):
        take(run_of(spec, tmp_path / "home"), "stage")


TOWNS = [("A", "x")] * 10 + [("B", "x")] * 10 + [(f"T{at}", f"j{at}") for at in range(20)]


def with_tops(folder: Path, **more: Any) -> Path:
    files = {
        name: "".join(f"{value};{top}\n" for value in sorted({row[at] for row in TOWNS}))
        for at, (name, top) in enumerate({"t.csv": "All of it;Everywhere", "j.csv": "Anything"}.items())
    }
    columns = {
        "town": {"role": "quasi", "hierarchy": {"file": "t.csv"}},
        "job": {"role": "quasi", "hierarchy": {"file": "j.csv"}},
    }
    more = {"privacy": {"k": 5, "suppression_limit": 0.1}, **more}
    return publication(folder, ("town", "job"), TOWNS, columns, files=files, **more)


@pytest.mark.parametrize("method", ["global", "prioritised", "best", "singletons"])
def test_rows_at_the_top_word_of_a_hierarchy_file_are_suppressed(tmp_path: Path, method: str) -> None:
    recode = {"method": method} | ({"singletons": {"columns": ["town", "job"]}} if method == "singletons" else {})
    run = run_of(with_tops(tmp_path, recode=recode), tmp_path / "home")
    with pytest.raises(PolicyNotMetError):
        take(run, *UNTIL_RECODED)


def test_the_gate_counts_the_top_words_of_a_file_itself(tmp_path: Path) -> None:
    blank = [("All of it", "Anything"), ("Everywhere", "*"), ("*", "Anything")]
    files = write(tmp_path, [*TOWNS[:20], *(row for row in blank for _ in range(5))], ("town", "job"))
    verdict = measurement.measure(load_spec(with_tops(tmp_path)), files, rows_before=35, today=TODAY)
    assert failed(verdict) == {"rows_suppressed_at_most"}
    assert "15 of 35 rows (42.86%; 0 removed, 15 say nothing any more)" in verdict.reasons[0]


def test_values_of_the_source_that_read_like_the_root_are_explained(tmp_path: Path) -> None:
    spec = publication(tmp_path, ("a",), [("*",), ("x",)] * 6, {"a": {"role": "quasi"}})
    assert "if values of the source read like the root, name it otherwise: `hierarchy: {root: ...}`" in refused(spec)


def linked(folder: Path, recode: dict[str, Any], **privacy: Any) -> Path:
    rows = [(str(1940 + at * 7 % 60), "ABCD"[at % 4]) for at in range(60)]
    columns = {"y": {"role": "quasi", "hierarchy": {"intervals": [5, 10, 20]}}, "t": {"role": "quasi"}}
    policy = {"k_means": "link", "suppression_limit": 0.1, **privacy}
    return publication(folder, ("y", "t"), rows, columns, privacy=policy, recode=recode)


def years(size: int) -> dict[str, Any]:
    return {"singletons": {"years": {"column": "y", "intervals": "rows", "size": size, "replace": "range"}}}


@pytest.mark.parametrize(
    "recode",
    [
        {"method": "prioritised", "mode": "link", **years(5)},
        {"method": "best", "mode": "link", **years(5)},
        {"method": "singletons", **years(15)},
    ],
    ids=["written and not used", "perhaps used", "used"],
)
def test_link_k_is_measured_whether_a_column_was_grouped_or_not(tmp_path: Path, recode: dict[str, Any]) -> None:
    report = published(linked(tmp_path, recode))
    assert report["privacy"]["k"] == {"exact": None}, "the originals took part"
    passed = {check["name"]: check["passed"] for check in report["privacy"]["checks"]}
    assert passed["link_k"] is passed["source_k"] is True


def test_a_risk_that_mode_link_does_not_reach_is_told_by_recoding(tmp_path: Path) -> None:
    spec = linked(tmp_path / "a", {"method": "prioritised", "mode": "link"}, max_risk=0.34)
    with pytest.raises(PolicyNotMetError, match=r"risk of at most 0\.34 not reached: best 1 .*`recode\.mode: safe`"):
        take(run_of(spec, tmp_path / "a/home"), *UNTIL_RECODED)
    report = published(linked(tmp_path / "b", {"method": "best", "mode": "link"}, max_risk=0.34))
    assert report["privacy"]["risk"]["highest"] <= 0.34


ILLNESSES = "Flu;Mild;Any\nCold;Mild;Any\nHIV;Severe;Any\nCancer;Severe;Any\n"


def guarded(folder: Path, *, y: Any = None, rows: Any = None, sigma_t: float = 0.1, **privacy: Any) -> Path:
    listed = ("Flu", "Cold", "HIV", "Cancer", "Flu", "Cold", "Flu", "Cold")
    columns = {"y": y or {"role": "quasi"}, "d": {"role": "sensitive", "hierarchy": {"file": "d.csv"}}}
    policy = {"freeform": {"sigma_o": 0.5, "sigma_t": sigma_t, "columns": {"d": {"guard": ["HIV", "Cancer"]}}}}
    return publication(
        folder,
        ("y", "d"),
        rows or [(year, illness) for year in YEARS for illness in listed],
        columns,
        files={"d.csv": ILLNESSES},
        privacy={"k": 2, **policy, **privacy},
        recode={"method": "freeform"},
    )


def test_waived_hierarchical_closeness_of_generalised_illnesses_is_measured(tmp_path: Path) -> None:
    waiver = {"check": "t_closeness(d)", "reason": "there are few values", "by": "A. Rossi", "until": "2999-12-31"}
    close = [{"column": "d", "t": 0.5, "distance": "hierarchical"}]
    report = published(guarded(tmp_path, t_closeness=close, waivers=[waiver]))
    found = {c["observed"] for c in report["privacy"]["checks"] if c["name"] == "t_closeness(d, hierarchical)"}
    assert found == {0.0}, "both years have the same labels"


def test_guarded_values_beside_a_column_that_was_split_and_suppressed_are_measured(tmp_path: Path) -> None:
    split = {"widths": [2, 2], "names": ["century", "year"], "unmapped": "suppress", "publish": ["century", "year"]}
    y = {"role": "quasi", "hierarchy": {"root": "any year"}, "decompose": split}
    rows = [(year, illness) for year in (*YEARS, "?") for illness in ("Flu", "Cold", "HIV", "Cancer", "Flu", "Cold")]
    report = published(guarded(tmp_path, y=y, rows=rows, sigma_t=0.6, suppression_limit=0.5))
    assert {c["passed"] for c in report["privacy"]["checks"] if c["name"] == "no_freeform_breach"} == {True}
