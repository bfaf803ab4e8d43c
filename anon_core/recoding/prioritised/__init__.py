"""Prioritised local recoding [Bampoulidis2019]_: the paper's method, and two that promise more."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from anon_core.policy import KMeans, PartialPolicy
from anon_core.recoding.method import ALONE, ROWS, SUPPRESSION, Attempt, K, Promise, RecodingMethod, of_every_class
from anon_core.spec.recode import Mode, Recode

if TYPE_CHECKING:
    from anon_core.recoding.method import Progress
    from anon_core.recoding.prioritised.search import Begun
    from anon_core.recoding.task import Recoding, Task

_PROMISES = {Mode.SAFE: Promise.EXACT, Mode.LINK: Promise.LINK, Mode.PAPER: Promise.SOURCE}


class PrioritisedRecoding(RecodingMethod):
    """
    Every distinct tuple gets levels of its own; cells of important columns change least.

    Mode ``safe`` promises that every class is safe, ``link`` and ``paper`` a k of their own and nothing else.
    """

    key: ClassVar[str] = "prioritised"
    heeded: ClassVar[frozenset[str]] = frozenset({"k", "mode", "improve", "seed", "nue_weight"})
    needs_priorities: ClassVar[bool] = True
    lets_sections_stand: ClassVar[bool] = True  # One file may serve several methods.

    def recode(self, task: Task, *, progress: Progress | None = None, begun: Begun | None = None) -> Recoding:
        from anon_core.recoding.prioritised.search import recode_prioritised

        return recode_prioritised(task, progress=progress, begun=begun)

    def promises(self, task: Task, model: str) -> bool:
        return of_every_class(task, model) if task.settings.mode is Mode.SAFE else model in (ROWS, *K, SUPPRESSION)

    def promised_k(self, settings: Recode, policy: PartialPolicy) -> Promise:
        return _PROMISES[settings.mode]

    def may_miss(self, model: str) -> bool:
        return model not in (*K, ALONE)  # The data may not allow the others; a k that is too small would be a bug.

    def heeds(self, settings: Recode) -> frozenset[str]:
        return self.heeded - {"improve", "seed"} if settings.mode is Mode.PAPER else self.heeded

    def attempts(self, task: Task, before: Mapping[str, Recoding | None]) -> Iterator[Attempt]:
        """Yield mode safe, and mode link if the policy means link k and requires nothing of sensitive columns."""
        from anon_core.recoding.prioritised.search import Begun

        begun = Begun(task, before)
        modes = {"prioritised": Mode.SAFE}
        if task.policy.k_means is KMeans.LINK and not task.requirements.required_beyond_k:  # That mode reaches k only.
            modes["prioritised (mode link)"] = Mode.LINK
        for name, mode in modes.items():
            yield replace(self.attempt(mode=mode), name=name, run=partial(self.recode, begun=begun))
