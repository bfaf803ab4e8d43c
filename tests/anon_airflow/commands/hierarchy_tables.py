"""A small table of people for the commands that make and check hierarchies."""

from __future__ import annotations

from pathlib import Path

CANARY = "CANARY-7319"
ROWS = [
    ("3", "2019-01-05", "11020", "AOSTA", "5,5"),
    ("17", "2019-02-05", "11100", "AOSTA", "7"),
    ("18", "2019-05-05", "11100", "COGNE", "12,25"),
    ("40", "2020-05-05", "20121", "COGNE", "1,234"),
    ("70", "2021-05-05", "20121", "MILANO", ""),
    ("71", "", "20122", "MILANO", "3"),
]
COLUMNS = ("age", "issued", "postcode", "town", "wage")


def write_people(path: Path) -> Path:
    path.write_text("\n".join(";".join(row) for row in [COLUMNS, *ROWS]) + "\n")
    return path


def unfit(table: Path) -> None:
    table.write_text(table.read_text() + f"{CANARY};2019-01-01;x;y;1\n{CANARY};2019-01-01;x;y;1\n")
