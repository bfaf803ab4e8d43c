"""``anon`` as its users meet it: exit codes, JSON, help, and the way from a table to the portal."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

from anon_airflow.cli import anon as group
from anon_core.spec import load_spec
from tests.faults.anon_process import anon
from tests.faults.publications import (
    COLUMNS,
    NAMES,
    bytes_below,
    csv_text,
    files_below,
    people,
    portal_of,
    source_of,
    staged_files,
    versions_of,
    write_publication,
)

SINGLETONS = {"method": "singletons", "singletons": {"columns": ["town", "sex"]}}


def commands(command: click.Command = group, name: str = "anon") -> Iterator[tuple[str, click.Command]]:
    yield name, command
    if isinstance(command, click.Group):
        context = click.Context(command)
        for word in command.list_commands(context):
            child = command.get_command(context, word)
            assert child is not None
            yield from commands(child, f"{name} {word}")


@pytest.mark.parametrize(("name", "command"), list(commands()), ids=[name for name, _ in commands()])
def test_every_command_and_every_option_explains_itself(name, command):
    assert command.help and command.help.strip().endswith(".")
    for parameter in command.params:
        if isinstance(parameter, click.Option):
            assert parameter.help, f"{name} {parameter.opts[0]} has no help"
        else:
            shown = parameter.metavar or str(parameter.name).upper()
            assert shown in command.help, f"the help of {name} does not say what {shown} is"


@pytest.mark.parametrize("name", [name for name, command in commands() if not isinstance(command, click.Group)])
def test_every_command_takes_json_and_shows_help(name, home):
    words = name.split()[1:]
    shown = anon(*words, "--help", home=home)
    assert shown.code == 0
    assert "--json" in shown.out
    assert shown.out.startswith("Usage: anon")


@pytest.mark.parametrize("words", [["--help"], ["-h"], ["--version"], ["audit", "--help"]])
def test_help_and_version_end_well(home, words):
    assert anon(*words, home=home).code == 0


@pytest.mark.parametrize(
    "words",
    [["nonsense"], ["run"], ["run", "no-such.yaml"], ["check", "x.csv"], ["detect", "x.csv"], ["profile", "-x"]],
)
def test_a_wrong_call_ends_with_2_and_says_so_on_stderr(home, words):
    ended = anon(*words, home=home)
    assert ended.code == 2
    assert ended.out == ""
    assert ended.err
    assert "Traceback" not in ended.err


def test_the_installed_command_is_the_same(tmp_path):
    ended = subprocess.run(
        [Path(sys.executable).with_name("anon"), "--version"], capture_output=True, text=True, check=True
    )
    assert ended.stdout.startswith("anon, version")


def test_run_publishes_and_the_second_time_finds_it_unchanged(tmp_path, home):
    spec = write_publication(tmp_path)
    first = anon("run", spec, "--json", home=home)
    assert first.code == 0, first.err
    assert first.json["verdict"] == "published"
    assert first.json["published"] is True
    assert versions_of(spec) == [first.json["release"]]
    before = bytes_below(portal_of(spec))
    latest = (portal_of(spec) / "people/latest").readlink()
    second = anon("run", spec, "--json", home=home)
    assert second.code == 0
    assert second.json["verdict"] == "unchanged"
    assert second.json["release"] == first.json["release"]
    assert bytes_below(portal_of(spec)) == before
    assert (portal_of(spec) / "people/latest").readlink() == latest
    assert staged_files(home) == []


def test_run_tells_people_what_happened(tmp_path, home):
    ended = anon("run", write_publication(tmp_path), home=home)
    assert "PUBLISHED as version" in ended.out
    assert "release page" in ended.out
    assert "reading people.csv" in ended.err


@pytest.mark.parametrize(
    ("recode", "reason"), [(SINGLETONS, "k"), ({"method": "none"}, "single")], ids=["singletons with k=5", "none"]
)
def test_a_refused_run_ends_with_1_and_publishes_nothing(tmp_path, home, recode, reason):
    spec = write_publication(tmp_path, recode=recode)
    ended = anon("run", spec, "--json", home=home)
    assert ended.code == 1, ended.err
    assert ended.json["verdict"] == "refused"
    assert ended.json["published"] is False
    assert ended.json["release"] is None
    assert any(reason in each for each in ended.json["reasons"])
    assert versions_of(spec) == []
    assert not (portal_of(spec) / "people").exists()
    assert staged_files(home) == []
    told = anon("run", spec, home=home)
    assert told.code == 1
    assert "REFUSED by the gate" in told.out


def test_wrong_input_ends_with_2_and_leaves_stdout_empty(tmp_path, home):
    spec = write_publication(tmp_path)
    source_of(spec).unlink()
    ended = anon("run", spec, "--json", home=home)
    assert ended.code == 2
    assert ended.out == ""
    assert ended.err.count("no such file") == 1


def test_a_column_declared_other_that_singles_people_out_is_refused(tmp_path, home):
    columns = {**COLUMNS, "id": {"role": "other"}}
    spec = write_publication(tmp_path, columns=columns)
    ended = anon("run", spec, "--json", home=home)
    assert ended.code == 1
    assert any("id" in reason for reason in ended.json["reasons"])


def test_run_fills_the_period_into_the_source_and_the_version(tmp_path, home):
    spec = write_publication(tmp_path, source="")
    samples = source_of(spec).parent
    for month, seed in (("2026-01", 1), ("2026-02", 2)):
        (samples / f"people-{month}.csv").write_text(csv_text(people(seed=seed)))
    text = spec.read_text().replace(
        "samples/people.csv", "samples/people-{{ data_interval_start.strftime('%Y-%m') }}.csv"
    )
    spec.write_text(text)
    without = anon("run", spec, home=home)
    assert without.code == 2
    assert "--period" in without.err
    for month in ("2026-01", "2026-02"):
        ended = anon("run", spec, "--period", f"{month}-01", "--json", home=home)
        assert ended.code == 0, ended.err
        assert ended.json["release"].startswith(f"{month}-01.")
    assert len(versions_of(spec)) == 2
    missing = anon("run", spec, "--period", "2026-03-01", home=home)
    assert missing.code == 2
    assert "people-2026-03.csv" in missing.err


@pytest.mark.parametrize(
    "template", ["{{ ds }}.csv", "{{ 1 / 0 }}", "{{ unclosed", "{{ ''.__class__.mro() }}", "{% for x in y %}"]
)
def test_a_template_that_cannot_be_filled_in_is_told(tmp_path, home, template):
    spec = write_publication(tmp_path)
    spec.write_text(spec.read_text().replace("samples/people.csv", json.dumps(template)))
    ended = anon("run", spec, home=home)
    assert ended.code == 2
    assert "cannot be filled in" in ended.err or "source.file" in ended.err
    assert "bug in anonflow" not in ended.err


def test_every_file_of_a_pattern_is_read(tmp_path, home):
    spec = write_publication(tmp_path)
    rows = people()
    source_of(spec).unlink()
    for part, some in enumerate((rows[:150], rows[150:])):
        (source_of(spec).parent / f"part-{part}.csv").write_text(csv_text(some))
    spec.write_text(spec.read_text().replace("samples/people.csv", "samples/part-*.csv"))
    ended = anon("run", spec, home=home)
    assert ended.code == 0, ended.err
    assert "rows read           400" in ended.out


@pytest.mark.parametrize("kind", ["gz", "parquet"])
def test_other_kinds_of_files_publish_the_same(tmp_path, home, kind):
    spec = write_publication(tmp_path)
    version = anon("run", spec, "--json", home=home).json["release"]
    csv = source_of(spec)
    other = csv.with_name(f"people.{kind}")
    if kind == "gz":
        other.write_bytes(gzip.compress(csv.read_bytes()))
    else:
        options = pyarrow.csv.ConvertOptions(column_types=dict.fromkeys(NAMES, "string"))
        pq.write_table(pyarrow.csv.read_csv(csv, convert_options=options), other)
    spec.write_text(spec.read_text().replace("people.csv", other.name))
    again = anon("run", spec, "--json", home=home)
    assert again.code == 0, again.err
    folder = portal_of(spec) / "people/versions"
    first, second = (folder / each / "people.csv" for each in (version, again.json["release"]))
    assert first.read_bytes() == second.read_bytes()


def test_values_that_the_hierarchy_does_not_know_stop_the_run_or_are_suppressed(tmp_path, home):
    rows = [("P", "1950", "Nowhere", "F", "3", "x"), *people()]
    spec = write_publication(tmp_path, rows)
    stopped = anon("run", spec, home=home)
    assert stopped.code == 2
    assert "1 distinct value, 1 row," in stopped.err
    changed = spec.read_text().replace(
        "file: hierarchies/towns.csv", "file: hierarchies/towns.csv\n      unmapped: suppress"
    )
    spec.write_text(changed)
    refused = anon("run", spec, home=home)
    assert refused.code == 1 and "changed after the review by Ada on 2026-01-02" in refused.out
    spec.write_text(changed.replace("2026-01-02", "2026-01-03"))
    assert anon("run", spec, home=home).code == 0
    assert "Nowhere" not in (portal_of(spec) / "people/latest/people.csv").read_text()


def test_keep_staging_keeps_it_until_the_next_run(tmp_path, home):
    spec = write_publication(tmp_path, keep_staging=True)
    for _ in range(2):
        assert anon("run", spec, home=home).code == 0
        assert [path.name for path in files_below(home / "staging") if path.name == "original.parquet"] == [
            "original.parquet"
        ]


def test_init_writes_a_file_that_loads_and_runs(tmp_path, home, table):
    ended = anon("init", table, "--json", home=home, cwd=tmp_path)
    assert ended.code == 0, ended.err
    spec = tmp_path / ended.json["spec"]
    publication = load_spec(spec)
    assert set(publication.columns) == set(NAMES)
    assert publication.columns["id"].role == "identifier"
    assert spec.read_text().startswith("#")
    again = anon("init", table, home=home, cwd=tmp_path)
    assert again.code == 2
    assert "--force" in again.err
    assert anon("init", table, "--force", home=home, cwd=tmp_path).code == 0
    ran = anon("run", spec, "--json", home=home, cwd=tmp_path)
    assert ran.code in (0, 1), ran.err
    assert ran.json["verdict"] in ("published", "refused")


def test_init_quotes_no_value(tmp_path, home):
    path = tmp_path / "register.csv"
    path.write_text(csv_text([(i, b, t, s, p, "QanaryNote") for i, b, t, s, p, x in people()]))
    ended = anon("init", path, home=home, cwd=tmp_path)
    assert "QanaryNote" not in (tmp_path / "register.yaml").read_text() + ended.out + ended.err


@pytest.mark.parametrize(
    "name", ["2026 export (final).csv", "é.csv", "-dash.csv", "a" * 120 + ".csv", "x.tar.csv", "_.csv"]
)
def test_init_makes_a_dataset_of_any_file_name(tmp_path, home, name):
    path = tmp_path / name
    path.write_text(csv_text(people(50)))
    ended = anon("init", path, "--output", tmp_path / "out.yaml", home=home)
    assert ended.code == 0, ended.err
    load_spec(tmp_path / "out.yaml")


def test_init_into_a_folder_that_is_not_there(tmp_path, home, table):
    ended = anon("init", table, "--output", tmp_path / "no" / "out.yaml", home=home)
    assert ended.code == 2
    assert "there is no such folder; make it" in ended.err


def test_init_with_a_dataset_that_is_no_slug_leaves_nothing(tmp_path, home, table):
    ended = anon("init", table, "--dataset", "Not A Slug", "--output", tmp_path / "out.yaml", home=home)
    assert ended.code == 2
    assert "dataset" in ended.err
    assert not (tmp_path / "out.yaml").exists()


def test_check_prints_the_keys_of_the_design_and_ends_with_1_when_it_does_not_hold(home, table):
    ended = anon("check", table, "--quasi", "born,town,sex", "-k", "5", "--json", home=home)
    assert ended.code == 1
    shown = ended.json
    assert {"k", "singletons", "classes", "rows_below_k", "checks"} <= set(shown)
    assert shown["k"]["exact"] == 1
    for check in shown["checks"]:
        assert {"name", "passed", "observed", "required"} <= set(check)
    assert not all(check["passed"] for check in shown["checks"])


def test_check_ends_with_0_on_what_was_published(tmp_path, home):
    spec = write_publication(tmp_path)
    anon("run", spec, home=home)
    for name in ("people.csv", "people.parquet"):
        ended = anon("check", portal_of(spec) / "people/latest" / name, "--spec", spec, "--json", home=home)
        assert ended.code == 0, ended.out
        assert ended.json["k"]["exact"] >= 5
        assert {check["name"] for check in ended.json["checks"]} >= {"k_anonymity", "published_uniqueness"}
    assert anon("check", source_of(spec), "--spec", spec, home=home).code == 1


@pytest.mark.parametrize(
    "words",
    [
        ["profile", "TABLE"],
        ["detect", "TABLE"],
        ["select", "TABLE", "--columns", "sex,town"],
        ["uccs", "TABLE"],
        ["score", "TABLE"],
        ["check", "TABLE", "--quasi", "sex", "-k", "2"],
        ["init", "TABLE", "--output", "out.yaml"],
    ],
    ids=lambda words: words[0],
)
def test_json_is_one_object_and_nothing_else_is_on_stdout(tmp_path, home, table, words):
    words = [str(table) if word == "TABLE" else word for word in words]
    ended = anon(*words, "--json", home=home, cwd=tmp_path)
    assert ended.code == 0, ended.err
    assert isinstance(ended.json, dict)
    plain = anon(*words, *(["--force"] if words[0] == "init" else []), home=home, cwd=tmp_path)
    assert plain.code == 0
    assert plain.out


@pytest.mark.parametrize(
    "words",
    [["profile"], ["detect"], ["select", "--columns", "a"], ["uccs"], ["score"], ["check", "--quasi", "a"], ["init"]],
    ids=lambda words: words[0],
)
@pytest.mark.parametrize(
    "content", [b"", b"a,b\n", b"a,a\n1,2\n", b"a,b\n1\n", b"a,b\n\xff\xfe,1\n\xe9,2\n"], ids=range(5)
)
def test_commands_on_a_table_that_cannot_be_read_end_with_2_or_work(tmp_path, home, words, content):
    path = tmp_path / "bad.csv"
    path.write_bytes(content)
    ended = anon(words[0], path, *words[1:], home=home, cwd=tmp_path)
    assert ended.code in ((0, 1, 2) if b"\xff" in content else (2,)), ended.err
    assert "Traceback" not in ended.err
    assert "bug in anonflow" not in ended.err


@pytest.mark.parametrize("name", ["init", "recode", "decompose"])
def test_a_name_that_no_disk_takes_is_refused_as_such(tmp_path, home, table, name):
    spec = write_publication(tmp_path)
    output = tmp_path / ("x" * 300 + (".yaml" if name == "init" else ".csv"))
    extra = {"recode": ["--spec", spec], "decompose": ["--column", "id", "--widths", "1", "--names", "a,b"]}.get(
        name, []
    )
    ended = anon(name, table, *extra, "--output", output, home=home)
    assert ended.code == 2
    assert "File name too long" in ended.err
    assert "bug" not in ended.err


def test_what_is_no_file_is_not_replaced(tmp_path, home, table):
    """The part that was written takes the place of the output, which would be the device."""
    pipe = tmp_path / "pipe.yaml"
    os.mkfifo(pipe)
    for output in (pipe, tmp_path):
        ended = anon("init", table, "--output", output, "--force", home=home)
        assert ended.code == 2
        assert "is not a regular file" in ended.err
    assert pipe.is_fifo()


def test_a_name_that_the_terminal_cannot_show_is_written_as_its_code(tmp_path):
    (tmp_path / "table.csv").write_text("citt\u00e0,x\n1,2\n1,3\n")
    ended = subprocess.run(
        [sys.executable, "-c", "from anon_airflow.cli import main; main()", "profile", str(tmp_path / "table.csv")],
        env={**os.environ, "PYTHONIOENCODING": "ascii", "ANON_HOME": str(tmp_path / "home")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    assert r"citt\xe0" in ended.stdout
