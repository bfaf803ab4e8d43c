"""The gate, shut as often as open."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
from datetime import date
from pathlib import Path

import pyarrow as pa
import pytest
import yaml

from anon_airflow import gate, suite
from anon_airflow.verdict import Check, Distribution, Verdict
from anon_core.distribution import write_csv, write_parquet
from anon_core.spec import load_spec
from anon_core.table import from_arrow

TODAY = date(2026, 11, 16)
CANARY = "CANARY-7f3a"
COLUMNS = {
    "id": {"role": "identifier"},
    "year": {"role": "quasi", "hierarchy": {"intervals": [5, 10]}},
    "sex": {"role": "quasi", "hierarchy": {"root": "any"}},
    "category": {"role": "sensitive"},
    "points": {"role": "other"},
}
ROWS = [("1980", "F", "A", "3")] * 3 + [("1980", "M", "B", "3")] * 3 + [("1990", "F", "A", "3")] * 4


@pytest.fixture
def publish(tmp_path):
    """Return a function that writes a publication and its distributions, and measures them."""

    def measure(rows=ROWS, *, names=("year", "sex", "category", "points"), before=10, today=TODAY, edit=None, **spec):
        publication = publication_of(tmp_path, **spec)
        paths = write(tmp_path, rows, names)
        if edit:
            edited = edit(paths)
            paths = paths if edited is None else edited
        return gate.measure(publication, paths, rows_before=before, today=today)

    return measure


def publication_of(folder, *, columns=COLUMNS, k=3, expectations=(), **privacy):
    spec = {
        "dataset": "licences",
        "title": "Licences",
        "source": {"file": "x.csv"},
        "columns": columns,
        "privacy": {"k": k, **privacy},
        "recode": {"method": "none"},
        "expectations": list(expectations),
        "portal": {"folder": "portal"},
    }
    path = folder / "licences.yaml"
    path.write_text(yaml.safe_dump(spec, sort_keys=False, allow_unicode=True))
    return load_spec(path)


def write(folder, rows, names):
    table = from_arrow(pa.table([pa.array(c, pa.string()) for c in zip(*rows, strict=True)], names=list(names)))
    paths = [folder / "licences.csv", folder / "licences.parquet"]
    write_csv(table, paths[0])
    write_parquet(table, paths[1])
    return paths


def overwrite(path, content):
    path.write_bytes(content)


def failed(verdict):
    assert not verdict.passed and verdict.reasons
    return {check.name for check in verdict.checks if not check.passed}


def text_of(verdict):
    return json.dumps([verdict.to_dict(), verdict.suite, verdict.reasons], allow_nan=False, ensure_ascii=False)


def test_a_safe_release_passes(publish):
    verdict = publish()
    assert verdict.passed and verdict.reasons == ()
    assert verdict.evaluated == verdict.expected == 10
    assert [(d.name, d.rows) for d in verdict.distributions] == [("licences.csv", 10), ("licences.parquet", 10)]
    assert all(len(d.sha256) == 64 and d.bytes > 0 for d in verdict.distributions)
    assert verdict.suite_digest == gate.suite_digest(verdict.suite)
    names = {"no_undeclared_column", "no_singletons", "k_anonymity", "published_uniqueness", "rows_suppressed_at_most"}
    assert {c.name for c in verdict.checks} == {*names, "same_content", "unchanged", "evaluated"}


def test_one_class_too_small_shuts_it_with_the_numbers(publish):
    verdict = publish(k=4)
    assert failed(verdict) == {"k_anonymity"}
    (csv, parquet) = [check for check in verdict.checks if check.name == "k_anonymity"]
    assert (csv.observed, csv.required) == (parquet.observed, parquet.required) == (3, 4)
    assert verdict.reasons[0] == (
        "licences.csv: k-anonymity: smallest class has 3 rows, 4 required over year, sex; "
        "6 rows lie in classes below 4: generalise these columns further"
    )


def test_a_singleton_shuts_it(publish):
    assert "no_singletons" in failed(publish([*ROWS[:-1], ("1990", "M", "A", "3")]))


def test_a_column_declared_other_that_singles_out_shuts_it(publish):
    rows = [(*row[:3], str(number)) for number, row in enumerate(ROWS)]
    verdict = publish(rows)
    assert failed(verdict) == {"published_uniqueness"} and "points: 10 rows" in verdict.reasons[0]


def test_a_sensitive_column_is_not_searched(publish):
    rows = [(*row[:2], str(number), row[3]) for number, row in enumerate(ROWS)]
    assert publish(rows).passed


def test_where_every_column_is_sensitive_they_are_searched(publish):
    columns = {"category": {"role": "sensitive"}}
    rows = [(str(number),) for number in range(10)]
    assert failed(publish(rows, names=["category"], columns=columns)) == {"published_uniqueness"}


def accept(until):
    given = {"columns": ["points"], "reason": "asked", "by": "R. Rossi", "until": until}
    return {"max_size": 1, "accept": [given]}


def test_an_acceptance_counts_up_to_its_last_day_and_not_after(publish):
    rows = [(*row[:3], str(number)) for number, row in enumerate(ROWS)]
    assert publish(rows, published_uniqueness=accept(TODAY)).passed
    verdict = publish(rows, published_uniqueness=accept(date(2026, 11, 15)))
    assert failed(verdict) == {"acceptance", "published_uniqueness"}
    assert "given by R. Rossi expired on 2026-11-15" in verdict.reasons[0]
    assert failed(publish(published_uniqueness=accept(date(2026, 11, 15)))) == {"acceptance"}


def test_undeclared_and_missing_columns_shut_it(publish):
    rows = [(*row, "x") for row in ROWS]
    verdict = publish(rows, names=["year", "sex", "category", "points", CANARY])
    assert "no_undeclared_column" in failed(verdict) and CANARY not in text_of(verdict)
    lost = publish([row[:3] for row in ROWS], names=["year", "sex", "category"])
    assert {"no_undeclared_column", "published_uniqueness"} == failed(lost)


def test_too_many_rows_suppressed_or_added_shut_it(publish):
    assert publish(before=11, suppression_limit=0.1).passed
    assert failed(publish(before=12, suppression_limit=0.1)) == {"rows_suppressed_at_most"}
    assert failed(publish(before=9, suppression_limit=1.0)) == {"rows_suppressed_at_most"}
    starred = [("*", "*", "A", "3")] * 3 + ROWS[3:]
    assert failed(publish(starred)) == {"rows_suppressed_at_most"}


@pytest.mark.parametrize(
    ("one", "other"), [("01", "1"), ("NA", None), ("", None), ("\u00e9", "e\u0301"), ("nan", None)]
)
def test_cells_that_differ_stay_apart(publish, one, other):
    rows = [("1980", one, "A", "3")] * 5 + [("1980", other, "A", "3")] * 2
    verdict = publish(rows, before=7)
    assert "k_anonymity" in failed(verdict)
    assert {c.observed for c in verdict.checks if c.name == "k_anonymity"} == {2}


def test_gaps_in_large_enough_classes_pass(publish):
    rows = [("1980", None, None, None)] * 5 + [(None, "zł", "Ω", "")] * 5
    assert publish(rows).passed


def test_a_released_column_cannot_pose_as_the_weight(publish):
    columns = {**COLUMNS, "rows": {"role": "other"}}
    names = ["year", "sex", "category", "points", "rows"]
    assert publish([(*row, "999") for row in ROWS], names=names, columns=columns).passed
    small = publish([(*row, "999") for row in ROWS], names=names, columns=columns, k=4)
    assert failed(small) == {"k_anonymity"} and "smallest class has 3 rows" in small.reasons[0]
    undeclared = publish([(*row, "999") for row in ROWS], names=names)
    assert "no_undeclared_column" in failed(undeclared) and undeclared.evaluated == 0


def test_no_distributions_shut_it(tmp_path):
    for nothing in ([], ()):
        publication = publication_of(tmp_path)
        verdict = gate.measure(publication, nothing, rows_before=10, today=TODAY)
        assert failed(verdict) == {"distributions", "evaluated"} and verdict.evaluated == 0


def test_one_distribution_alone_can_pass(publish):
    assert publish(edit=lambda paths: paths[:1]).passed


def test_two_files_of_one_name_shut_it(publish):
    assert "distributions" in failed(publish(edit=lambda paths: [paths[0], paths[0]]))


def test_distributions_that_differ_shut_it(publish, tmp_path):
    def swap(rows):
        (tmp_path / "other").mkdir(exist_ok=True)
        return lambda paths: [paths[0], write(tmp_path / "other", rows, ["year", "sex", "category", "points"])[1]]

    other = [*ROWS[:-1], ("1980", "F", "A", "3")]
    assert failed(publish(edit=swap(other))) == {"same_content"}
    assert failed(publish(edit=swap([(*row[:3], "4") for row in ROWS]))) == {"same_content"}
    assert publish(edit=swap(ROWS[::-1])).passed


@pytest.mark.parametrize(
    "content",
    [b"", b"PAR1" + CANARY.encode(), b"year,sex\n", b"\xff\xfe" + CANARY.encode(), b'a,b\n"' + CANARY.encode()],
)
@pytest.mark.parametrize("at", [0, 1])
def test_an_unreadable_or_empty_file_shuts_it_without_its_bytes(publish, content, at, caplog, capsys):
    verdict = publish(edit=lambda paths: overwrite(paths[at], content))
    assert not verdict.passed and {"readable", "evaluated"} & failed(verdict)
    assert CANARY not in text_of(verdict) + caplog.text + "".join(capsys.readouterr())


def test_a_truncated_parquet_and_a_missing_file_shut_it(publish):
    cut = publish(edit=lambda paths: overwrite(paths[1], paths[1].read_bytes()[:-20]))
    assert failed(cut) == {"readable", "evaluated"} and cut.evaluated == 5
    assert failed(publish(edit=lambda paths: paths[0].unlink())) == {"readable", "evaluated"}


def test_a_file_that_changes_while_it_is_measured_shuts_it(publish, monkeypatch):
    def reread(path):
        table = original(path)
        path.write_bytes(path.read_bytes() + b'"1980","F","A","3"\n')
        return table

    original = gate.reread
    monkeypatch.setattr(gate, "reread", reread)
    assert "unchanged" in failed(publish(edit=lambda paths: paths[:1]))


def test_a_name_that_looks_like_a_pattern_reads_that_very_file(publish, tmp_path):
    def disguise(paths):
        unsafe = tmp_path / "[l]icences.csv"
        unsafe.write_text('"year","sex","category","points"\n"1980","F","A","3"\n')
        return [unsafe]

    assert "k_anonymity" in failed(publish(edit=disguise))


STOCK = [
    ({"type": "expect_column_values_to_be_in_set", "kwargs": {"column": "sex", "value_set": ["F", "M"]}}, True),
    ({"type": "expect_column_values_to_be_in_set", "kwargs": {"column": "sex", "value_set": ["F"]}}, False),
    ({"type": "expect_column_values_to_be_between", "kwargs": {"column": "year", "min_value": 1900}}, True),
    ({"type": "expect_column_values_to_be_between", "kwargs": {"column": "year", "min_value": 1985}}, False),
    ({"type": "expect_column_values_to_be_between", "kwargs": {"column": "sex", "min_value": 1985}}, False),
    ({"type": "expect_column_value_lengths_to_equal", "kwargs": {"column": "year", "value": 4}}, True),
    ({"type": "expect_column_values_to_match_regex", "kwargs": {"column": "year", "regex": "^19"}}, True),
    ({"type": "expect_table_row_count_to_equal", "kwargs": {"value": 10}}, True),
    ({"type": "expect_table_row_count_to_equal", "kwargs": {"value": 9}}, False),
    ({"type": "expect_column_values_to_not_be_null", "kwargs": {"column": "nowhere"}}, False),
    ({"type": "expect_column_values_to_not_be_null", "kwargs": {}}, False),
    ({"type": "expect_column_values_to_not_be_null", "kwargs": {"column": "sex", "severity": "info"}}, True),
    ({"type": "expect_something_unheard_of", "kwargs": {}}, False),
    (
        {
            "type": "expect_column_values_to_be_in_set",
            "kwargs": {"column": "sex", "value_set": ["F", "M"], "result_format": "COMPLETE"},
        },
        False,
    ),
    ({"type": "expect_column_values_to_not_be_null", "kwargs": {"column": {"$PARAMETER": "x"}}}, False),
]


@pytest.mark.parametrize(("entry", "holds"), STOCK, ids=[f"{e['type']}-{h}" for e, h in STOCK])
def test_a_stock_expectation_counts_like_our_own(publish, entry, holds):
    verdict = publish(expectations=[entry])
    assert verdict.passed is holds
    if not holds:
        assert entry["type"] in failed(verdict)


def test_a_failing_stock_expectation_does_not_leak(publish, caplog, capsys):
    rows = [("1980", CANARY, CANARY, "3")] * 10
    verdict = publish(
        rows,
        expectations=[
            {"type": "expect_column_values_to_be_in_set", "kwargs": {"column": "sex", "value_set": ["F"]}},
            {"type": "expect_column_values_to_be_between", "kwargs": {"column": "sex", "min_value": 3}},
            {"type": "expect_column_distinct_values_to_equal_set", "kwargs": {"column": "sex", "value_set": ["F"]}},
            {"type": "expect_column_max_to_be_between", "kwargs": {"column": "sex", "max_value": "A"}},
        ],
    )
    assert {entry["type"] for entry in verdict.suite["expectations"][5:]} <= failed(verdict)
    assert CANARY not in text_of(verdict) + caplog.text + "".join(capsys.readouterr())


def test_a_requirement_that_nobody_measures_shuts_it(tmp_path):
    publication = publication_of(tmp_path)
    stricter = publication.model_copy(
        update={"unit": "id", "privacy": publication.privacy.model_copy(update={"max_risk": 0.1})}
    )
    verdict = gate.measure(stricter, write(tmp_path, ROWS, publication.published), rows_before=10, today=TODAY)
    assert failed(verdict) == {"privacy.max_risk", "unit"}


def test_an_emptied_suite_or_one_that_lost_an_entry_does_not_pass(publish, monkeypatch):
    def without(entries):
        def render(publication, **kwargs):
            return {**suite.render_suite(publication, **kwargs), "expectations": entries}

        return render

    whole = publish().suite["expectations"]
    monkeypatch.setattr(gate, "render_suite", without([]))
    assert failed(publish()) == {"suite", "evaluated"}
    for entry in whole:
        monkeypatch.setattr(gate, "render_suite", without([other for other in whole if other != entry]))
        verdict = publish()
        assert failed(verdict) == {"suite"} and entry["type"] in verdict.reasons[0]


@pytest.mark.parametrize("lost", sorted(["expect_k_anonymity", "expect_no_singletons", "expect_published_uniqueness"]))
def test_an_expectation_whose_class_is_gone_does_not_pass(publish, monkeypatch, lost):
    from great_expectations.expectations import registry

    from anon_airflow import expectations

    assert expectations.OURS
    monkeypatch.delitem(registry._registered_expectations, lost)
    verdict = publish()
    assert failed(verdict) == {lost.removeprefix("expect_"), "evaluated"} and verdict.evaluated == 8


def test_an_expectation_replaced_by_a_namesake_does_not_pass(publish, monkeypatch):
    from great_expectations.expectations import registry

    from anon_airflow import expectations

    lenient = expectations.OURS["expect_no_singletons"]
    monkeypatch.setitem(registry._registered_expectations, "expect_k_anonymity", lenient)
    assert "k_anonymity" in failed(publish())


@pytest.mark.parametrize("target", ["ExpectationSuite", "get_context"])
@pytest.mark.parametrize("error", [RuntimeError(CANARY), SystemExit(0), MemoryError(CANARY)])
def test_great_expectations_raising_anything_shuts_it(publish, monkeypatch, target, error, caplog, capsys):
    import great_expectations as gx

    def explode(*_, **__):
        raise error

    monkeypatch.setattr(gx, target, explode)
    verdict = publish()
    assert not verdict.passed and "evaluated" in failed(verdict)
    assert CANARY not in text_of(verdict) + caplog.text + "".join(capsys.readouterr())


@pytest.mark.parametrize("answer", ["no_results", "success_is_a_text", "raised"])
def test_a_result_must_say_true_itself(publish, monkeypatch, answer):
    from types import SimpleNamespace as Some

    from anon_airflow.expectations import evaluation

    result = Some(success=True, exception_info={}, result={"sentence": "fine", "measured": 9, "required": 1})
    if answer == "success_is_a_text":
        result.success = "False"
    if answer == "raised":
        result.exception_info = {"MetricConfigurationID(...)": {"raised_exception": True}}
    results = [] if answer == "no_results" else [result]
    reply = Some(success=True, results=results, statistics={"evaluated_expectations": len(results)})
    monkeypatch.setattr(evaluation, "batch_of", lambda _: Some(validate=lambda *_, **__: reply))
    assert "k_anonymity" in failed(publish())


def test_a_verdict_cannot_be_talked_into_passing():
    check = Check(distribution="a", name="k", passed=True, observed=5, required=5, message="")
    file = Distribution(name="a", sha256="0", bytes=1, rows=1)
    good = {
        "checks": (check,),
        "distributions": (file,),
        "suite": {},
        "suite_digest": "",
        "evaluated": 1,
        "expected": 1,
    }
    assert Verdict(**good).passed
    for change in ({"checks": ()}, {"distributions": ()}, {"evaluated": 0}, {"evaluated": 0, "expected": 0}):
        assert not Verdict(**{**good, **change}).passed


def test_the_suite_is_deterministic_plain_json(tmp_path):
    publication = publication_of(
        tmp_path,
        expectations=[{"type": "expect_column_max_to_be_between", "kwargs": {"column": "x", "max_value": TODAY}}],
    )
    one = gate.render_suite(publication, rows_before=10, today=TODAY)
    assert one == json.loads(json.dumps(one)) == gate.render_suite(publication, rows_before=10, today=TODAY)
    assert one["name"] == "licences"
    assert [entry["meta"]["runs_on"] for entry in one["expectations"]] == ["frequencies"] * 5 + ["rows"]
    other = gate.render_suite(publication, rows_before=11, today=TODAY)
    assert gate.suite_digest(one) != gate.suite_digest(other)


def test_a_dataset_without_quasi_identifiers_has_no_k_but_is_searched(publish):
    columns = {"points": {"role": "other"}}
    verdict = publish([("3",)] * 10, names=["points"], columns=columns)
    assert verdict.passed
    assert [e["type"] for e in verdict.suite["expectations"]] == [
        "expect_no_undeclared_column",
        "expect_published_uniqueness",
        "expect_rows_suppressed_at_most",
    ]


def test_it_makes_no_connection_writes_no_file_and_says_nothing(
    publish, tmp_path, monkeypatch, capsys, caplog, recwarn
):
    def refuse(*_, **__):
        raise AssertionError("a connection was attempted")

    empty = tmp_path / "empty"
    empty.mkdir()
    monkeypatch.chdir(empty)
    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    assert publish(expectations=[STOCK[0][0]]).passed
    assert not list(empty.iterdir()) and not caplog.records and not recwarn.list
    assert capsys.readouterr() == ("", "")


def test_importing_the_gate_and_rendering_a_suite_is_cheap():
    code = (
        "import sys; from anon_airflow import gate\n"
        "heavy = {'great_expectations', 'pandas', 'numpy', 'pyarrow', 'numba', 'airflow'} & set(sys.modules)\n"
        "assert not heavy, heavy"
    )
    subprocess.run([sys.executable, "-c", code], check=True, cwd=Path(__file__).parents[2])


def test_a_fresh_process_registers_our_classes_by_itself(publish, tmp_path):
    publish(edit=lambda paths: None)
    code = (
        "import sys; from datetime import date; from pathlib import Path\n"
        "from anon_airflow import gate; from anon_core.spec import load_spec\n"
        "folder = Path(sys.argv[1])\n"
        "v = gate.measure(load_spec(folder / 'licences.yaml'), [folder / 'licences.csv'], rows_before=10,"
        " today=date(2026, 11, 16))\n"
        "print(v.passed, v.evaluated)"
    )
    ran = subprocess.run([sys.executable, "-c", code, str(tmp_path)], capture_output=True, text=True, check=True)
    assert ran.stdout.split() == ["True", "5"] and ran.stderr == ""
