"""The kinds of hierarchy that can be built from a column, as options: a caller gives exactly one."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast

import click

from anon_airflow.commands.output import names_in, several

if TYPE_CHECKING:
    from anon_core.hierarchy.files.writing import LevelFigures
    from anon_core.hierarchy.levels import Levels
    from anon_core.table import Column

F = TypeVar("F", bound=Callable[..., Any])

_KINDS = {
    "intervals": ("5,10,20", "Intervals of numbers by width; each a multiple of the one before."),
    "cuts": ("18,30,65", "Intervals between these cut points; repeat the option with fewer points for the next level."),
    "date": ("month,quarter,year", "Parts of dates: day, month, quarter, year, decade."),
    "prefix": ("4,3,2", "The first characters of a value: 4 of them, then 3, then 2."),
    "root": ("LABEL", "One label for all values, such as `any gender`; * to suppress them."),
    "frequency": ("10,100", "Values in fewer rows than this become `other`; one number for each level."),
    "groups": ("50,500", "Groups of neighbouring values with at least so many rows; their ends are published."),
    "rules": ("FILE", "A file of rules {a, b} => c, applied to the column's values."),
}


_SPLIT_THOUSANDS = re.compile(r"0[0-9]{2}")
"""The rest of a number such as 15,000 after a list is split at its commas."""
_PARTED = re.compile(r"0[0-9]{2}|[.,][0-9]{3}")


@dataclass(frozen=True, slots=True, kw_only=True)
class ChosenKind:
    """The chosen kind of hierarchy, and the texts given for it; ``order`` is the order of groups, if given."""

    name: str
    given: tuple[str, ...]
    order: tuple[str, ...] = ()

    @property
    def where(self) -> str:
        """The file of rules, if that is the kind."""
        return self.given[0] if self.name == "rules" else ""

    @property
    def files(self) -> tuple[Path, ...]:
        """The files that the hierarchy is made from, besides the table."""
        return (Path(self.where),) if self.where else ()

    def levels(self, column: Column) -> Levels:
        """
        Return the levels above the column's values.

        :raises InvalidInputError: the texts that were given do not make a hierarchy.
        """
        from anon_core.hierarchy.columns import rows_of, values_of
        from anon_core.hierarchy.files import read_levels
        from anon_core.hierarchy.kinds import frequency_groups, ordered_groups, prefixes, widths
        from anon_core.hierarchy.kinds.dates import by_date
        from anon_core.hierarchy.levels import Levels

        values = values_of(column)
        first = self.given[0]
        if self.name == "intervals":
            return widths.by_intervals(values, self._numbers(first))
        if self.name == "cuts":
            return widths.by_cuts(values, [self._numbers(each) for each in self.given])
        if self.name == "frequency":
            return frequency_groups.by_frequency(rows_of(column), self._whole(first))
        if self.name == "groups":
            return ordered_groups.in_order(rows_of(column), self._sizes(first, column), self.order)
        if self.name == "prefix":
            return prefixes.by_prefix(values, self._declared(self._whole(first)))
        if self.name == "date":
            return by_date(values, self._declared(names_in(first)))
        if self.name == "root":
            labels = [] if first == "*" else [first]
            return Levels(paths=dict.fromkeys(values, labels), names=labels)
        return read_levels(Path(first))

    def wanted(self, column: Column) -> str:
        """Return what is wrong with values that are not covered, as the end of a sentence that counts them."""
        from anon_core.hierarchy.columns import values_of
        from anon_core.hierarchy.kinds.dates import form_of
        from anon_core.hierarchy.kinds.ordered_groups import ordering_of
        from anon_core.hierarchy.numbers import may_be_thousands

        values = values_of(column)
        if self.name == "rules":
            return f"without a rule in {self.where}"
        if self.name == "date":
            return form_of(values).wanted
        wanted = ordering_of(values, self.order).wanted if self.name == "groups" else "not numbers such as 1957 or 3.5"
        unsure = may_be_thousands(values, ",") if wanted.startswith("not numbers") else 0
        return wanted + (" (a comma as in 15,000 can separate thousands or decimals: write 15000)" if unsure else "")

    def order_of(self, column: Column) -> str | None:
        """Return the order of the values: size, time, letters or given; None for kinds without an order."""
        from anon_core.hierarchy.columns import values_of
        from anon_core.hierarchy.kinds.ordered_groups import ordering_of

        return str(ordering_of(values_of(column), self.order).order) if self.name == "groups" else None

    def doubts(self, column: Column, figures: Sequence[LevelFigures]) -> list[str]:
        """Return warnings: levels with a single label, and points that may separate thousands."""
        from anon_core.hierarchy.columns import values_of
        from anon_core.hierarchy.numbers import may_be_thousands

        if self.name not in ("intervals", "cuts", "groups", "frequency"):
            return []
        doubts = [
            f"level {each.level} ({each.name}) has a single label for all values: is --{self.name} what you intended?"
            for each in figures[1:-1]
            if each.labels == 1 < figures[0].labels
        ]
        written = [each for text in self.given for each in names_in(text) if may_be_thousands([each], ".")]
        if self.name in ("intervals", "cuts") and written:
            doubts.append(
                f"--{self.name}: {', '.join(written)} was read as a decimal number; write thousands without a point"
            )
        numeric = self.name in ("intervals", "cuts") or self.order_of(column) == "size"
        if numeric and (unsure := may_be_thousands(values_of(column), ".")):
            doubts.append(
                f"{several(unsure, 'value')} of the column, written like 15.000, were read as decimal numbers: if the "
                "point separates thousands, remove it from the column first"
            )
        return doubts

    def _numbers(self, text: str) -> list[Decimal]:
        from anon_core.hierarchy.numbers import number_in

        numbers = [(each, number_in(each)) for each in names_in(text)]
        for each, number in numbers:
            if number is None or _SPLIT_THOUSANDS.fullmatch(each):
                many = "; write thousands without points and commas, such as 15000" if _PARTED.search(each) else ""
                raise self._wrong(f"{each!r} is not a number{many}")
        return [number for _, number in numbers if number is not None]

    def _sizes(self, text: str, column: Column) -> list[int]:
        """Return the sizes of groups; a size larger than the column is an error."""
        sizes, rows = self._whole(text), int((~column.gaps).sum())
        for size in sizes:
            if size > rows:
                raise self._wrong(f"{size} is more than the {several(rows, 'row')} with a value")
        return sizes

    def _whole(self, text: str) -> list[int]:
        for each in names_in(text):
            if not each.isascii() or not each.isdecimal() or len(each) > 18:
                raise self._wrong(f"{each!r} is not a whole number")
        return [int(each) for each in names_in(text)]

    def _declared(self, given: Sequence[Any]) -> list[Any]:
        """Return the values as a publication file would read them: the same rules apply."""
        from pydantic import ValidationError

        from anon_core.spec import Hierarchy

        try:
            declared = getattr(Hierarchy.model_validate({self.name: given}), self.name)
        except ValidationError as error:
            problems = dict.fromkeys(each["msg"].removeprefix("Value error, ") for each in error.errors())
            raise self._wrong("; ".join(problems)) from None
        return [getattr(each, "value", each) for each in declared]

    def _wrong(self, what: str) -> click.BadParameter:
        return click.BadParameter(what, param_hint=f"--{self.name}")


def kind_options(function: F) -> F:
    """Add one option for every kind; the command receives the given one as ``kind``."""

    @functools.wraps(function)
    def command(**given: Any) -> Any:
        chosen = {name: given.pop(f"kind_{name}") for name in _KINDS}
        order = tuple(names_in(given.pop("order")))
        kinds = [ChosenKind(name=name, given=texts, order=order) for name, texts in chosen.items() if texts]
        if len(kinds) != 1:
            raise click.UsageError(f"give exactly one of {', '.join(f'--{name}' for name in _KINDS)}")
        if len(kinds[0].given) > 1 and kinds[0].name != "cuts":
            raise click.UsageError(f"--{kinds[0].name} is given twice")
        if order and kinds[0].name != "groups":
            raise click.UsageError("--order can only be given with --groups")
        if not names_in(kinds[0].given[0]):
            raise click.BadParameter("is empty", param_hint=f"--{kinds[0].name}")
        return function(kind=kinds[0], **given)

    command = click.option(
        "--order", metavar="a,b,c", help="The order of values for --groups, if it is not alphabetical."
    )(command)
    for name, (example, text) in reversed(_KINDS.items()):
        command = click.option(f"--{name}", f"kind_{name}", multiple=True, metavar=example, help=text)(command)
    return cast("F", command)
