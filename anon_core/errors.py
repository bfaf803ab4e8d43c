"""Every error this product raises on purpose.

::

    AnonError
    ├── InvalidInputError         the call or the input is wrong (exit code 2)
    │   ├── SpecError             the publication file, all problems at once
    │   ├── NotSupportedYetError  a feature by name that this version does not have
    │   ├── MissingExtraError     packages of an extra that is not installed
    │   ├── TableError            a table that cannot be read as it should be
    │   ├── UnknownColumnError    columns that are not in the table
    │   ├── HierarchyError        a hierarchy that is not one
    │   ├── UnmappedValuesError   values that a hierarchy does not cover
    │   ├── DecomposeError        values that a rule does not split, codes that a lookup does not name
    │   ├── CoarsenError          values that `coarsen` cannot read
    │   ├── UnknownLabelsError    released cells that no hierarchy leads to
    │   ├── UnplacedCellsError    cells that are neither values nor labels of a hierarchy
    │   ├── NotNumbersError       values that are not numbers, where numbers are grouped
    │   └── StorageError          a folder, disk, database or portal that fails
    │       └── PortalError       a portal on the network that does not answer, or not as it should
    ├── ComplianceError           the data cannot comply (exit code 1)
    │   ├── PolicyNotMetError     the search ended with the policy still broken
    │   └── RefusedError          the gate, the receipt or the portal said no
    └── InternalError             our bug: please report it

No message and no attribute ever holds a cell value: messages end up in logs, and logs are read by many.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from anon_core.wording import counted


class AnonError(Exception):
    """The base of every error that anonflow raises on purpose."""


class InvalidInputError(AnonError):
    """The call or the input is wrong; the message says what, where and what to do."""


class ComplianceError(AnonError):
    """The data cannot comply with the policy; nothing was published."""


class InternalError(AnonError):
    """An error that we did not foresee: a bug of ours, or of another ``package``, and not of the caller.

    The original message is left out on purpose, because messages of libraries may quote a cell.
    """

    def __init__(self, kind: str, where: str, package: str = "anonflow") -> None:
        super().__init__(kind, where, package)
        self.kind = kind
        self.where = where
        self.package = package

    def __str__(self) -> str:
        return (
            f"unexpected {self.kind} at {self.where}; its text is withheld because it may quote data. "
            f"This is a bug in {self.package}: please report this line. `anon audit list` shows where the run stands"
        )


@dataclass(frozen=True, slots=True, order=True)
class Problem:
    """One thing that is wrong in a publication file."""

    line: int
    where: str
    what: str


class SpecError(InvalidInputError):
    """A publication file that cannot be used, with everything wrong in it."""

    def __init__(self, file: str, problems: Sequence[Problem]) -> None:
        super().__init__(file, tuple(problems))
        self.file = file
        self.problems = tuple(sorted(problems))

    def __str__(self) -> str:
        lines = [f"{self.file}: {counted(len(self.problems), 'problem')}"]
        lines += [f"  {self.file}:{p.line}: {p.where + ': ' if p.where else ''}{p.what}" for p in self.problems]
        return "\n".join(lines)


class NotSupportedYetError(InvalidInputError):
    """A feature of the design that this version does not have."""

    def __init__(self, feature: str, instead: str = "") -> None:
        super().__init__(feature, instead)
        self.feature = feature
        self.instead = instead

    def __str__(self) -> str:
        return f"{self.feature} is not supported yet" + (f"; {self.instead}" if self.instead else "")


class MissingExtraError(InvalidInputError):
    """Packages that an extra of anonflow brings are not installed, and ``what`` needs them."""

    def __init__(self, extra: str, packages: Sequence[str], what: str) -> None:
        super().__init__(extra, tuple(packages), what)
        self.extra = extra
        self.packages = tuple(packages)
        self.what = what

    def __str__(self) -> str:
        verb = "is" if len(self.packages) == 1 else "are"
        return (
            f"{self.what} needs the extra `{self.extra}`, of which {', '.join(self.packages)} {verb} not installed: "
            f"pip install 'anonflow[{self.extra}]'"
        )


class TableError(InvalidInputError):
    """A table that cannot be read, or is not what was declared."""

    def __init__(self, file: str, what: str, advice: str) -> None:
        super().__init__(file, what, advice)
        self.file = file
        self.what = what
        self.advice = advice

    def __str__(self) -> str:
        return f"{self.file}: {self.what}; {self.advice}"


class UnknownColumnError(InvalidInputError):
    """Columns were named that the table does not have."""

    def __init__(self, unknown: Sequence[str], known: Sequence[str]) -> None:
        super().__init__(tuple(unknown), tuple(known))
        self.unknown = tuple(unknown)
        self.known = tuple(known)

    def __str__(self) -> str:
        return (
            f"no column named {', '.join(map(repr, self.unknown))} among the {len(self.known)} of the table; "
            "`anon profile TABLE` lists them"
        )


class HierarchyError(InvalidInputError):
    """A hierarchy that cannot be used, with everything wrong in it."""

    def __init__(self, where: str, problems: Sequence[str]) -> None:
        super().__init__(where, tuple(problems))
        self.where = where
        self.problems = tuple(problems)

    def __str__(self) -> str:
        return f"{self.where}: " + "; ".join(self.problems)


class UnmappedValuesError(InvalidInputError):
    """Columns with values that their hierarchy does not cover: ``unmapped`` maps column to (distinct values, rows).

    ``wanted`` tells per column what its hierarchy asks for.
    """

    def __init__(self, unmapped: dict[str, tuple[int, int]], wanted: dict[str, str] | None = None) -> None:
        super().__init__(unmapped, wanted)
        self.unmapped = unmapped
        self.wanted = wanted or {}

    def __str__(self) -> str:
        parts = [
            f"column {name!r}: {_values(values, rows)}{self.wanted.get(name, '')}"
            for name, (values, rows) in self.unmapped.items()
        ]
        return (
            f"the hierarchy does not cover every value ({'; '.join(parts)}); repair the values, choose another "
            "hierarchy, or set `unmapped: suppress` to publish them as * (not where privacy.freeform guards). "
            "`anon run SPEC --show-values` names them on the terminal"
        )


class DecomposeError(InvalidInputError):
    """Columns whose values cannot all be split into parts, or whose parts have codes that the lookup does not name.

    ``unfit`` maps column to (distinct values, rows), ``unnamed`` the same for pairs of column and part; ``wanted``
    tells per column by which rule it was to be split.
    """

    def __init__(
        self,
        unfit: dict[str, tuple[int, int]],
        unnamed: dict[tuple[str, str], tuple[int, int]],
        wanted: dict[str, str],
    ) -> None:
        super().__init__(unfit, unnamed, wanted)
        self.unfit = unfit
        self.unnamed = unnamed
        self.wanted = wanted

    def __str__(self) -> str:
        parts = [
            f"column {name!r}: {_values(values, rows)}, not of the form {self.wanted[name]}"
            for name, (values, rows) in self.unfit.items()
        ]
        parts += [
            f"part {part!r} of column {name!r}: {counted(codes, 'distinct code')}, {counted(rows, 'row')}, without a "
            "line in its lookup"
            for (name, part), (codes, rows) in self.unnamed.items()
        ]
        return (
            f"not every value can be decomposed ({'; '.join(parts)}); repair the values, the rule or the lookup, or "
            "set `unmapped: suppress` in `decompose` (`anon decompose --unmapped suppress`) to publish them as *. "
            "`anon run SPEC --show-values` names them on the terminal"
        )


class CoarsenError(InvalidInputError):
    """Columns with values that `coarsen` cannot read: ``unread`` maps column to (distinct values, rows).

    ``wanted`` says per column what its values are not.
    """

    def __init__(self, unread: dict[str, tuple[int, int]], wanted: dict[str, str]) -> None:
        super().__init__(unread, wanted)
        self.unread = unread
        self.wanted = wanted

    def __str__(self) -> str:
        parts = [
            f"column {name!r}: {_values(values, rows)}, {self.wanted[name]}"
            for name, (values, rows) in self.unread.items()
        ]
        return (
            f"not every value can be coarsened ({'; '.join(parts)}); repair the values, list words for gaps in "
            "source.missing_words, or set `unmapped: suppress` in `coarsen` to publish them as *. "
            "`anon run SPEC --show-values` names them on the terminal"
        )


class UnknownLabelsError(InvalidInputError):
    """Released cells that are neither values of the original table nor labels of its hierarchies.

    ``unknown`` maps column to (distinct values, rows).
    """

    def __init__(self, unknown: dict[str, tuple[int, int]]) -> None:
        super().__init__(unknown)
        self.unknown = unknown

    def __str__(self) -> str:
        parts = [f"column {name!r}: {_values(values, rows)}" for name, (values, rows) in self.unknown.items()]
        return (
            f"the released table has cells that are neither values of the original nor labels above them "
            f"({'; '.join(parts)}); give the publication file whose hierarchies made them (spec=), and the very "
            "table that was recoded"
        )


class UnplacedCellsError(InvalidInputError):
    """Cells of a table, generalised or not, that are neither values nor labels of their hierarchy.

    ``unplaced`` maps column to (distinct values, rows). The columns ``from_values`` have a hierarchy that is made from
    the values of a table, and a generalised table no longer has them.
    """

    def __init__(self, unplaced: dict[str, tuple[int, int]], from_values: Sequence[str] = ()) -> None:
        super().__init__(unplaced, tuple(from_values))
        self.unplaced = unplaced
        self.from_values = tuple(from_values)

    def __str__(self) -> str:
        parts = [f"column {name!r}: {_values(values, rows)}" for name, (values, rows) in self.unplaced.items()]
        built = (
            f" The hierarchy of {', '.join(map(repr, self.from_values))} is made from the values, which a generalised "
            "table no longer has: give the table as collected, or name a hierarchy file (`anon hierarchy build` "
            "writes one)."
            if self.from_values
            else ""
        )
        return (
            f"the table has cells that are neither values nor labels of their hierarchy ({'; '.join(parts)}); repair "
            f"the cells or the hierarchy.{built} `anon freeform TABLE --show-values` names them on the terminal"
        )


class NotNumbersError(InvalidInputError):
    """A column to be grouped by its numbers has values that are none."""

    def __init__(self, column: str, values: int, rows: int) -> None:
        super().__init__(column, values, rows)
        self.column = column
        self.values = values
        self.rows = rows

    def __str__(self) -> str:
        return (
            f"column {self.column!r} cannot be grouped by its numbers: {_values(self.values, self.rows)}, not numbers; "
            "list them in source.missing_words, or take the column out of recode.singletons.years"
        )


class StorageError(InvalidInputError):
    """
    A folder, a disk, a database or a portal that does not take, or does not give back, what it should.

    ``reason`` is the message of the operating system or the database. ``advice`` is what to do about this failure.
    """

    FOLDER_ADVICE = "Check that the folder exists, is writable by this user and has room, then run again"

    def __init__(self, path: str, doing: str, reason: str, advice: str = FOLDER_ADVICE) -> None:
        super().__init__(path, doing, reason, advice)
        self.path = path
        self.doing = doing
        self.reason = reason
        self.advice = advice

    def __str__(self) -> str:
        return f"{self.doing} failed at {self.path}: {self.reason}. {self.advice}"


class PortalError(StorageError):
    """A portal on the network that does not answer, or answers wrongly; running again repairs what was interrupted.

    ``reason`` is our own text, or what the portal says about our metadata; ``state`` says what readers see now, or what
    to check.
    """

    PORTAL_ADVICE = "Run again when the portal is well: what is done already is found, and nothing is done twice"

    def __init__(self, path: str, doing: str, reason: str, state: str = "") -> None:
        super().__init__(path, doing, reason, self.PORTAL_ADVICE)
        self.args = (path, doing, reason, state)
        self.state = state

    def __str__(self) -> str:
        state = f"; {self.state}" if self.state else ""
        return f"{self.doing} failed at {self.path}: {self.reason}{state}. {self.advice}"


class PolicyNotMetError(ComplianceError):
    """The search ended with the policy still broken."""

    def __init__(self, *, goal: str, reached: Any, rows_at_risk: int, rows: int, advice: str) -> None:
        super().__init__(goal, reached, rows_at_risk, rows, advice)
        self.goal = goal
        self.reached = reached
        self.rows_at_risk = rows_at_risk
        self.rows = rows
        self.advice = advice

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuild_policy_error, (
            self.goal,
            self.reached,
            self.rows_at_risk,
            self.rows,
            self.advice,
        )

    def __str__(self) -> str:
        return (
            f"{self.goal} not reached: best {self.reached}, "
            f"{self.rows_at_risk} of {self.rows} rows at risk; "
            f"{self.advice}"
        )


def _values(values: int, rows: int) -> str:
    return f"{counted(values, 'distinct value')}, {counted(rows, 'row')}"


def _rebuild_policy_error(goal: str, reached: Any, rows_at_risk: int, rows: int, advice: str) -> PolicyNotMetError:
    return PolicyNotMetError(goal=goal, reached=reached, rows_at_risk=rows_at_risk, rows=rows, advice=advice)


class RefusedError(ComplianceError):
    """The gate, the check of the receipt or the portal refuses: ``reasons`` lists every failed check."""

    def __init__(self, by: str, reasons: Sequence[str]) -> None:
        super().__init__(by, tuple(reasons))
        self.by = by
        self.reasons = tuple(reasons)

    def __str__(self) -> str:
        return f"refused by the {self.by}, nothing was published: " + "; ".join(self.reasons)
