"""Data Docs of our expectations: sentences for people, and never a cell, in whatever result format."""

from __future__ import annotations

import copy
import hashlib
import html
import json
import re

import great_expectations as gx
import pytest

from anon_airflow.expectations import OURS
from anon_airflow.expectations.described_expectation import WITHHELD
from anon_airflow.expectations.inputs import hierarchies_in, originals, paired_by
from tests.anon_airflow.audit.audit_databases import postgresql  # noqa: F401 (a fixture)
from tests.anon_airflow.expectations.expectation_cases import BEFORE, CASES, FREEFORM, PAIRING, REGISTER, REPORTED
from tests.anon_airflow.expectations.expectation_engines import (  # noqa: F401 (some are fixtures)
    Cells,
    expectation_context,
    in_postgresql,
    in_sqlite,
)
from tests.parameters import parameters

CANARY = "CANARY-5e1f"
PLANTED = {"F": f"{CANARY}-woman", "Enna": f"{CANARY} è qui", "flu": f"{CANARY}<b>"}
SEXES = f"{CANARY}-woman;person\nM;person\n"
FORMATS = ["BOOLEAN_ONLY", "BASIC", "SUMMARY", "COMPLETE"]
GUARDED = {
    "guards": {"sex": {"guard": ["M"], "sensitivity": "aggregate", "observability": "sensitivity"}},
    "hierarchies": {
        **FREEFORM["hierarchies"],
        "sex": {"file": "sexes.csv", "sha256": hashlib.sha256(SEXES.encode()).hexdigest()},
    },
}
"""Here the value that is guarded, and so stands in the suite, is none that was planted."""


def planted(table):
    kinds = [table.kind(at) for at in range(len(table.names))]
    return Cells(table.names, [tuple(PLANTED.get(cell, cell) for cell in row) for row in table.rows], kinds)


def arguments(case, which):
    chosen = getattr(case, which)
    if case.name == "expect_no_freeform_breach":
        return {**chosen, **GUARDED, "sigma_t": 0.4 if which == "holds" else 0.39}
    return chosen


@pytest.fixture(autouse=True)
def second_inputs(tmp_path):
    (tmp_path / "sexes.csv").write_text(SEXES)
    with (
        hierarchies_in(tmp_path),
        originals({"register": planted(REGISTER).frame(), "visits": planted(BEFORE).frame()}),
        paired_by(PAIRING),
    ):
        yield


def three(case):
    """Return an expectation that holds, one that fails and one that cannot be measured."""
    kind = OURS[case.name]
    return [
        kind(**arguments(case, "holds"), weight_column=None),
        kind(**arguments(case, "breaks"), weight_column=None),
        kind(**arguments(case, "holds"), weight_column="absent"),
    ]


class Project:
    """A context that keeps files. Each run is a checkpoint of its own; the site is built once, of all of them."""

    def __init__(self, folder, form):
        self.folder, self.form, self.context = folder, form, gx.get_context(mode="file", project_root_dir=folder)
        self.pandas = self.context.data_sources.add_pandas("memory")

    def validate(self, name, definition, expectations, parameters=None):
        """Return what the checkpoint tells, and its one validation result."""
        suite = self.context.suites.add(gx.ExpectationSuite(name=name, expectations=expectations))
        checked = gx.ValidationDefinition(name=name, data=definition, suite=suite)
        checked = self.context.validation_definitions.add(checked)
        checkpoint = gx.Checkpoint(name=name, validation_definitions=[checked], result_format=self.form)
        ran = self.context.checkpoints.add(checkpoint).run(parameters)
        (answer,) = ran.run_results.values()
        return ran, answer

    def validate_frame(self, name, table, expectations):
        definition = self.pandas.add_dataframe_asset(name).add_batch_definition_whole_dataframe("whole")
        return self.validate(name, definition, expectations, {"dataframe": table.frame()})

    def pages(self):
        """Build the site, and return the page of each run."""
        self.context.build_data_docs()
        return {page.parents[2].name: page.read_text() for page in self.folder.rglob("validations/**/*.html")}


def written(folder):
    """Return all that stands in files below a folder; the canary has no character that HTML or JSON would change."""
    return "\n".join(path.read_text(errors="replace") for path in folder.rglob("*") if path.is_file())


def read(page):
    bare = re.sub(r"<(script|style).*?</\1>|<[^>]+>", " ", page, flags=re.DOTALL)
    return re.sub(r"\s+", " ", html.unescape(bare))


def require_sentences(answer, page, *, told=True):
    for one in answer.results:
        promised = OURS[one.expectation_config.type].described(one.expectation_config.kwargs)
        assert promised in page and (one.result["sentence"] if told else WITHHELD) in page


@pytest.mark.parametrize("form", parameters(FORMATS, always=["COMPLETE"]))
def test_a_site_has_sentences_and_no_cell(form, tmp_path, caplog, capfd):
    project = Project(tmp_path / "project", form)
    ran = {case.name: project.validate_frame(case.name, planted(case.table), three(case)) for case in CASES}
    pages = project.pages()
    captured = capfd.readouterr()
    assert CANARY not in written(project.folder) + caplog.text + captured.out + captured.err
    for name, (checkpoint, answer) in ran.items():
        assert sorted(one.success for one in answer.results) == sorted([False, name in REPORTED, True])
        assert CANARY not in json.dumps(checkpoint.describe_dict()) + str(answer.to_json_dict())
        require_sentences(answer, read(pages[name]), told=form != "BOOLEAN_ONLY")


