"""The best of all methods: runs each method that applies, and keeps the cheapest result that keeps the policy."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from anon_core.policy import PartialPolicy
from anon_core.recoding.method import FREEFORM, Progress, Promise, RecodingMethod, of_every_class
from anon_core.spec.recode import Recode

if TYPE_CHECKING:
    from anon_core.recoding.task import Recoding, Task


class BestRecoding(RecodingMethod):
    """The cheapest result of the other methods that keeps everything that the policy requires of classes."""

    key: ClassVar[str] = "best"
    heeded: ClassVar[frozenset[str]] = frozenset({"k", "improve", "seed", "nue_weight", "utility"})
    needs_priorities: ClassVar[bool] = True
    lets_sections_stand: ClassVar[bool] = True
    checks_plans: ClassVar[bool] = True

    def recode(self, task: Task, *, progress: Progress | None = None) -> Recoding:
        from anon_core.recoding.best.election import recode_best

        return recode_best(task, progress=progress)

    def promises(self, task: Task, model: str) -> bool:
        return model == FREEFORM or of_every_class(task, model)

    def promised_k(self, settings: Recode, policy: PartialPolicy) -> Promise:
        return Promise.of_policy(policy)
