"""A recoding method of another package: plain Mondrian [LeFevre2006]_, strict, by the hierarchies of the columns.

LeFevre, DeWitt, Ramakrishnan: Mondrian multidimensional k-anonymity, 2006. The table is cut in two or more again and
again, in the column that varies most, as long as every part is safe.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

from pydantic import Field

from anon_core.recoding.method import SUPPRESSION, Attempt, Progress, RecodingMethod, of_every_class
from anon_core.settings import Settings, Whole
from anon_core.spec.written import Found, Written

if TYPE_CHECKING:
    from anon_core.hierarchy.ladder import Ladder
    from anon_core.kernels import Integers
    from anon_core.recoding.task import Recoding, Task


class MondrianSettings(Settings):
    """Where a class is cut: between the labels one level down, or at the median of the values in their order."""

    cuts: Literal["levels", "median"] = "levels"
    depth: Annotated[Whole, Field(ge=0)] | None = None


class Mondrian(RecodingMethod):
    """Classes are cut as long as every part is safe; no row is removed."""

    key: ClassVar[str] = "mondrian"
    settings: ClassVar[type[Settings] | None] = MondrianSettings

    def recode(self, task: Task, *, progress: Progress | None = None) -> Recoding:
        import numpy as np

        from anon_core.errors import PolicyNotMetError
        from anon_core.plan import RecodingPlan
        from anon_core.recoding.task import Candidate, Recoding

        tuples = np.arange(len(task.frequencies.weights))
        if not task.requirements.safe(tuples, 0 * tuples, 1).all():
            rows = task.frequencies.rows
            raise PolicyNotMetError(
                goal=f"k {task.k}", reached="none", rows_at_risk=rows, rows=rows, advice="ask for less diversity"
            )
        levels = np.zeros((len(task.ladders), len(tuples)), np.int8)
        classes = list(_classes(task, tuples, task.settings.section(self.key) or MondrianSettings()))
        for own in classes:
            for i, ladder in enumerate(task.ladders):
                levels[i, own] = _common_level(ladder, task.frequencies.codes[i][own])
        plan = RecodingPlan(
            frequencies=task.frequencies, ladders=task.ladders, levels=levels, removed=np.zeros(len(tuples), np.bool_)
        )
        candidate = Candidate.of(plan, method=self.key, name="strict", weights=task.by_name, elected=True)
        why = f"The table was cut into {len(classes)} classes"
        return Recoding(method=self.key, plan=plan, why=why, candidates=(candidate,), optimal=None)

    def promises(self, task: Task, model: str) -> bool:
        return of_every_class(task, model)

    def may_miss(self, model: str) -> bool:
        return model == SUPPRESSION  # Rows that are left with the root everywhere: there was nothing to cut.

    def attempts(self, task: Task, before: Mapping[str, Recoding | None]) -> Iterator[Attempt]:
        yield self.attempt()

    def section_problems(self, file: Written) -> Found:
        if file.at("recode", self.key, "cuts") == "median" and file.at("recode", self.key, "depth") is None:
            yield ("recode", self.key, "depth"), "cuts at the median go on for long; say how deep"


def _classes(task: Task, tuples: Integers, settings: MondrianSettings) -> Iterator[Integers]:
    """Yield the classes, each by its tuples."""
    waiting = [(tuples, 0)]
    while waiting:
        own, depth = waiting.pop()
        parts = [] if depth == settings.depth else _cut(task, own, settings)
        if parts:
            waiting += [(part, depth + 1) for part in parts]
        else:
            yield own


def _cut(task: Task, own: Integers, settings: MondrianSettings) -> list[Integers]:
    """Return the parts of a class, by the first column in which all of them are safe; none where there is no such."""
    import numpy as np

    codes = [codes[own].astype(np.int64) for codes in task.frequencies.codes]
    spread = [len(np.unique(one)) / ladder.maps.shape[1] for one, ladder in zip(codes, task.ladders, strict=True)]
    for i in sorted(range(len(codes)), key=lambda i: (-spread[i] * task.weights[i], i)):
        ladder, level = task.ladders[i], _common_level(task.ladders[i], codes[i])
        if not level or len(np.unique(codes[i])) == 1:
            continue
        ordered = np.sort(codes[i])
        halves = codes[i] > ordered[(len(ordered) - 1) // 2]
        sides = halves if settings.cuts == "median" else ladder.maps[level - 1, codes[i]]
        labels, part = np.unique(sides, return_inverse=True)
        if len(labels) > 1 and task.requirements.safe(own, part.astype(np.int64), len(labels)).all():
            return [own[part == at] for at in range(len(labels))]
    return []


def _common_level(ladder: Ladder, codes: Integers) -> int:
    """Return the lowest level at which values have one label."""
    return next(level for level, labels in enumerate(ladder.maps) if len({*labels[codes].tolist()}) == 1)
