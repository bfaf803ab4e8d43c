"""Every command of ``anon`` in this process, on tiny tables of canaries, with odd arguments.

Files are written only inside the folder of the case: the paths to write to are picked, never drawn.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path

import yaml

from anon_airflow.cli import COMMANDS, main
from tests.fuzz.drawing import Draw
from tests.fuzz.oddities import TEXTS
from tests.fuzz.oracle import CANARY, command, refuse_canary
from tests.fuzz.target import Target
from tests.fuzz.targets.audit_rows import stored
from tests.fuzz.targets.publications import FILES, FREEFORM, PEOPLE, SINGLETONS
from tests.fuzz.targets.receipts import KEY

Words = list[str]
Option = tuple[str, Callable[[Draw], Words]]

# What a shell can hand over: no NUL, and of surrogates only those that stand for bytes.
ODD = tuple(text for text in TEXTS if not {"\0", "\ud800"} & set(text))
TABLES = ("in/people.csv", "in/people.csv", "in/people.csv", "in/wide.csv", "in/one.csv", "in/*.csv", "in/quote.csv",
          "in/towns.csv", "in/people.yaml", "in", "none.csv", "/dev/null", "in/odd.parquet", "in/empty.csv")  # fmt: skip
SPECS = ("in/people.yaml", "in/freeform.yaml", "in/singletons.yaml", "in/people.csv", "in", "none.yaml", "/dev/null")
OUTPUTS = (
    "out.csv",
    "out.parquet",
    "out.yaml",
    "out.txt",
    "in",
    "no/out.csv",
    "in/people.csv",
    "x" * 300 + ".csv",
    "é.csv",
)
PLOTS = ("out.svg", "out.png", "out.gif", "no/out.svg", "in/people.csv", "in")
NAMES = ("id", "born", "town", "code", "moved", "points", "notes", "a", "none", "*", "")
NUMBERS = ("0", "1", "2", "5", "-1", "0.5", "1e-9", "1e999", "nan", "inf", "9" * 30, "٣", "", "a", "2,3,5", "town=0.5",
           "town=", "=", "born=2", "born=-1", "none=1")  # fmt: skip


def _one_of(options: Sequence[str]) -> Callable[[Draw], Words]:
    return lambda draw: [draw.pick(ODD) if draw.chance(8) else draw.pick(options)]


def _names(draw: Draw) -> Words:
    return [draw.pick(ODD) if draw.chance(8) else ",".join(draw.several(NAMES, 3)) or draw.pick(NAMES)]


def _flag(draw: Draw) -> Words:
    return []


_table = _one_of(TABLES)
_spec = _one_of(SPECS)
_output = lambda draw: [draw.pick(OUTPUTS)]  # noqa: E731
_plot = lambda draw: [draw.pick(PLOTS)]  # noqa: E731
_number = _one_of(NUMBERS)
_text = _one_of(("a", "people", "r", "v1", "because", "2026-11-01"))
_kind = _one_of(("5,10", "18,30", "month,year", "4,2", "any", "*", "1,2", "2", "in/points.txt", "in/towns.csv", "none"))
READING: list[Option] = [
    ("--delimiter", _one_of((",", ";", "auto", "|", "\t"))),
    ("--encoding", _one_of(("utf-8", "auto", "cp1252", "utf-16", "undefined", "idna", "rot13", "base64", "mbcs"))),
    ("--missing-word", _one_of(("", "NA", "1"))),
    ("--json", _flag),
]
SEARCH: list[Option] = [("--columns", _names), ("--exclude", _names), ("--max-size", _number), *READING]
OPTIONS: dict[str, tuple[list[Callable[[Draw], Words]], list[Option]]] = {
    "init": ([_table], [("--output", _output), ("--dataset", _text), ("-k", _number), ("--force", _flag), *READING]),
    "profile": ([_table], [("--sketch", _flag), *READING]),
    "detect": ([_table], [("--missing", _one_of(("category", "drop"))), ("--unit", _names), *SEARCH]),
    "select": ([_table], [("--columns", _names), ("--drop-missing", _flag), ("--drop-duplicates", _flag), *READING]),
    "uccs": ([_table], [("--approximate", _number), ("--ignore-duplicates", _flag), *SEARCH]),
    "score": ([_table], [("--p", _number), ("--mask", _number), ("--sweep", _one_of(("rows", "adversary"))),
                         ("--seed", _number), ("--approximate", _number), ("--ignore-duplicates", _flag), *SEARCH]),
    "decompose": ([_table], [
        ("--column", _names), ("--widths", _number), ("--separator", _one_of(("-", "", "a"))),
        ("--pattern", _one_of(("(?P<a>..)(?P<b>.*)", "(a+)+$", "(?P<a>"))), ("--region", _one_of(("IT", "XX"))),
        ("--preset", _one_of(("telephone", "fiscal_code_it", "ip"))), ("--names", _names),
        ("--lookup", _one_of(("a=in/towns.csv", "a=", "=", "a=none"))), ("--publish", _names), ("--with", _names),
        ("--unmapped", _one_of(("suppress", "error"))), ("--output", _output), ("--force", _flag),
        ("--show-values", _flag), *READING]),
    "hierarchy build": ([_table], [
        ("--column", _one_of(NAMES)), ("--intervals", _kind), ("--cuts", _kind), ("--date", _kind), ("--prefix", _kind),
        ("--root", _kind), ("--frequency", _kind), ("--groups", _kind), ("--rules", _kind), ("--order", _names),
        ("--output", _output), ("--force", _flag), ("--unmapped", _one_of(("suppress", "error"))),
        ("--show-values", _flag), *READING]),
    "hierarchy check": ([_one_of(("in/towns.csv", "in/points.txt", "in/people.csv", "in", "/dev/null", "none"))],
                        [("--table", _table), ("--column", _one_of(NAMES)), ("--show-values", _flag), *READING]),
    "recode": ([_table], [
        ("--spec", _spec), ("--output", _output), ("--force", _flag), ("--keep-order", _flag), ("--seed", _number),
        ("--improve", _number), ("--mode", _one_of(("safe", "link", "paper"))), ("--sweep-k", _number), ("-k", _number),
        ("--method", _one_of(("global", "best", "prioritised", "singletons", "none", "freeform"))), *READING]),
    "check": ([_table], [
        ("--quasi", _names), ("--sensitive", _names), ("-k", _number), ("--spec", _spec), ("--original", _table),
        ("--same-order", _flag), ("--key", _names), ("--unit", _names), ("--sampling-fraction", _number),
        ("--column", _names), ("--show-values", _flag), *READING]),
    "freeform": ([_table], [("--spec", _spec), ("--show-values", _flag), *READING]),
    "validate": ([_spec], [("--json", _flag)]),
    "run": ([_one_of(SPECS[3:])], [("--period", _text), ("--period-end", _text), ("--show-values", _flag)]),
    "withdraw": ([_text], [("--reason", _text), ("--dataset", _text), ("--words-only", _flag), ("--json", _flag)]),
    "sweep": ([], [("--kept", _flag), ("--json", _flag)]),
    "approval revoke": ([_text], [("--reason", _text), ("--dataset", _text), ("--json", _flag)]),
    "policy show": ([], [("--json", _flag)]),
    "policy adopt": ([], [("--reason", _text), ("--by", _text), ("--json", _flag)]),
    "audit list": ([], [("--dataset", _text), ("--limit", _number), ("--json", _flag)]),
    "audit show": ([_text], [("--summary", _flag), ("--json", _flag)]),
    "audit pending": ([], [("--dataset", _text), ("--json", _flag)]),
    "audit verify": ([], [("--anchor", _spec), ("--json", _flag)]),
    "audit export": ([], [("--json", _flag)]),
    "compile": ([], [("--json", _flag)]),
}  # fmt: skip
NEEDED = {"--column", "--columns", "--spec", "--reason", "--quasi"}
DRAWING = ("detect", "select", "score", "decompose", "recode", "check")


def run(draw: Draw, folder: Path) -> None:
    _begin(folder)
    name = draw.pick(list(OPTIONS))
    arguments = name.split() + _arguments(draw, name)
    before = Path.cwd()
    os.chdir(folder)
    os.environ["ANON_HOME"] = str(folder / "home")
    try:
        command(main, arguments)
        _look_around(folder, arguments)
    finally:
        os.chdir(before)


def _arguments(draw: Draw, name: str) -> Words:
    positional, options = OPTIONS[name]
    words = [word for each in positional for word in each(draw)]
    given = [option for option in options if option[0] in NEEDED and not draw.chance(10)]
    given += draw.several(options, 4)
    if name in DRAWING and draw.number(0, 63) == 63:  # Drawing takes a hundred times as long as all the rest.
        given.append(("--plot", _plot))
    for option, values in given:
        words += [option, *values(draw)]
    if draw.chance(30):
        words.append(draw.pick(("--help", "--", "-", "--none", "-k", "--json=1", *ODD)))
    return words


def _begin(folder: Path) -> None:
    """Write what is read, once, and remove what the case before has written."""
    inputs, home = folder / "in", folder / "home"
    for path in folder.iterdir():
        if path.is_dir() and path != inputs:
            shutil.rmtree(path)
        elif path.name not in ("in", "whole.db"):
            path.unlink()
    if not (inputs / "ready").exists():
        _write_inputs(inputs)
    home.mkdir(mode=0o700)
    (home / "audit.db").write_bytes(stored(folder))
    (home / "signing.key").write_bytes(KEY.secret)
    for path in home.iterdir():
        path.chmod(0o600)


def _write_inputs(inputs: Path) -> None:
    inputs.mkdir(exist_ok=True)
    for name, content in FILES.items():
        (inputs / name).write_text(content)
    for name, document in {"people": PEOPLE, "freeform": FREEFORM, "singletons": SINGLETONS}.items():
        (inputs / f"{name}.yaml").write_text(yaml.safe_dump(document, sort_keys=False))
    (inputs / "wide.csv").write_text(",".join(f"n{at}" for at in range(20)) + "\n" + f"{CANARY}," * 19 + "1\n")
    (inputs / "one.csv").write_text(f"a\n{CANARY}\n{CANARY}\n1\n\n")
    (inputs / "quote.csv").write_text(f'id,"born\n{CANARY},1\n{CANARY}",town\n1,2,3\n')
    (inputs / "empty.csv").write_text("a,b\n")
    (inputs / "odd.parquet").write_bytes(b"PAR1" + CANARY.encode() + b"PAR1")
    (inputs / "ready").touch()


def _look_around(folder: Path, arguments: Sequence[str]) -> None:
    """Look for canaries in what a command left; a table, hierarchy or picture may have the cells that it was to show."""
    kept = {"in", "whole.db"}
    if arguments[0] in ("recode", "decompose", "hierarchy") or "--show-values" in arguments:
        kept |= {Path(word).name for word in arguments} | {path.name for path in folder.glob("hierarchy_*")}
    for path in folder.rglob("*"):
        if path.is_file() and path.relative_to(folder).parts[0] not in kept:
            refuse_canary(path.read_bytes().decode("latin-1"), f"a file of {arguments[0]}")


assert {name.split()[0] for name in OPTIONS} == set(COMMANDS), "every command is tried"

TARGET = Target(run=run, share=0.02, drawn=0.2, max_length=256)
