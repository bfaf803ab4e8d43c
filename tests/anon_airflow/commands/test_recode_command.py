"""``anon recode``: what it prints, writes, refuses and leaves alone."""

from __future__ import annotations

import csv
import random
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.faults.anon_process import Ended, anon
from tests.faults.publications import COLUMNS, NAMES, TOWNS, csv_text, people

CANARY = "Qanaryville"
QUASI = ("born", "town", "sex")
LOCALLY = [
    {"method": "prioritised", "mode": "safe", "improve": 3},
    {"method": "prioritised", "mode": "link", "improve": 3},
    {"method": "prioritised", "mode": "paper"},
    {"method": "best", "improve": 3},
]
SINGLETONS = {"method": "singletons", "singletons": {"columns": ["town", "sex"]}}


@pytest.fixture
def table(tmp_path) -> Path:
    path = tmp_path / "people.csv"
    path.write_text(csv_text(people()))
    return path


def spec_of(folder: Path, **changes: Any) -> Path:
    """A publication file for a command that is given its table: columns, a policy and a method."""
    (folder / "hierarchies").mkdir(exist_ok=True)
    towns = [*TOWNS, (CANARY, "NORTH")]
    (folder / "hierarchies/towns.csv").write_text("".join(";".join(town) + "\n" for town in towns))
    content = {
        "columns": COLUMNS,
        "privacy": {"k": 5, "suppression_limit": 0.05},
        "recode": {"method": "global"},
        **changes,
    }
    path = folder / "spec.yaml"
    path.write_text(yaml.safe_dump({key: one for key, one in content.items() if one is not None}, sort_keys=False))
    return path