@pytest.mark.parametrize("kind", parameters(["sqlite", "postgresql"], always=["sqlite"]))
def test_a_site_of_a_database_has_no_cell_either(kind, tmp_path, caplog, capfd, request):
    database = request.getfixturevalue(f"{kind}_database")
    project = Project(tmp_path / "project", "COMPLETE")
    add = project.context.data_sources.add_sqlite if kind == "sqlite" else project.context.data_sources.add_postgres
    source = add("there", connection_string=database.source.connection_string)
    ran = {}
    for case in CASES:
        asset = source.add_table_asset(case.name, table_name=database.write(planted(case.table)))
        definition = asset.add_batch_definition_whole_table("whole")
        ran[case.name] = project.validate(case.name, definition, three(case))
    pages = project.pages()
    source.get_execution_engine().close()
    source.get_engine().dispose()
    captured = capfd.readouterr()
    assert CANARY not in written(project.folder) + caplog.text + captured.out + captured.err
    for name, (_, answer) in ran.items():
        assert sorted(one.success for one in answer.results) == sorted([False, name in REPORTED, True])
        require_sentences(answer, read(pages[name]))


def test_names_that_nobody_declared_are_not_shown(tmp_path, sqlite_database, caplog, capfd):
    """In a file that lost its header the names are cells."""
    headless = Cells([f"{CANARY} Rossi", "town"], [("Bianchi", "Noto"), ("Verdi", "Noto")])
    wanted = [
        OURS["expect_no_undeclared_column"](columns=["sex", "town"], weight_column=None),
        OURS["expect_k_anonymity"](columns=["sex", "town"], k=2, weight_column=None),
        OURS["expect_k_anonymity"](columns=["town"], k=2, weight_column=None),
    ]
    project = Project(tmp_path / "project", "COMPLETE")
    _, here = project.validate_frame("memory", headless, [*map(copy.copy, wanted)])
    source = project.context.data_sources.add_sqlite(
        "there", connection_string=sqlite_database.source.connection_string
    )
    asset = source.add_table_asset("headless", table_name=sqlite_database.write(headless))
    _, there = project.validate("there", asset.add_batch_definition_whole_table("whole"), [*map(copy.copy, wanted)])
    project.pages()
    captured = capfd.readouterr()
    assert CANARY not in written(project.folder) + caplog.text + captured.out + captured.err
    for answer in (here, there):
        assert sorted(one.success for one in answer.results) == [False, False, True]


@pytest.mark.parametrize("form", parameters(FORMATS, always=["COMPLETE"]))
def test_an_exception_in_pandas_leaves_no_text_in_a_site(form, tmp_path, monkeypatch, caplog, capfd):
    def explode(*_, **__):
        raise KeyError(CANARY)

    monkeypatch.setattr("anon_airflow.expectations.metrics.pandas_cells.require_columns", explode)
    monkeypatch.setattr("anon_airflow.expectations.metrics.column_names.require_columns", explode)
    project = Project(tmp_path / "project", form)
    for case in CASES:
        _, answer = project.validate_frame(case.name, case.table, three(case))
        assert not any(one.success for one in answer.results)
    pages = project.pages()
    captured = capfd.readouterr()
    assert CANARY not in written(project.folder) + caplog.text + captured.out + captured.err
    said = WITHHELD if form == "BOOLEAN_ONLY" else "unexpected KeyError; its text is withheld"
    assert len(pages) == len(CASES) and all(said in page for page in pages.values())


def test_an_exception_in_a_verdict_leaves_no_text_in_a_site(tmp_path, monkeypatch, caplog, capfd):
    def explode(*_):
        raise ValueError(CANARY)

    project = Project(tmp_path / "project", "COMPLETE")
    for case in CASES:
        monkeypatch.setattr(OURS[case.name].model, "measure", explode)
        project.validate_frame(case.name, case.table, three(case))
    pages = project.pages()
    captured = capfd.readouterr()
    assert CANARY not in written(project.folder) + caplog.text + captured.out + captured.err
    assert len(pages) == len(CASES)
    assert all("unexpected ValueError; its text is withheld" in page for page in pages.values())


def test_the_text_of_an_exception_that_great_expectations_caught_is_not_rendered():
    """Whatever raises outside our metrics, a result of ours shows nothing of it."""
    kind = OURS["expect_k_anonymity"]
    entry = kind(columns=["sex"], k=2, weight_column=None).configuration
    result = gx.core.ExpectationValidationResult(
        success=False,
        expectation_config=entry,
        result={},
        exception_info={"raised_exception": True, "exception_message": CANARY, "exception_traceback": CANARY},
    )
    result.render()
    shown = [one.to_json_dict() for one in result.rendered_content]
    assert CANARY not in json.dumps(shown)


def test_names_of_columns_are_shown_as_they_are_and_never_run(tmp_path):
    project = Project(tmp_path, "BASIC")
    names = ["<script>alert(1)</script>", "$promise", "a & b", "{k}"]
    for at, name in enumerate(names):
        wanted = [OURS["expect_k_anonymity"](columns=[name], k=2, weight_column=None)]
        assert project.validate_frame(f"run{at}", Cells([name], [("a",), ("a",)]), wanted)[1].success
    pages = project.pages()
    for at, name in enumerate(names):
        assert "<script>alert" not in pages[f"run{at}"]
        shown = html.unescape(pages[f"run{at}"])
        assert f"every class over {name} has at least 2 rows" in shown
        assert f"smallest class has 2 rows, 2 required over {name}" in shown
