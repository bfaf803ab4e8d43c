"""How many proposed roles and units are right: of tables as administrations have them, and of real ones."""

from __future__ import annotations

import csv
import datetime
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from anon_core.detection.proposed_unit import proposed_unit
from anon_core.detection.roles import propose_all
from anon_core.measures.profile import profile
from anon_core.table import ReadOptions, Table, read

TODAY = datetime.date(2026, 11, 1)
_WITHHELD = ("identifier", "drop")


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposed:
    """
    One column, or the unit of a table: what is right and what was proposed.

    Wrong on the safe side is an identifier or a dropped column where something could be published, and a
    quasi-identifier where the column is harmless. Anything else that is wrong is dangerous.
    """

    table: str
    what: str
    right: str
    proposed: str

    @property
    def is_right(self) -> bool:
        return self.right == self.proposed or (self.right in _WITHHELD and self.proposed in _WITHHELD)

    @property
    def is_safe(self) -> bool:
        if self.what == "unit":
            return self.right == "row"  # People are counted who share a value, so fewer than there are.
        return self.proposed in _WITHHELD or (self.right == "other" and self.proposed == "quasi")


def proposals(name: str, table: Table, roles: Mapping[str, str], unit: Iterable[str]) -> Iterator[Proposed]:
    """Yield what is proposed for a table beside what is right."""
    found = propose_all(table, [profile(column) for column in table.columns], today=TODAY)
    by_name = {column.name: role for column, role in zip(table.columns, found, strict=True)}
    for column, role in by_name.items():
        yield Proposed(table=name, what=column, right=roles[column], proposed=str(role.role))
    proposed = proposed_unit(table, by_name)
    yield Proposed(table=name, what="unit", right=_told(unit), proposed=_told(proposed.columns))


def _told(unit: Iterable[str]) -> str:
    return " + ".join(unit) or "row"


def real_tables(folder: Path) -> Iterator[tuple[str, Table, dict[str, str]]]:
    """Yield the reference tables with the roles that were labelled by hand; of all every row is another person."""
    roles: dict[str, dict[str, str]] = {}
    with (Path(__file__).parent / "labels.csv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            roles.setdefault(row["table"], {})[row["column"]] = row["role"]
    for name, labelled in roles.items():
        yield name, read(folder / name, ReadOptions(delimiter="auto")), labelled


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """How many proposals there were, and how many were right, wrong on the safe side, wrong on the dangerous one."""

    proposed: int
    right: int
    safe: int
    dangerous: int

    @classmethod
    def of(cls, found: Iterable[Proposed]) -> Score:
        """Count them."""
        all_of = list(found)
        wrong = [one for one in all_of if not one.is_right]
        safe = sum(one.is_safe for one in wrong)
        return cls(proposed=len(all_of), right=len(all_of) - len(wrong), safe=safe, dangerous=len(wrong) - safe)

    def __str__(self) -> str:
        share = self.right / self.proposed
        wrong = f"{self.safe} wrong on the safe side, {self.dangerous} on the dangerous one"
        return f"{self.right} of {self.proposed} right ({share:.1%}), {wrong}"
