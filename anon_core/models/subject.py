"""What privacy models are given: a table to measure, or the classes that a recoding is about to make."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from anon_core.models.measurement import NotMeasurableError
from anon_core.wording import counted

if TYPE_CHECKING:
    from anon_core.comparison import Comparison
    from anon_core.frequency import FrequencyTable
    from anon_core.hierarchy.ladder import Ladder
    from anon_core.kernels import Integers
    from anon_core.measures.classes import SensitiveClasses
    from anon_core.measures.freeform import FreeformCheck
    from anon_core.measures.linkage.four_ks import FourK
    from anon_core.measures.removal import Kept
    from anon_core.measures.restored import Paired

Count = Callable[[tuple[str, ...]], "FrequencyTable"]
"""Counts a table over some of its columns."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pairing:
    """
    What each published row was before recoding.

    ``paired`` returns the values of a recoded column as collected, beside their labels and the other published columns;
    None for a column that is not recoded. ``kept`` returns what became of the original classes over some columns. It is
    None where these were not counted.
    """

    paired: Callable[[str], Paired | None]
    kept: Callable[[tuple[str, ...]], Kept] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """
    A table to measure; ``names`` are its columns, in its order.

    ``rows`` counts its rows over some columns, ``people`` the people behind them; None where these are not known.

    Of the original: ``original`` is the table as collected, ``original_people`` the same counted by people.
    ``comparison`` has original and table side by side over the quasi-identifiers, ``joint`` also over the columns
    declared other. ``paired`` says what each row was. Each is None where it is not known.

    What recoding knows better than the labels tell: ``freeform``, the ``ladders`` of sensitive columns, and
    ``rows_blanked``, how many rows say nothing any more.

    ``folder`` is the folder of hierarchy files. Columns ``besides`` are in the table for the check only: a key or a
    unit, which would not be published. Columns ``unpublished`` are declared in the publication file, and not published
    because of their role.
    """

    names: tuple[str, ...]
    rows: Count
    people: Count | None = None
    original: FrequencyTable | None = None
    original_people: FrequencyTable | None = None
    comparison: Comparison | None = None
    joint: Comparison | None = None
    folder: Path | None = None
    freeform: FreeformCheck | None = None
    ladders: Mapping[str, Ladder] = field(default_factory=dict)
    rows_blanked: int | None = None
    besides: tuple[str, ...] = ()
    paired: Pairing | None = None
    unpublished: tuple[str, ...] = ()
    _found: dict[int, FourK] = field(default_factory=dict, repr=False, compare=False)

    def four_k(self, k: int) -> FourK:
        """
        Return the four k's beside the original, measured once.

        :raises NotMeasurableError: the table was not compared with its original.
        """
        from anon_core.measures.linkage.four_ks import four_k

        if self.comparison is None:
            raise NotMeasurableError("it needs the original rows, which were not given")
        if k not in self._found:
            self._found[k] = four_k(self.comparison, k=k)
        return self._found[k]

    def rows_over(self, columns: tuple[str, ...]) -> FrequencyTable:
        """
        Return the rows counted over some columns.

        :raises NotMeasurableError: the table lacks a column, or has no rows, so that every requirement would hold.
        """
        return self._over(self.rows, columns)

    def people_over(self, columns: tuple[str, ...]) -> FrequencyTable:
        """
        Return the people counted over some columns; the rows where no column tells people apart.

        :raises NotMeasurableError: the table lacks a column, or has no rows, so that every requirement would hold.
        """
        return self._over(self.people or self.rows, columns)

    def known_people(self, columns: tuple[str, ...]) -> FrequencyTable:
        """
        Return the people counted over some columns.

        :raises NotMeasurableError: no column tells people apart; see also :meth:`people_over`.
        """
        if self.people is None:
            raise NotMeasurableError("it counts people, and no column says whose the rows are")
        return self._over(self.people, columns)

    def _over(self, count: Count, columns: tuple[str, ...]) -> FrequencyTable:
        if absent := [name for name in columns if name not in self.names]:
            raise NotMeasurableError(f"the table has no column {', '.join(absent)}")
        found = count(columns)
        if not len(found.weights):
            raise NotMeasurableError("the table has no rows, so every requirement would hold")
        return found

    def in_words(self, number: int, one: str = "", several: str = "") -> str:
        """
        Return a number of people, or of rows where rows are counted, in words, followed by a verb in the right number.

        >>> Subject(names=(), rows=lambda _: None).in_words(1, "lies", "lie")
        '1 row lies'
        """
        noun = counted(number, "row" if self.people is None else "person")
        verb = one if number == 1 else several
        return f"{noun} {verb}" if verb else noun


@dataclass(frozen=True, slots=True, kw_only=True)
class Classes:
    """
    Some classes: how many people each has, and how often each value of a sensitive column occurs in it.

    ``sizes`` counts people, or rows where every row is another person. Where people have several rows, ``largest`` is
    how many rows the person with most of them has in each class, out of ``known_rows``, the rows whose person is known.
    ``ladders`` are those of sensitive columns whose hierarchy a model needs. Class ``group[i]`` has the tuple
    ``tuples[i]`` of ``frequencies``, the table as collected. ``folder`` is the folder of the files that a publication
    names.
    """

    sizes: Integers
    frequencies: FrequencyTable
    tuples: Integers
    group: Integers
    sensitive: SensitiveClasses | None = None
    ladders: Mapping[str, Ladder] = field(default_factory=dict)
    folder: Path | None = None
    largest: Integers | None = None
    known_rows: Integers | None = None

    def total(self, counts: Integers) -> Integers:
        """Return for each class the sum of ``counts``, which has one number for every tuple of ``frequencies``."""
        from anon_core import kernels

        return kernels.weigh(self.group, len(self.sizes), counts[self.tuples])
