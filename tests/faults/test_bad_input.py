"""Bad input, end to end: a clear message, the right exit code, and nothing lost or published."""

from __future__ import annotations

import gzip
import json
import os
from pathlib import Path

import pytest

from tests.faults.anon_process import Ended, anon
from tests.faults.publications import (
    COLUMNS,
    NAMES,
    TOWNS,
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
from tests.faults.terminal import on_a_terminal
from tests.parameters import parameters

CANARY = "Qanaryville"


def assert_stopped(ended: Ended, code: int, *words: str) -> None:
    """One message, without a traceback, that names what, where and what to do."""
    assert ended.code == code, ended.err
    assert "Traceback" not in ended.err
    assert "bug in anonflow" not in ended.err
    told = [line for line in ended.err.splitlines() if line.startswith("anon: ")]
    assert len(told) == 1, ended.err
    message = ended.err[ended.err.index("anon: ") :]
    for word in words:
        assert word in message, f"{word!r} is not in {message!r}"


def assert_nothing_happened(spec: Path, home: Path, source: bytes | None) -> None:
    assert versions_of(spec) == []
    assert not (portal_of(spec) / spec.stem).exists()
    assert staged_files(home) == []
    assert files_below(home / "gated") == []
    if source is not None:
        assert source_of(spec).read_bytes() == source
    assert anon("audit", "verify", home=home).code == 0


def run_wrong(tmp_path: Path, *words: str, code: int = 2, after=None, **publication) -> Ended:
    """Run a publication that must be stopped, and see that it was; ``after`` spoils what was written."""
    spec, home = write_publication(tmp_path, **publication), tmp_path / "home"
    if after:
        after(spec)
    source = source_of(spec).read_bytes() if source_of(spec).exists() else None
    ended = anon("run", spec, "--json", home=home)
    assert_stopped(ended, code, *words)
    assert_nothing_happened(spec, home, source)
    return ended


def test_a_missing_file(tmp_path):
    run_wrong(tmp_path, "people.csv", "no such file", "check the path", after=lambda spec: source_of(spec).unlink())


def test_a_pattern_that_matches_nothing(tmp_path):
    run_wrong(
        tmp_path,
        "no file matches",
        "source.file",
        after=lambda spec: replace(spec, "samples/people.csv", "samples/no-*.csv"),
    )


def test_a_folder_in_place_of_the_file(tmp_path):
    def make_folder(spec):
        source_of(spec).unlink()
        source_of(spec).mkdir()

    spec, home = write_publication(tmp_path), tmp_path / "home"
    make_folder(spec)
    assert_stopped(anon("run", spec, home=home), 2, "is a folder")
    assert_nothing_happened(spec, home, None)


def test_an_empty_file(tmp_path):
    run_wrong(tmp_path, "people.csv", "is empty", "check the export", source="")


def test_a_header_and_nothing_else(tmp_path):
    run_wrong(tmp_path, "people.csv", "header but no rows", source=csv_text([]))


def test_a_column_named_twice(tmp_path):
    names = ("id", "born", "town", "town", "points", "notes")
    run_wrong(tmp_path, "people.csv", "give each", source=csv_text(people(), names))


def test_a_column_without_a_name(tmp_path):
    names = ("id", "born", "town", "", "points", "notes")
    run_wrong(tmp_path, "people.csv", "column 4 has no name", source=csv_text(people(), names))


@pytest.mark.parametrize("line", ["P9,1950,Alba\n", "P9,1950,Alba,F,3,x,one,two\n"], ids=["short", "long"])
def test_a_ragged_row(tmp_path, line):
    run_wrong(tmp_path, "people.csv", "1 rows do not have the 6 fields", "lines 402", source=csv_text(people()) + line)


def test_the_wrong_delimiter(tmp_path):
    ended = run_wrong(
        tmp_path,
        "people.csv",
        "source.delimiter",
        source=csv_text(people(), delimiter=";"),
        after=lambda spec: replace(spec, "samples/people.csv", "samples/people.csv\n  delimiter: ','"),
    )
    assert "not by comma" in ended.err or "single column" in ended.err


def test_another_delimiter_is_found_when_none_is_declared(tmp_path):
    spec = write_publication(tmp_path, source=csv_text(people(), delimiter=";"))
    assert anon("run", spec, home=tmp_path / "home").code == 0


def replace(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def test_the_wrong_encoding(tmp_path):
    rows = [("P9", "1950", "Alba", "F", "3", "perché"), *people()]
    run_wrong(tmp_path, "people.csv", "utf-8", "source.encoding", source=csv_text(rows).encode("cp1252"))


def test_a_file_that_is_not_text_at_all(tmp_path):
    run_wrong(tmp_path, "people.csv", source=bytes(range(256)) * 40)


def test_a_parquet_file_that_is_cut_short(tmp_path):
    run_wrong(tmp_path, "people.csv", "not a readable Parquet file", source=b"PAR1" + b"\0" * 200)


def test_a_gzip_file_that_is_cut_short(tmp_path):
    whole = gzip.compress(csv_text(people(3000)).encode())
    run_wrong(tmp_path, "people.csv", source=whole[: len(whole) // 2])


def test_a_column_that_is_not_declared(tmp_path):
    rows = [(*row, CANARY) for row in people()]
    ended = run_wrong(
        tmp_path,
        "people.csv",
        "not declared in people.yaml: extra",
        "correct `columns`",
        source=csv_text(rows, (*NAMES, "extra")),
    )
    assert CANARY not in ended.err


def test_a_declared_column_that_is_absent_and_another_that_is_not_declared_are_told_at_once(tmp_path):
    ended = run_wrong(
        tmp_path,
        "declared but absent: town",
        source=csv_text(people(), ("id", "born", "city", "sex", "points", "notes")),
    )
    assert "not declared in people.yaml: city" in ended.err


def unmapped(tmp_path, **publication) -> tuple[Path, Path]:
    rows = [("P9", "1950", CANARY, "F", "3", "x"), *people()]
    return write_publication(tmp_path, rows, **publication), tmp_path / "home"


@pytest.mark.parametrize("options", [[], ["--show-values"]], ids=["by default", "with --show-values into a pipe"])
def test_a_hierarchy_that_misses_a_value_is_told_without_the_value(tmp_path, options):
    spec, home = unmapped(tmp_path)
    source = source_of(spec).read_bytes()
    ended = anon("run", spec, *options, home=home)
    assert_stopped(ended, 2, "column 'town': 1 distinct value, 1 row,", "--show-values", "unmapped: suppress")
    assert CANARY not in ended.err + ended.out
    assert_nothing_happened(spec, home, source)
    assert [path for path in files_below(home) if CANARY.encode() in path.read_bytes()] == []


def test_a_hierarchy_that_misses_a_value_is_told_with_it_on_a_terminal(tmp_path):
    spec, home = unmapped(tmp_path)
    ended = on_a_terminal("run", spec, "--show-values", home=home)
    assert ended.code == 2
    assert f"values of column 'town' that do not fit: '{CANARY}'" in ended.err
    assert CANARY not in ended.out
    assert [path for path in files_below(home) if CANARY.encode() in path.read_bytes()] == []


def test_without_show_values_a_terminal_sees_no_value_either(tmp_path):
    spec, home = unmapped(tmp_path)
    ended = on_a_terminal("run", spec, home=home)
    assert ended.code == 2
    assert CANARY not in ended.err + ended.out


def test_a_hierarchy_that_misses_a_value_may_suppress_it(tmp_path):
    columns = {
        **COLUMNS,
        "town": {"role": "quasi", "hierarchy": {"file": "hierarchies/towns.csv", "unmapped": "suppress"}},
    }
    spec, home = unmapped(tmp_path, columns=columns)
    ended = anon("run", spec, home=home)
    assert ended.code == 0, ended.err
    assert [path for path in files_below(portal_of(spec)) if CANARY.encode() in path.read_bytes()] == []


def test_a_missing_hierarchy_file(tmp_path):
    spec, home = write_publication(tmp_path), tmp_path / "home"
    (tmp_path / "include/hierarchies/towns.csv").unlink()
    ended = anon("run", spec, home=home)
    assert_stopped(ended, 2, "columns.town.hierarchy.file", "hierarchies/towns.csv", "No such file")
    assert "reading" not in ended.err
    assert versions_of(spec) == []


def test_a_hierarchy_with_lines_of_different_depth(tmp_path):
    run_wrong(tmp_path, "towns.csv", towns=[*TOWNS, ("Alone",)])


def test_k_larger_than_the_table(tmp_path):
    (reason,) = refused(write_publication(tmp_path, privacy={"k": 500}), tmp_path / "home")
    assert "k 500 not reached: best 400" in reason and "lower privacy.k" in reason


def test_k_larger_than_what_is_left_after_dropping_gaps(tmp_path):
    rows = [(i, b, "" if n % 2 else t, s, p, x) for n, (i, b, t, s, p, x) in enumerate(people())]
    spec = write_publication(tmp_path, rows, missing="drop", privacy={"k": 300})
    (reason,) = refused(spec, tmp_path / "home")
    assert "larger than the table, which has 200 rows" in reason


def refused(spec: Path, home: Path) -> list[str]:
    """The reasons why a run refuses a table that is read well, and publishes nothing."""
    ended = anon("run", spec, "--json", home=home)
    assert ended.code == 1 and versions_of(spec) == [] and staged_files(home) == []
    return json.loads(ended.out)["reasons"]


def test_every_row_has_a_gap(tmp_path):
    rows = [(i, b, "", s, p, x) for i, b, t, s, p, x in people()]
    run_wrong(tmp_path, "every row has a gap in these columns (all 400 were dropped)", rows=rows, missing="drop")


def test_a_policy_that_cannot_be_met_is_a_refusal(tmp_path):
    rows = [*people(8), *[(name, "1950", "Alba", "F", "1", "n") for name in "xyz"]]
    spec = write_publication(tmp_path, rows, privacy={"k": 9, "suppression_limit": 0.0}, recode={"method": "none"})
    ended = anon("run", spec, "--json", home=tmp_path / "home")
    assert ended.code == 1
    assert ended.json["verdict"] == "refused"
    assert any("k" in reason for reason in ended.json["reasons"])
    assert_nothing_happened(spec, tmp_path / "home", source_of(spec).read_bytes())


def test_a_policy_that_no_recoding_can_meet_is_a_refusal_too(tmp_path):
    rows = [*people(8), *[(name, "1950", "Alba", "F", "1", "n") for name in "xyz"]]
    spec = write_publication(tmp_path, [*rows, ("w", "", "", "", "1", "n")], privacy={"k": 12, "suppression_limit": 0})
    ended = anon("run", spec, home=tmp_path / "home")
    assert ended.code in (0, 1), ended.err
    assert "Traceback" not in ended.err


def test_a_publication_file_with_several_mistakes_names_them_all_with_lines(tmp_path):
    spec, home = write_publication(tmp_path, engine="arow", colour="red", privacy={"k": "five"}), tmp_path / "home"
    ended = anon("run", spec, home=home)
    assert ended.code == 2
    for word in ("engine", "colour", "privacy.k"):
        assert word in ended.err
    assert "people.yaml:" in ended.err
    assert not home.exists()


def test_a_portal_below_a_file(tmp_path):
    spec, home = write_publication(tmp_path, portal={"folder": "samples/people.csv/portal"}), tmp_path / "home"
    source = source_of(spec).read_bytes()
    ended = anon("run", spec, home=home)
    assert_stopped(ended, 2, "portal", "people.csv", "Check that the folder")
    assert_nothing_happened(spec, home, source)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_portal_that_may_not_be_written(tmp_path):
    spec, home = write_publication(tmp_path), tmp_path / "home"
    portal_of(spec).mkdir(mode=0o500)
    assert_stopped(anon("run", spec, home=home), 2, "portal", "Permission denied")
    assert staged_files(home) == []


def test_a_private_folder_below_a_file(tmp_path):
    spec = write_publication(tmp_path)
    (tmp_path / "file").write_text("not a folder")
    ended = anon("run", spec, home=tmp_path / "home", environ={"ANON_HOME": str(tmp_path / "file" / "home")})
    assert_stopped(ended, 2, "file/home", "Check that the folder")
    assert versions_of(spec) == []


@pytest.mark.parametrize("room", parameters([2_000, 12_000, 60_000, 150_000, 250_000], always=[12_000, 250_000]))
def test_a_disk_that_is_full_from_the_start(tmp_path, room):
    """The audit store, the staged table, then a file of the release is what does not fit."""
    spec, home = write_publication(tmp_path, people(12_000)), tmp_path / "home"
    assert_full(spec, home, largest_file=room)


@pytest.mark.parametrize("write", parameters(range(1, 58, 7), always=(8, 29, 50)))
def test_a_disk_that_is_full_from_some_write_on(tmp_path, write):
    spec, home = write_publication(tmp_path), tmp_path / "home"
    assert_full(spec, home, full_at_write=write)
    assert anon("run", spec, home=home).code == 0, "with room again, the same run works"
    assert len(versions_of(spec)) == 1


def test_the_writes_that_fail_are_those_of_a_whole_run(tmp_path):
    spec, home = write_publication(tmp_path), tmp_path / "home"
    assert anon("run", spec, home=home, full_at_write=90).code == 0


@pytest.mark.parametrize("write", parameters([*range(18, 59, 8), 62], always=(62,)))
def test_a_disk_that_gets_full_leaves_the_version_before(tmp_path, write):
    spec, home = write_publication(tmp_path), tmp_path / "home"
    assert anon("run", spec, home=home).code == 0
    source_of(spec).write_text(csv_text(people(410, seed=2)))
    assert_full(spec, home, full_at_write=write)
    assert anon("run", spec, home=home).code == 0, "with room again, the same run works"
    assert len(versions_of(spec)) == 2


@pytest.mark.parametrize("write", parameters([63, 67], always=[67]))
def test_a_disk_that_gets_full_after_the_switch_is_mended_by_running_again(tmp_path, write):
    """Nothing but names remains to be made durable: the new version is there, whole, and is not published twice."""
    spec, home = write_publication(tmp_path), tmp_path / "home"
    assert anon("run", spec, home=home).code == 0
    source_of(spec).write_text(csv_text(people(410, seed=2)))
    ended = anon("run", spec, home=home, full_at_write=write)
    assert ended.code in (0, 2)
    assert "Traceback" not in ended.err
    assert len(versions_of(spec)) == 2
    assert anon("run", spec, "--json", home=home).json["verdict"] == "unchanged"
    assert len(versions_of(spec)) == 2
    assert staged_files(home) == []


def assert_full(spec: Path, home: Path, **limit: int) -> None:
    """Run with a full disk: it says so, and what was on the portal before is what is there now."""
    source = source_of(spec).read_bytes()
    before = shown_by(spec)
    ended = anon("run", spec, home=home, **limit)
    assert_stopped(ended, 2, "failed at", "has room")
    assert shown_by(spec) == before
    assert staged_files(home) == []
    assert files_below(home / "gated") == []
    assert source_of(spec).read_bytes() == source
    if (home / "audit.db").exists():
        verified = anon("audit", "verify", home=home)
        assert (verified.code == 0) == ((home / "audit.db").stat().st_size > 0), "an empty file is no audit store"


def shown_by(spec: Path) -> dict[str, bytes]:
    """Every file that a visitor of the portal can find."""
    found = bytes_below(portal_of(spec)) if portal_of(spec).exists() else {}
    return {name: content for name, content in found.items() if not Path(name).name.startswith(".")}
