"""The gate and the files it is given: missing, broken, changing, different; and what it leaves behind."""

from __future__ import annotations

import socket
import subprocess
import sys
from pathlib import Path

import pytest

from anon_airflow.gate import measurement
from tests.anon_airflow.gate.gate_publications import (
    CANARY,
    ROWS,
    TODAY,
    failed,
    overwrite,
    publication_of,
    text_of,
    write,
)


def test_no_distributions_shut_it(tmp_path):
    for nothing in ([], ()):
        publication = publication_of(tmp_path)
        verdict = measurement.measure(publication, nothing, rows_before=10, today=TODAY)
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


def test_a_formula_shuts_it_where_none_may_be(publish):
    rows = [(*row[:3], f"=HYPERLINK({CANARY})") for row in ROWS]
    assert publish(rows).passed
    shut = publish(rows, csv={"escape_formulas": True})
    assert failed(shut) == {"formulas"} and CANARY not in text_of(shut)
    assert "1 in points" in next(check.sentence for check in shut.checks if check.name == "formulas")
    escaped = publish([(*row[:3], f"'{row[3]}") for row in rows], csv={"escape_formulas": True})
    assert escaped.passed and "formulas" in {check.name for check in escaped.checks}


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
    assert failed(cut) == {"readable"} and cut.evaluated == 12 and not cut.passed
    assert failed(publish(edit=lambda paths: paths[0].unlink())) == {"readable"}


def test_a_file_that_changes_while_it_is_measured_shuts_it(publish, monkeypatch):
    def reread(path):
        table = original(path)
        path.write_bytes(path.read_bytes() + b'"1980","F","A","3"\n')
        return table

    original = measurement.reread
    monkeypatch.setattr(measurement, "reread", reread)
    assert "unchanged" in failed(publish(edit=lambda paths: paths[:1]))


def test_a_name_that_looks_like_a_pattern_reads_that_very_file(publish, tmp_path):
    def disguise(paths):
        unsafe = tmp_path / "[l]icences.csv"
        unsafe.write_text('"year","sex","category","points"\n"1980","F","A","3"\n')
        return [unsafe]

    assert "k_anonymity" in failed(publish(edit=disguise))


STOCK = {"type": "expect_column_values_to_be_in_set", "kwargs": {"column": "sex", "value_set": ["F", "M"]}}


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
    assert publish(expectations=[STOCK]).passed
    assert not list(empty.iterdir()) and not caplog.records and not recwarn.list
    assert capsys.readouterr() == ("", "")


def test_importing_the_gate_and_rendering_a_suite_is_cheap():
    code = (
        "import sys; from anon_airflow.gate import measurement\n"
        "heavy = {'great_expectations', 'pandas', 'numpy', 'pyarrow', 'numba', 'airflow'} & set(sys.modules)\n"
        "assert not heavy, heavy"
    )
    subprocess.run([sys.executable, "-c", code], check=True, cwd=Path(__file__).parents[3])


def test_a_fresh_process_registers_our_classes_by_itself(publish, tmp_path):
    publish(edit=lambda paths: None)
    code = (
        "import sys; from datetime import date; from pathlib import Path\n"
        "from anon_airflow.gate import measurement; from anon_core.spec import load_spec\n"
        "folder = Path(sys.argv[1])\n"
        "v = measurement.measure(load_spec(folder / 'licences.yaml'), [folder / 'licences.csv'], rows_before=10,"
        " today=date(2026, 11, 16))\n"
        "print(v.passed, v.evaluated)"
    )
    ran = subprocess.run([sys.executable, "-c", code, str(tmp_path)], capture_output=True, text=True, check=True)
    assert ran.stdout.split() == ["True", "12"] and ran.stderr == ""
