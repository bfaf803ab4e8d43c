"""Recoding for freeform anonymity [Wang2009]_: the least generalised table without a breach."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, ClassVar

from anon_core.recoding.method import FREEFORM, ROWS, Attempt, Progress, RecodingMethod, of_every_class
from anon_core.spec.recode import Mode, Recode
from anon_core.spec.written import Found, Written

if TYPE_CHECKING:
    from anon_core.recoding.task import Recoding, Task


class FreeformRecoding(RecodingMethod):
    """Values are generalised until no freeform attack is a breach; with ``then`` the classes reach k as well."""

    key: ClassVar[str] = "freeform"
    heeded: ClassVar[frozenset[str]] = frozenset({"k", "then", "improve", "seed", "nue_weight"})
    needs_quasi_identifiers: ClassVar[bool] = False
    needs_priorities: ClassVar[bool] = True
    guards: ClassVar[bool] = True

    def recode(self, task: Task, *, progress: Progress | None = None) -> Recoding:
        from anon_core.recoding.freeform.search import recode_freeform

        return recode_freeform(task, progress=progress)

    def promises(self, task: Task, model: str) -> bool:
        return model in (ROWS, FREEFORM) or (task.settings.then is not None and of_every_class(task, model))

    def heeds(self, settings: Recode) -> frozenset[str]:
        return self.heeded if settings.then else frozenset({"then"})

    def attempts(self, task: Task, before: Mapping[str, Recoding | None]) -> Iterator[Attempt]:
        if task.freeform and not task.requirements.required_beyond_k:
            yield self.attempt(then="prioritised", mode=Mode.SAFE)

    def problems(self, file: Written) -> Found:
        yield from super().problems(file)
        if file.at("privacy", "freeform") is None:
            yield ("recode", "method"), "`method: freeform` needs `privacy.freeform`, which says what is guarded"
        if file.at("recode", "then") is not None and file.quasi_identifiers == []:
            yield ("recode", "then"), "needs at least one column of role quasi: without one there is no k to reach"
