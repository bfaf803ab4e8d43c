"""What a privacy model measures: a table that can be counted, or classes that a recoding may make."""

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
    What each published row was, where that is known.

    ``paired`` gives the originals of a recoded column beside their labels and the other published columns, None for a
    column that is not recoded. ``kept`` tells what became of the original classes over some columns; None where nobody
    counted that.
    """

    paired: Callable[[str], Paired | None]
    kept: Callable[[tuple[str, ...]], Kept] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """
    A table to be measured; ``names`` are its columns, in its order.

    ``rows`` counts its rows over some columns, ``people`` the people behind them where they are known. ``original`` is
    the table as collected, ``comparison`` both side by side where they were compared already, ``joint`` that with the
    columns declared other beside the quasi-identifiers. ``folder`` is where
    hierarchy files lie. ``freeform``, the ``ladders`` of sensitive columns and ``rows_blanked``, the rows that say
    nothing any more, are there where more is known than the labels tell. Columns ``besides`` are there for the check
    only: a key or a unit that would not be published. ``paired`` is there where it is known which original became which
    row. Columns ``unpublished`` are those that a publication file declares and keeps from publication by their role.
    ``original_people`` counts the people of ``original``.
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

        :raises NotMeasurableError: nobody compared the table with its original.
        """
        from anon_core.measures.linkage.four_ks import four_k

        if self.comparison is None:
            raise NotMeasurableError("it is about the original rows too, and nobody gave them")
        if k not in self._found:
            self._found[k] = four_k(self.comparison, k=k)
        return self._found[k]

    def rows_over(self, columns: tuple[str, ...]) -> FrequencyTable:
        """
        Return the rows counted over some columns.

        :raises NotMeasurableError: a column is not there, or there are no rows, so that anything would hold.
        """
        return self._over(self.rows, columns)

    def people_over(self, columns: tuple[str, ...]) -> FrequencyTable:
        """
        Return the people counted over some columns; the rows where nothing tells people apart.

        :raises NotMeasurableError: a column is not there, or there are no rows, so that anything would hold.
        """
        return self._over(self.people or self.rows, columns)

    def known_people(self, columns: tuple[str, ...]) -> FrequencyTable:
        """
        Return the people counted over some columns.

        :raises NotMeasurableError: nothing tells people apart; see also :meth:`people_over`.
        """
        if self.people is None:
            raise NotMeasurableError("it is about people, and nothing here says whose the rows are")
        return self._over(self.people, columns)

    def _over(self, count: Count, columns: tuple[str, ...]) -> FrequencyTable:
        if absent := [name for name in columns if name not in self.names]:
            raise NotMeasurableError(f"{', '.join(absent)} {'is' if len(absent) == 1 else 'are'} not there")
        found = count(columns)
        if not len(found.weights):
            raise NotMeasurableError("the table has no rows, so anything would hold")
        return found

    def in_words(self, number: int, one: str = "", several: str = "") -> str:
        """
        Return a number of people, or of rows where these are counted, in words, and the verb that goes with it.

        >>> Subject(names=(), rows=lambda _: None).in_words(1, "lies", "lie")
        '1 row lies'
        """
        noun = counted(number, "row" if self.people is None else "person")
        verb = one if number == 1 else several
        return f"{noun} {verb}" if verb else noun


@dataclass(frozen=True, slots=True, kw_only=True)
class Classes:
    """
    Some classes: the people of each, and how often each value of a sensitive column occurs in it.

    ``sizes`` are rows where every row is another person. Where people have several rows, ``largest`` is the most rows
    that one person has in each class, of ``known_rows``, those of which it is known whose they are. ``ladders`` are
    those of sensitive columns whose hierarchy is needed. Class ``group[i]`` has the tuple ``tuples[i]`` of
    ``frequencies``, the table as collected. ``folder`` is where files that a publication names lie.
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
        """Return the sum over each class of what is counted of every tuple."""
        from anon_core import kernels

        return kernels.weigh(self.group, len(self.sizes), counts[self.tuples])
