"""The base of every recoding method: its key and settings, what it needs of a publication file, what it promises.

Reading a publication file loads the methods, so nothing heavy is imported here, nor where a method is declared.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, ClassVar

from anon_core.policy import KMeans, PartialPolicy
from anon_core.registry import METHODS
from anon_core.settings import Settings
from anon_core.spec.recode import Recode
from anon_core.spec.written import Found, Written, at

if TYPE_CHECKING:
    from anon_core.recoding.task import Recoding, Task

Progress = Callable[[str, int, int], None]
"""A function called with what is counted (such as `level combinations`), how many are done, and of how many at most."""
K = ("k_anonymity", "k_beside_original")
"""The models of the four k's."""
ALONE = "no_singletons"
ROWS = "rows"
"""The key of the requirement that some row is published; it has no model."""
FREEFORM = "no_freeform_breach"
SUPPRESSION = "rows_suppressed_at_most"
REMOVAL = "removal"
RISK = "max_risk"


class Promise(StrEnum):
    """Which of the four k's a method promises: that of the classes, link and source k, or source k alone."""

    EXACT = "exact"
    LINK = "link"
    SOURCE = "source"

    @classmethod
    def of_policy(cls, policy: PartialPolicy) -> Promise:
        return cls.LINK if policy.k_means is KMeans.LINK else cls.EXACT


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """One way in which `best` tries a method: its name, and the `recode` settings that it uses."""

    name: str
    settings: Mapping[str, object]
    run: Callable[..., Recoding]


class RecodingMethod(ABC):
    """
    One way to recode a table. It has no state: all that it uses is in the task.

    ``key`` is its name in `recode.method`. ``settings`` is the type of its own section, `recode.<key>`; None if it has
    none. ``needs_section``: that section is required. ``heeded`` are the keys of `recode` that may have an effect, and
    `k`. ``needs_quasi_identifiers``: a file must declare one. ``needs_priorities``: all quasi-identifiers have one, or
    none has. ``lets_sections_stand``: a file may have sections of other methods. ``guards``: it prevents freeform
    attacks, so its task has what is guarded even where a breach is waived. ``checks_plans``: it checks every plan
    against the policy before it returns one.
    """

    key: ClassVar[str]
    settings: ClassVar[type[Settings] | None] = None
    needs_section: ClassVar[bool] = False
    heeded: ClassVar[frozenset[str]] = frozenset({"k"})
    needs_quasi_identifiers: ClassVar[bool] = True
    needs_priorities: ClassVar[bool] = False
    lets_sections_stand: ClassVar[bool] = False
    guards: ClassVar[bool] = False
    checks_plans: ClassVar[bool] = False

    @abstractmethod
    def recode(self, task: Task, *, progress: Progress | None = None) -> Recoding:
        """
        Recode the quasi-identifiers; the caller counts anew whether the returned plan keeps what is promised.

        :raises PolicyNotMetError: the promise cannot be kept.
        :raises InvalidInputError: the task lacks something that the method needs.
        """

    @abstractmethod
    def promises(self, task: Task, model: str) -> bool:
        """Whether this method promises that its result keeps the privacy models of a key."""

    def promised_k(self, settings: Recode, policy: PartialPolicy) -> Promise:
        """Return which of the four k's is meant where this method promises k."""
        return Promise.EXACT

    def may_miss(self, model: str) -> bool:
        """Whether the method may break its promise because of the data; otherwise that is a bug of the search."""
        return False

    def heeds(self, settings: Recode) -> frozenset[str]:
        """Return the keys of `recode` that have an effect with these settings, and `k` if the method uses it."""
        return self.heeded

    def attempts(self, task: Task, before: Mapping[str, Recoding | None]) -> Iterator[Attempt]:
        """
        Yield the ways in which `best` may try this method; by default none.

        ``before`` has the results of earlier attempts by their names, None where they found nothing.
        """
        return iter(())

    def attempt(self, **settings: object) -> Attempt:
        """Return the attempt to run this method as the file says, with some other settings."""
        return Attempt(name=self.key, settings={"method": self.key, **settings}, run=self.recode)

    def problems(self, file: Written) -> Found:
        """Yield what a publication file with this method lacks, and which of its keys have no effect."""
        for key in file.sections:
            if key != self.key and not self.lets_sections_stand and METHODS.get(key).settings is not None:
                yield ("recode", key), f"belongs to `method: {key}`; set that method or remove it"
        if file.at("recode", "then") is not None and "then" not in self.heeded:
            yield ("recode", "then"), "belongs to `method: freeform`; set that method or remove it"
        quasi = file.quasi_identifiers
        if quasi is None:
            return
        if self.needs_quasi_identifiers and not quasi:
            what = f"`method: {self.key}` needs at least one column of role quasi; declare one or set `method: none`"
            yield ("recode", "method"), what + ("" if file.text("recode", "method") else " (global is the default)")
        lacking = [name for name in quasi if at(file.columns[name], ("priority",)) is None]
        if self.needs_priorities and len(lacking) < len(quasi):
            for name in lacking:  # It is not clear which priority these should have.
                what = "has no `priority`, and other quasi columns have one"
                yield ("columns", name), f"{what}: `method: {self.key}` needs one for all or none"

    def section_problems(self, file: Written) -> Found:
        """Yield what is wrong between the section of this method and the rest of a file of any method."""
        return iter(())


def of_every_class(task: Task, model: str) -> bool:
    """Whether a search for safe classes reaches a model: k, models with ``safe``, and the limit of suppression."""
    reached = (ROWS, *K, ALONE, RISK, SUPPRESSION, REMOVAL, *(one.key for one in task.requirements.others))
    return model in reached
