"""Canaries where a cell can become a name, a label, a file name or a message: nothing shows one, nothing keeps one."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml

from anon_core.errors import TableError
from anon_core.table import read
from anon_core.table.streaming import batches
from tests.faults.anon_process import Ended, anon
from tests.faults.publications import COLUMNS, NAMES, csv_text, people, source_of, versions_of, write_publication
from tests.faults.search import found_in
from tests.parameters import parameters

CANARY = "Qanary"

STRAY_QUOTE = (
    csv_text(people()).replace("points,notes\n", 'points,"notes\n', 1).replace("note 3\n", f'note {CANARY} 3"\n', 1)
)
"""A quote that opens in the last name and closes three rows later: five of six declared columns are there."""


def named(name: str) -> str:
    """The register with this name in place of the last one."""
    quoted = '"' + name.replace('"', '""') + '"'
    return csv_text(people()).replace("points,notes\n", f"points,{quoted}\n", 1)


def guarding(spec: Path) -> Path:
    """The publication file with a guard, which `anon freeform` asks for."""
    content = yaml.safe_load(spec.read_text())
    content["columns"]["points"]["hierarchy"] = {"root": "any"}
    content["privacy"]["freeform"] = {"sigma_o": 1, "sigma_t": 0.5, "columns": {"points": {"guard": ["7"]}}}
    other = spec.with_name("guarding.yaml")
    other.write_text(yaml.safe_dump(content))
    return other


def commands(table: Path, spec: Path, folder: Path) -> dict[str, list[str | Path]]:
    """Every command that reads a table, with arguments that it takes."""
    towns = spec.parent.parent / "hierarchies/towns.csv"
    return {
        "profile": ["profile", table],
        "profile --sketch": ["profile", table, "--sketch", "--json"],
        "detect": ["detect", table, "--max-size", "2"],
        "select": ["select", table, "--columns", "born,town"],
        "uccs": ["uccs", table, "--max-size", "2"],
        "score": ["score", table, "--max-size", "2", "--json"],
        "init": ["init", table, "--output", folder / "drafted.yaml"],
        "check": ["check", table, "--quasi", "born,town", "-k", "2"],
        "check --original": ["check", towns, "--quasi", "Alba", "-k", "2", "--original", table],
        "check --spec": ["check", table, "--spec", spec],
        "recode": ["recode", table, "--spec", spec, "--output", folder / "recoded.csv"],
        "hierarchy build": [
            *("hierarchy", "build", table, "--column", "born", "--intervals", "5,10"),
            *("--output", folder / "built.csv"),
        ],
        "hierarchy check": ["hierarchy", "check", towns, "--table", table, "--column", "town"],
        "decompose": ["decompose", table, "--column", "born", "--widths", "2", "--names", "century,year"],
        "freeform": ["freeform", table, "--spec", guarding(spec)],
        "run": ["run", spec],
    }


def assert_refused_without_a_canary(folder: Path, spec: Path, table: Path, message: str) -> None:
    home = folder / "home"
    for name, arguments in commands(table, spec, folder).items():
        ended = anon(*arguments, home=home)
        assert ended.code == 2, f"{name}: {ended.out}{ended.err}"
        assert CANARY not in ended.out + ended.err, name
        assert "bug in anonflow" not in ended.err, f"{name}: {ended.err}"
        if name != "check --original":  # The file it compares with is no table of this register.
            assert re.search(message, ended.err), f"{name}: {ended.err}"
    assert found_in(folder, [CANARY], but=[table]) == []
    for command in (["list"], ["show", "people", "--json"], ["export"]):
        ended = anon("audit", *command, home=home)
        assert CANARY not in ended.out + ended.err
    assert versions_of(spec) == []


CSV = {
    "a stray quote": (STRAY_QUOTE, "the name of column 6 has control characters"),
    "a long name": (named(f"{CANARY} " * 40), "the name of column 6 is longer than the limit of 255 characters"),
    "a next line mark": (named(f"{CANARY}\x85notes"), "the name of column 6 has control characters"),
}


@pytest.mark.parametrize("kind", parameters(CSV, always=["a stray quote"]))
def test_a_name_that_is_a_row_is_shown_by_no_command_and_kept_nowhere(tmp_path: Path, kind: str) -> None:
    text, message = CSV[kind]
    spec = write_publication(tmp_path, source=text)
    assert_refused_without_a_canary(tmp_path, spec, source_of(spec), message)


@pytest.mark.parametrize(
    "sign",
    ["\n", "\r", "\t", "\0", "\x1b", "\x7f", "\x85", "\u2028", "\u2029", "\u202e", "\u2066", "\u200f", "\u061c"],
    ids=lambda sign: f"U+{ord(sign):04X}",
)
def test_every_sign_that_no_name_has_is_refused_by_position_in_csv_and_parquet(tmp_path: Path, sign: str) -> None:
    (tmp_path / "table.csv").write_text(f'a,"b{sign}{CANARY}",c,"{CANARY}{sign}"\n1,2,3,4\n', newline="")
    pq.write_table(
        pa.table({"a": ["1"], f"b{sign}{CANARY}": ["2"], "c": ["3"], sign: ["4"]}), tmp_path / "table.parquet"
    )
    for name in ("table.csv", "table.parquet"):
        for call in (read, lambda path: list(batches(path))):
            with pytest.raises(TableError) as caught:
                call(tmp_path / name)
            assert CANARY not in str(caught.value)
            if (sign, name) != ("\0", "table.csv"):  # Of a text with zeros nothing is believed.
                assert caught.value.what.startswith("the name of column 2, 4 has control characters")


def test_joiners_and_letters_of_any_script_may_stand_in_a_name(tmp_path: Path) -> None:
    names = ("نام\u200cخانوادگی", "क्\u200dष", "Straße", "氏名", "Zuname (Ä)", "a\u00a0b", "e\u0301")
    (tmp_path / "table.csv").write_text(",".join(names) + "\n" + ",".join("1234567") + "\n")
    assert read(tmp_path / "table.csv").names == names


def register(**changes: pa.Array) -> pa.Table:
    columns = dict(zip(NAMES, zip(*people(), strict=True), strict=True))
    return pa.table({name: pa.array(list(cells)) for name, cells in columns.items()} | changes)


def zone(path: Path) -> None:
    """A time zone may be any text, and Arrow quotes it in its errors and in the name of the type."""
    times = pa.array([0] * 400, pa.int64()).cast(pa.timestamp("ms", tz=f"Nowhere/{CANARY}"))
    pq.write_table(register(notes=times), path)


class Secret(pa.ExtensionType):
    """A type whose name is a cell."""

    def __init__(self) -> None:
        super().__init__(pa.int64(), f"{CANARY}.type")

    def __arrow_ext_serialize__(self) -> bytes:
        return CANARY.encode()

    @classmethod
    def __arrow_ext_deserialize__(cls, storage_type: pa.DataType, serialized: bytes) -> Secret:
        return cls()


def struct(path: Path) -> None:
    pq.write_table(register(notes=pa.array([{CANARY: "1"}] * 400)), path)


def listed(path: Path) -> None:
    pq.write_table(register(notes=pa.array([[CANARY]] * 400)), path)


def binary(path: Path) -> None:
    pq.write_table(register(notes=pa.array([CANARY.encode()] * 400)), path)


def not_utf8(path: Path) -> None:
    """Bytes that Arrow is made to take for a text."""
    cells = pa.array([CANARY.encode() + b"\xff"] * 400).view(pa.string())
    pq.write_table(register(notes=cells), path)


def name_not_utf8(path: Path) -> None:
    pq.write_table(
        register().rename_columns([*NAMES[:5], f"{CANARY}zz"]).replace_schema_metadata(None), path, store_schema=False
    )
    path.write_bytes(path.read_bytes().replace(f"{CANARY}zz".encode(), CANARY.encode() + b"\xff\xfe"))


PARQUET: dict[str, tuple[Callable[[Path], None], str]] = {
    "a time zone": (zone, "column 'notes' has timestamp values that cannot be written as text"),
    "a field of a struct": (struct, "columns of nested or binary type: notes"),
    "a list": (listed, "columns of nested or binary type: notes"),
    "bytes": (binary, "columns of nested or binary type: notes"),
    "a text that is not UTF-8": (not_utf8, "column 'notes' has string values that cannot be written as text"),
    "a name that is not UTF-8": (name_not_utf8, "the name of column 6 is not UTF-8 text"),
}


@pytest.mark.parametrize("kind", parameters(PARQUET, always=["a time zone", "a text that is not UTF-8"]))
def test_what_a_parquet_file_says_of_itself_is_shown_by_no_command(tmp_path: Path, kind: str) -> None:
    make, message = PARQUET[kind]
    spec = write_publication(tmp_path)
    make(source_of(spec))
    assert_refused_without_a_canary(tmp_path, spec, source_of(spec), message)


def test_metadata_of_a_parquet_source_gets_nowhere(tmp_path: Path) -> None:
    spec = write_publication(tmp_path)
    fields = [pa.field(name, pa.string(), metadata={CANARY: CANARY}) for name in NAMES[:5]]
    fields.append(pa.field("notes", Secret()))
    table = register(notes=pa.ExtensionArray.from_storage(Secret(), pa.array(range(400), pa.int64()))).cast(
        pa.schema(fields, metadata={CANARY: CANARY, "pandas": f'{{"{CANARY}": ["{CANARY}"]}}'})
    )
    pq.write_table(table, source_of(spec))
    ended = anon("run", spec, "--json", home=tmp_path / "home")
    assert ended.code == 0, ended.err
    assert CANARY not in ended.out + ended.err
    assert found_in(tmp_path, [CANARY], but=[source_of(spec)]) == []


@pytest.mark.parametrize(
    "content",
    parameters(
        [
            csv_text(people()).replace("note 3", CANARY),
            csv_text(people(), delimiter=";").replace("note 3", CANARY),
            f"name: {CANARY}\n{CANARY}: 1\n",
            f"{CANARY}: {CANARY}\n{CANARY}: {CANARY}\n",
            f"{{{CANARY}: [1, *{CANARY}]}}\n",
            f"- !{CANARY} x\n",
            f'"{CANARY}\n',
            f"a: 'x' {CANARY}\n",
            f"%{CANARY} 1\n---\na: 1\n",
        ],
        always=[f'"{CANARY}\n', csv_text(people()).replace("note 3", CANARY)],
    ),
    ids=["csv", "semicolons", "keys", "double keys", "alias", "tag", "open quote", "after a quote", "directive"],
)
def test_a_table_in_place_of_a_hierarchy_or_lookup_is_not_quoted(tmp_path: Path, content: str) -> None:
    spec = write_publication(tmp_path)
    other = tmp_path / "other.csv"
    other.write_text(content)
    towns = spec.parent.parent / "hierarchies/towns.csv"
    towns.write_text(content)
    home = tmp_path / "home"
    table = source_of(spec)
    for arguments in (
        ["hierarchy", "check", other, "--table", table, "--column", "town"],
        ["hierarchy", "build", table, "--column", "town", "--rules", other, "--output", tmp_path / "built.csv"],
        *([["decompose", table, "--column", "born", "--widths", "2", "--names", "a,b", "--lookup", f"a={other}"]]),
        ["run", spec],
        ["recode", table, "--spec", spec, "--output", tmp_path / "recoded.csv"],
        ["run", other],
        ["recode", table, "--spec", other, "--output", tmp_path / "recoded.csv"],
    ):
        ended: Ended = anon(*arguments, home=home)
        assert ended.code in (1, 2), f"{arguments}: {ended.out}{ended.err}"
        assert "bug in anonflow" not in ended.err
        assert CANARY not in ended.out + ended.err, f"{arguments}: {ended.out}{ended.err}"
    assert found_in(tmp_path, [CANARY], but=[other, towns]) == []


def test_a_name_of_a_level_is_one_line_of_text_that_is_not_too_long(tmp_path: Path) -> None:
    rules = tmp_path / "rules.txt"
    for title in (f"{CANARY}\u2028row", f"{CANARY} " * 40):
        rules.write_text(f"level 1: {title}\n{{a, b}} => c\n")
        ended = anon("hierarchy", "check", rules, home=tmp_path / "home")
        assert ended.code == 2, ended.out
        assert "line 1 gives a level a name that" in ended.out + ended.err
        assert CANARY not in ended.out + ended.err


def test_a_file_whose_name_cannot_be_shown_is_refused_by_its_place(tmp_path: Path) -> None:
    (tmp_path / "part-1.csv").write_text("a,b\n1,2\n")
    (tmp_path / f"part-2\n{CANARY}.csv").write_text("a,b\n1,3\n")
    ended = anon("profile", tmp_path / "part-*.csv", home=tmp_path / "home")
    assert ended.code == 2
    assert "of the 2 files that this pattern matches, in order of name, the name of number 2 has" in ended.err
    assert CANARY not in ended.err


def test_columns_with_names_that_no_table_has_are_refused_in_a_publication_file(tmp_path: Path) -> None:
    columns = {**COLUMNS, f"x\n{CANARY}": {"role": "other"}, "y" * 300: {"role": "drop"}}
    spec = write_publication(tmp_path, columns=columns)
    ended = anon("run", spec, home=tmp_path / "home")
    assert ended.code == 2
    assert "the name of column 7 has control characters" in ended.err
    assert "the name of column 8 is longer than the limit of 255 characters" in ended.err
    assert CANARY not in ended.err


def test_without_a_header_a_run_does_not_show_the_first_row(tmp_path: Path) -> None:
    rows = [(CANARY, "1950", f"{CANARY}Town", "F", "7", f"{CANARY}Note"), *people()]
    spec = write_publication(tmp_path, source=csv_text(rows).split("\n", 1)[1])
    ended = anon("run", spec, home=tmp_path / "home")
    assert ended.code == 2
    assert CANARY not in ended.out + ended.err
    assert found_in(tmp_path, [CANARY], but=[source_of(spec)]) == []


@pytest.mark.parametrize("at", range(3))
def test_the_chain_of_an_error_about_a_table_holds_no_cell(tmp_path: Path, at: int) -> None:
    """What a library raised may stand behind our error only where Python does not print it."""
    content = [f"a,b\n{CANARY}\n", f'a,b\n1,"{CANARY}\n', f"a,{CANARY}\n1,\xff\n"][at]
    (tmp_path / "table.csv").write_bytes(content.encode("latin-1"))
    with pytest.raises(TableError) as caught:
        read(tmp_path / "table.csv")
    error: BaseException | None = caught.value
    while error is not None:
        assert CANARY not in str(error)
        assert error.__cause__ is None
        error = None if error.__suppress_context__ else error.__context__
