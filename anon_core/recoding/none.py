"""No recoding: the table as it was collected."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from anon_core.recoding.method import Progress, RecodingMethod

if TYPE_CHECKING:
    from anon_core.recoding.task import Recoding, Task


class NoRecoding(RecodingMethod):
    """The table as it was collected: nothing is promised, and the gate decides."""

    key: ClassVar[str] = "none"
    heeded: ClassVar[frozenset[str]] = frozenset()
    needs_quasi_identifiers: ClassVar[bool] = False

    def recode(self, task: Task, *, progress: Progress | None = None) -> Recoding:
        from anon_core.recoding.task import Recoding

        return Recoding.unchanged(task, "The publication file has no recoding")

    def promises(self, task: Task, model: str) -> bool:
        return False
