"""Global recoding: one level per column for the whole table [LeFevre2005]_."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, ClassVar

from anon_core.recoding.method import Attempt, Progress, RecodingMethod, of_every_class

if TYPE_CHECKING:
    from anon_core.recoding.task import Recoding, Task


class GlobalRecoding(RecodingMethod):
    """One level per column for the whole table; rows of classes that are still unsafe are removed."""

    key: ClassVar[str] = "global"
    heeded: ClassVar[frozenset[str]] = frozenset({"k", "utility"})

    def recode(self, task: Task, *, progress: Progress | None = None) -> Recoding:
        from anon_core.recoding.lattice.search import recode_globally

        return recode_globally(task, progress=progress)

    def promises(self, task: Task, model: str) -> bool:
        return of_every_class(task, model)

    def attempts(self, task: Task, before: Mapping[str, Recoding | None]) -> Iterator[Attempt]:
        yield self.attempt()
