"""Recoding of singletons [Pastore2020]_: tries every combination of local and global generalisation."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Annotated, ClassVar

from pydantic import AfterValidator

from anon_core.files.yaml_lines import Location, as_text
from anon_core.recoding.method import ALONE, ROWS, Attempt, Progress, RecodingMethod
from anon_core.settings import Names, Settings, quoted
from anon_core.spec.parts import with_parts
from anon_core.spec.recode import Years
from anon_core.spec.written import Found, Written, at, text_at, unknown_column

if TYPE_CHECKING:
    from anon_core.recoding.task import Recoding, Task

MAX_COMBINED = 8
MAX_CHOSEN = 3
"""Without a section, `best` tries so many columns: 26 combinations."""


def _few(names: tuple[str, ...]) -> tuple[str, ...]:
    if len(names) > MAX_COMBINED:
        raise ValueError(
            f"has more than {MAX_COMBINED} columns: every combination of as it is, local and global is tried"
        )
    return names


class SingletonColumns(Settings):
    """The columns that recoding by singletons may generalise."""

    columns: Annotated[Names, AfterValidator(_few)] = ()
    years: Years | None = None

    @property
    def grouped(self) -> tuple[Years, ...]:
        """The columns that may be grouped by their own values."""
        return (self.years,) if self.years else ()


class SingletonRecoding(RecodingMethod):
    """Few rows are left alone in their class; k is not promised, because local recoding alone gives classes of two."""

    key: ClassVar[str] = "singletons"
    settings: ClassVar[type[Settings] | None] = SingletonColumns
    needs_section: ClassVar[bool] = True
    heeded: ClassVar[frozenset[str]] = frozenset()

    def recode(self, task: Task, *, progress: Progress | None = None) -> Recoding:
        from anon_core.recoding.singletons.search import recode_singletons

        return recode_singletons(task, progress=progress)

    def promises(self, task: Task, model: str) -> bool:
        return model in (ROWS, ALONE)

    def attempts(self, task: Task, before: Mapping[str, Recoding | None]) -> Iterator[Attempt]:
        """Yield one attempt: with the columns of the section, else with the least important ones with a hierarchy."""
        columns = task.settings.section(self.key) or SingletonColumns(columns=_least_important(task))
        if columns.columns or columns.years:
            yield self.attempt(singletons=columns)

    def problems(self, file: Written) -> Found:
        yield from super().problems(file)
        if not (file.entries("recode", self.key, "columns") or file.at("recode", self.key, "years")):
            yield ("recode", self.key), "`method: singletons` needs `singletons` with `columns`, `years` or both"

    def section_problems(self, file: Written) -> Found:
        columns = with_parts(file.columns)
        for location, written in self._named(file):
            name = as_text(written)
            if not isinstance(name, str):  # It is reported elsewhere.
                continue
            if (unknown := unknown_column(name, file.columns)) is not None:
                yield location, unknown
                continue
            quasi, own = text_at(columns[name], ("role",)) == "quasi", "columns" in location
            if not quasi or (own and at(columns[name], ("hierarchy",)) is None):
                yield location, f"column {quoted(name)} should have the role quasi{' and a hierarchy' if own else ''}"
            if not own and name in file.entries("recode", self.key, "columns"):
                yield location, f"column {quoted(name)} is grouped by its own values; take it out of `columns`"
        yield from self._grouping_problems(file)

    def _named(self, file: Written) -> Iterator[tuple[Location, object]]:
        for index, name in enumerate(file.entries("recode", self.key, "columns")):
            yield ("recode", self.key, "columns", index), name
        yield ("recode", self.key, "years", "column"), file.at("recode", self.key, "years", "column")

    def _grouping_problems(self, file: Written) -> Found:
        """Yield the reasons why a column cannot be grouped by its own values, where the file asks for that."""
        years: Location = ("recode", self.key, "years")
        if file.method not in (self.key, "best") or file.at(*years) is None:
            return
        if file.at("privacy", "freeform") is not None:
            what = "groups values by themselves, so `privacy.freeform` cannot place them in a hierarchy; use `columns`"
            yield years, what
        linked = file.text("privacy", "k_means") == "link"
        if not file.partial and linked and file.text(*years, "replace") == "mean":
            what = "a mean does not tell which values it stands for, and `privacy.k_means: link` compares with them"
            yield (*years, "replace"), f"{what}; use range"


def _least_important(task: Task) -> tuple[str, ...]:
    """Return the least important columns with a level below the root, in the order of the table."""
    names = task.frequencies.names
    climbing = [i for i, ladder in enumerate(task.ladders) if ladder.height > 1]
    chosen = sorted(climbing, key=lambda i: (task.weights[i], i))[:MAX_CHOSEN]
    return tuple(names[i] for i in sorted(chosen))