def rows_of(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8") as stream:
        return list(csv.DictReader(stream))


def run(folder: Path, *options: str | Path, spec: Path | None = None, out: str = "out.csv") -> Ended:
    return anon(
        *("recode", folder / "people.csv", "--spec", spec or spec_of(folder), "--output", folder / out, *options),
        home=folder / "home",
    )


def test_it_prints_the_keys_of_the_design(tmp_path, table):
    ended = run(tmp_path, "--json")
    assert ended.code == 0, ended.err
    shown = ended.json
    out = rows_of(tmp_path / "out.csv")
    classes = Counter(tuple(row[name] for name in QUASI) for row in out)
    assert shown["method"] == "global"
    assert shown["rows"] == 400
    assert shown["rows_written"] == len(out) == 400 - shown["rows_removed"]
    assert 0 < shown["rows_removed"] <= 20
    assert set(shown["k"]) == {"exact", "link", "source", "concealment"}
    assert shown["k"]["exact"] == min(classes.values()) >= 5
    assert shown["singletons"] == 0
    assert shown["classes"] == len(classes)
    assert set(shown["cells_changed"]) == set(QUASI)
    assert 0 < shown["utility"]["nue"] < 1 and 0 < shown["utility"]["wnue"] < 1
    assert shown["output"] == str(tmp_path / "out.csv")
    assert shown["why"] and shown["optimal"] is True
    assert [one["elected"] for one in shown["candidates"]].count(True) == 1
    elected = next(one for one in shown["candidates"] if one["elected"])
    assert elected["rows_removed"] == shown["rows_removed"]
    assert elected["nue"] == pytest.approx(shown["utility"]["nue"])
    for check in shown["checks"]:
        assert {"name", "passed", "observed", "required"} <= set(check)
    assert shown["holds"] is all(check["passed"] for check in shown["checks"])
    for name, levels in shown["levels"].items():
        assert sum(level["rows"] for level in levels) == len(out), name
    assert shown["sweep"] == []


def test_only_published_columns_are_written_sorted_by_their_own_values(tmp_path, table):
    assert run(tmp_path).code == 0
    lines = (tmp_path / "out.csv").read_text().splitlines()
    assert lines[0] == '"born","town","sex","points"'
    assert lines[1:] == sorted(lines[1:])


@pytest.mark.thorough
def test_the_bytes_do_not_depend_on_the_order_of_the_rows(tmp_path, table):
    for recode in ({"method": "global"}, SINGLETONS, *LOCALLY):
        spec = spec_of(tmp_path, recode=recode)
        found = []
        for seed in (1, 2):
            table.write_text(csv_text(random.Random(seed).sample(people(), 400)))
            shown = run(tmp_path, "--json", "--force", spec=spec)
            assert shown.code == 0, shown.err
            found.append(((tmp_path / "out.csv").read_bytes(), shown.out))
            assert table.read_text() == csv_text(random.Random(seed).sample(people(), 400)), "the input was changed"
        assert found[0] == found[1]


@pytest.mark.parametrize("recode", LOCALLY, ids=lambda one: " ".join(map(str, one.values())))
def test_local_recoding_keeps_what_it_promises_in_the_file_it_writes(tmp_path, table, home, recode):
    spec = spec_of(tmp_path, recode=recode, privacy={"k": 4, "suppression_limit": 0.0})
    shown = run(tmp_path, "--keep-order", "--json", spec=spec)
    assert shown.code == 0, shown.err
    before, after = rows_of(table), rows_of(tmp_path / "out.csv")
    assert len(before) == len(after) and shown.json["rows_removed"] == 0
    changed = {name: sum(b[name] != a[name] for b, a in zip(before, after, strict=True)) for name in QUASI}
    assert shown.json["cells_changed"] == changed
    classes = Counter(tuple(row[name] for name in QUASI) for row in after)
    assert shown.json["k"]["exact"] == min(classes.values())
    checked = anon(
        *("check", tmp_path / "out.csv", "--spec", spec, "--original", table, "--same-order", "--json"), home=home
    )
    assert checked.json["k"] == shown.json["k"]
    promised = {"link": ("link", "source"), "paper": ("source",)}.get(recode.get("mode", ""), ("exact",))
    assert all(shown.json["k"][name] >= 4 for name in promised)


@pytest.mark.parametrize("order", [(), ("--keep-order",)])
def test_cells_that_a_spreadsheet_would_run_are_escaped_where_the_file_asks_for_it(tmp_path, table, order):
    table.write_text(table.read_text().replace(",7,", ",=7,"))
    assert (
        run(tmp_path, *order).code
        == run(tmp_path, *order, spec=spec_of(tmp_path, csv={"escape_formulas": True}), out="safe.csv").code
        == 0
    )
    plain, safe = ([row["points"] for row in rows_of(tmp_path / name)] for name in ("out.csv", "safe.csv"))
    assert plain.count("=7") == safe.count("'=7") > 0
    assert "=7" not in safe
    assert not order or [one.lstrip("'") for one in safe] == plain


def test_parquet_holds_the_same_rows(tmp_path, table, home):
    import pyarrow.parquet as pq

    assert run(tmp_path).code == run(tmp_path, out="out.parquet").code == 0
    assert pq.read_table(tmp_path / "out.parquet").to_pylist() == rows_of(tmp_path / "out.csv")


def test_rows_that_keep_their_order_can_be_compared_one_by_one(tmp_path, table, home):
    spec = spec_of(tmp_path, privacy={"k": 5})
    ended = run(tmp_path, "--keep-order", spec=spec)
    assert ended.code == 0, ended.err
    assert "Do not publish this file" in ended.out
    before, after = rows_of(table), rows_of(tmp_path / "out.csv")
    assert [row["points"] for row in before] == [row["points"] for row in after]
    checked = anon(
        *("check", tmp_path / "out.csv", "--spec", spec, "--original", table, "--same-order", "--json"), home=home
    )
    recoded = run(tmp_path, "--json", "--force", spec=spec).json
    assert checked.json["beside_original"]["paired"] is True
    assert checked.json["k"] == recoded["k"]
    assert checked.json["utility"]["nue"] == pytest.approx(recoded["utility"]["nue"])
    assert checked.json["utility"]["wnue"] == pytest.approx(recoded["utility"]["wnue"])
    # `anon check` is not told what the plan says: which original became which label, at which level.
    assert checked.json["checks"] == [one for one in recoded["checks"] if one["name"] != "restored_values"]


def test_it_says_that_removed_rows_cannot_be_paired(tmp_path, table):
    ended = run(tmp_path, "--keep-order")
    assert ended.code == 0
    removed = 400 - len(rows_of(tmp_path / "out.csv"))
    assert removed > 0
    assert f"without the {removed} removed, so `anon check --same-order` cannot pair them" in ended.out


def test_gaps_are_dropped_and_coded_columns_split_as_the_file_says(tmp_path, table):
    rows = [(*row, f"{at % 3}{at:03}") for at, row in enumerate(people())]
    rows[0] = (rows[0][0], "", *rows[0][2:])
    table.write_text(csv_text(rows, (*NAMES, "zip")))
    split = {"role": "quasi", "decompose": {"widths": [1, 3], "names": ["zone", "rest"], "publish": ["zone"]}}
    spec = spec_of(tmp_path, missing="drop", columns={**COLUMNS, "zip": split})
    ended = run(tmp_path, "--json", spec=spec)
    assert ended.code == 0, ended.err
    assert ended.json["rows"] == 399
    assert ended.json["rows_dropped"] == 1
    assert set(rows_of(tmp_path / "out.csv")[0]) == {"born", "town", "sex", "points", "zone"}


def test_columns_that_are_not_declared_are_left_out_and_named(tmp_path, table):
    table.write_text(csv_text([(*row, CANARY) for row in people()], (*NAMES, "remark")))
    ended = run(tmp_path, "--json")
    assert ended.json["columns_left_out"] == ["remark"]
    assert CANARY not in (tmp_path / "out.csv").read_text()
    assert "not declared, so left out: remark" in run(tmp_path, "--force").out


def test_singletons_show_a_table_of_what_was_tried(tmp_path, table):
    spec = spec_of(tmp_path, recode=SINGLETONS, privacy={"k": 2, "suppression_limit": 0.2})
    shown = run(tmp_path, "--json", spec=spec)
    assert shown.code == 0, shown.err
    assert len([one for one in shown.json["candidates"] if one["method"] == "singletons"]) == 8
    assert shown.json["singletons"] == 0
    ended = run(tmp_path, "--force", spec=spec)
    assert "town local, sex local" in ended.out
    assert ended.out.count("chosen") == 1


def test_what_a_method_does_not_promise_is_told_and_written(tmp_path, table):
    spec = spec_of(tmp_path, recode=SINGLETONS, privacy={"k": 50, "suppression_limit": 0.2})
    shown = run(tmp_path, "--json", spec=spec)
    assert shown.code == 0
    assert shown.json["holds"] is False
    assert shown.json["k"]["exact"] < 50
    assert (tmp_path / "out.csv").exists()
    ended = run(tmp_path, "--force", spec=spec)
    assert "`anon run` would refuse this, because of: k_anonymity" in ended.out


def test_options_count_in_place_of_the_file(tmp_path, table):
    spec = spec_of(tmp_path, recode=SINGLETONS, privacy={"k": 2, "suppression_limit": 0.2})
    assert run(tmp_path, "--json", spec=spec).json["method"] == "singletons"
    shown = run(tmp_path, "--json", "--force", "--method", "global", "-k", "7", spec=spec).json
    assert (shown["method"], shown["k_required"]) == ("global", 7)
    assert shown["k"]["exact"] >= 7
    shown = run(tmp_path, "--json", "--force", "--method", "none", spec=spec).json
    assert (shown["method"], shown["rows_changed"], shown["utility"]["nue"]) == ("none", 0, 1.0)


def test_a_sweep_tells_what_every_k_costs(tmp_path, table):
    shown = run(tmp_path, "--json", "--sweep-k", "10,2,5,300,1000").json
    sweep = {one["k"]: one for one in shown["sweep"]}
    assert list(sweep) == [2, 5, 10, 300, 1000]
    assert sweep[5]["nue"] == pytest.approx(shown["utility"]["nue"])
    assert sweep[5]["rows_removed"] == shown["rows_removed"]
    assert sweep[2]["wnue"] > sweep[10]["wnue"]
    assert sweep[300]["nue"] is None and "300" in sweep[300]["reason"]
    assert sweep[1000] == {
        "k": 1000,
        "nue": None,
        "wnue": None,
        "rows_removed": None,
        "reason": "the table has only 400 rows",
    }
    alone = run(tmp_path, "--json", "--force", "-k", "10").json
    assert alone["utility"]["wnue"] == pytest.approx(sweep[10]["wnue"])
    assert "information left for every k" in run(tmp_path, "--force", "--sweep-k", "2,5").out


@pytest.mark.parametrize("suffix", ["svg", "png"])
def test_it_draws_classes_columns_and_every_k(tmp_path, table, suffix):
    picture = tmp_path / f"picture.{suffix}"
    ended = run(tmp_path, "--plot", picture, "--sweep-k", "2,5,10")
    assert ended.code == 0, ended.err
    assert picture.stat().st_size > 10_000
    if suffix == "svg":
        text = picture.read_text()
        for title in ("Rows by the size of their class", "What is left of every column", "What is left for every k"):
            assert title in text
        assert "born" in text and "Alba" not in text


def test_no_value_is_shown_anywhere(tmp_path, table):
    rows = [*people(), *[("P1", "1950", CANARY, "F", CANARY, CANARY)] * 6]
    table.write_text(csv_text(rows))
    picture = tmp_path / "p.svg"
    drawn = ("--sweep-k", "3", "--plot", picture)
    searched = ("--method", "best", "--improve", "2")
    for options in (drawn, (*drawn, "--json"), searched, ("--method", "none"), ("-k", "400"), ("-k", "9999")):
        ended = run(tmp_path, "--force", *options)
        assert CANARY not in ended.out + ended.err
        assert not any(town in ended.out + ended.err for town, _ in TOWNS)
    assert CANARY not in picture.read_text()


def unreachable(folder: Path) -> Path:
    return spec_of(folder, privacy={"k": 300})


def test_a_policy_that_cannot_be_met_ends_with_1_and_writes_nothing(tmp_path, table):
    ended = run(tmp_path, "--plot", tmp_path / "p.png", spec=unreachable(tmp_path))
    assert ended.code == 1
    assert ended.out == ""
    assert "300 not reached" in ended.err and "of 400 rows at risk" in ended.err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["hierarchies", "people.csv", "spec.yaml", "tmp"]


def test_an_earlier_file_is_left_alone_when_the_policy_cannot_be_met(tmp_path, table):
    (tmp_path / "out.csv").write_text("mine")
    assert run(tmp_path, "--force", spec=unreachable(tmp_path)).code == 1
    assert (tmp_path / "out.csv").read_text() == "mine"


def test_an_existing_file_is_overwritten_only_when_asked_and_what_is_read_never(tmp_path, table, home):
    out, before = tmp_path / "out.csv", table.read_bytes()
    out.write_text("mine")
    ended = run(tmp_path)
    assert ended.code == 2
    assert "--force" in ended.err
    assert out.read_text() == "mine"
    assert run(tmp_path, "--force").code == 0
    assert out.read_text() != "mine"
    spec = spec_of(tmp_path)
    for name in ("people.csv", "hierarchies/towns.csv"):
        ended = run(tmp_path, "--force", spec=spec, out=name)
        assert ended.code == 2
        assert "is read by this command" in ended.err
    assert table.read_bytes() == before


WRONG: dict[str, tuple[dict[str, Any], tuple[str, ...], str]] = {
    "no k": ({"privacy": None}, (), "no privacy.k"),
    "k below 2": ({}, ("-k", "1"), "-k"),
    "nobody to protect": (
        {"columns": {**COLUMNS, **{name: {"role": "other"} for name in QUASI}}, "recode": {"method": "none"}},
        (),
        "no column of role quasi",
    ),
    "nothing to generalise": ({}, ("--method", "singletons"), "no recode.singletons"),
    "a mode without effect": ({}, ("--mode", "paper"), "--mode would have no effect"),
    "a mode where the method chooses": ({}, ("--method", "best", "--mode", "link"), "--mode would have no effect"),
    "a priority missing": (
        {"columns": {**COLUMNS, "sex": {"role": "quasi", "hierarchy": {"root": "any"}}}},
        ("--method", "prioritised"),
        "needs one for all of them, or for none",
    ),
    "improving without effect": ({}, ("--improve", "3", "--seed", "1"), "--improve, --seed would have no effect"),
    "a sweep without effect": ({"recode": SINGLETONS}, ("--sweep-k", "2"), "does not use k"),
    "a sweep of nothing": ({}, ("--sweep-k", "1,2"), "from 2 on"),
    "a sweep of words": ({}, ("--sweep-k", "two"), "from 2 on"),
    "an unknown method": ({}, ("--method", "freestyle"), "--method"),
    "freeform without a guard": ({}, ("--method", "freeform"), "needs `privacy.freeform`"),
    "a picture of another kind": ({}, ("--plot", "x.pdf"), ".svg or .png"),
    "a column that is not there": ({"columns": {**COLUMNS, "age": {"role": "other"}}}, (), "no column named 'age'"),
}


def test_more_rows_per_class_than_there_are_end_with_1_and_write_nothing(tmp_path, table):
    ended = run(tmp_path, spec=spec_of(tmp_path, privacy={"k": 401}))
    assert ended.code == 1 and "k 401 not reached: best 400" in ended.err
    assert not (tmp_path / "out.csv").exists()


@pytest.mark.parametrize("what", WRONG)
def test_bad_input_ends_with_2_and_writes_nothing(tmp_path, table, what):
    changes, options, said = WRONG[what]
    ended = run(tmp_path, *options, spec=spec_of(tmp_path, **changes))
    assert ended.code == 2, ended.out
    assert said in ended.err
    assert "Traceback" not in ended.err
    assert not (tmp_path / "out.csv").exists()


def test_a_k_on_the_command_line_is_enough(tmp_path, table):
    shown = run(tmp_path, "--json", "-k", "3", spec=spec_of(tmp_path, privacy=None, recode=None))
    assert shown.code == 0, shown.err
    assert shown.json["k"]["exact"] >= 3


def test_values_without_a_place_stop_it_without_being_named(tmp_path, table):
    table.write_text(csv_text([*people(), ("P", "1950", "Qanarytown", "F", "3", "x")]))
    ended = run(tmp_path)
    assert ended.code == 2
    assert "column 'town': 1 distinct value, 1 row" in ended.err
    assert "Qanarytown" not in ended.err
    assert not (tmp_path / "out.csv").exists()


def test_a_name_that_no_table_is_written_to_is_refused_before_reading(tmp_path):
    ended = run(tmp_path, out="out.xlsx", spec=spec_of(tmp_path))
    assert ended.code == 2
    assert ".csv or .parquet" in ended.err


def test_a_full_disk_leaves_no_half_a_table(tmp_path, table, home):
    ended = anon(
        *("recode", table, "--spec", spec_of(tmp_path), "--output", tmp_path / "out.csv"),
        home=home,
        largest_file=1000,
    )
    assert ended.code == 2
    assert [path.name for path in tmp_path.glob("*out*")] + [path.name for path in tmp_path.glob(".*out*")] == []


def test_a_picture_is_never_drawn_over_what_is_read_or_written(tmp_path, table):
    before = table.read_bytes()
    table.rename(tmp_path / "people.png")
    spec = spec_of(tmp_path)
    for out, plot in (("out.csv", "people.png"), ("out.csv", "gone/p.png"), ("gone/out.csv", "p.png")):
        ended = anon(
            *("recode", tmp_path / "people.png", "--spec", spec, "--output", tmp_path / out, "--plot", tmp_path / plot),
            *("--force",),
            home=tmp_path / "home",
        )
        assert ended.code == 2 and ("read or written" in ended.err or "folder" in ended.err)
    assert (tmp_path / "people.png").read_bytes() == before
    assert not list(tmp_path.glob("out*")) and not (tmp_path / "p.png").exists()
