"""The paper's Listing 1 with its authors' rules, one rule and one row at a time: slow, and easy to compare with it."""

from __future__ import annotations

from collections import Counter
from itertools import combinations
from math import prod

from anon_core.recoding.task import Task

Levels = list[list[int]]


def recode_by_the_listing(task: Task) -> Levels:
    """Return the level of every cell of every tuple."""
    run = _Listing(task)
    joining = sorted(range(len(task.ladders)), key=lambda i: task.weights[i])
    for number in range(1, len(joining) + 1):
        run.generalise(joining[:number])
        run.suppress(joining[:number])
    for own in run.unsafe:
        run.levels[own] = [ladder.height for ladder in task.ladders]
    return run.levels


class _Listing:
    def __init__(self, task: Task) -> None:
        self.task, self.k = task, task.k
        self.tuples = list(zip(*(codes.tolist() for codes in task.frequencies.codes), strict=True))
        self.rows = task.frequencies.weights.tolist()
        self.levels: Levels = [[0] * len(task.ladders) for _ in self.tuples]
        bottom = self.sizes(range(len(self.tuples)), {})
        self.unsafe = [own for own in range(len(self.tuples)) if bottom[self.shown(own, {})] < self.k]

    def shown(self, own: int, at: dict[int, int]) -> tuple[int, ...]:
        """What a tuple looks like with some columns at levels of their own."""
        maps = [ladder.maps for ladder in self.task.ladders]
        return tuple(int(maps[i][at.get(i, 0), code]) for i, code in enumerate(self.tuples[own]))

    def sizes(self, tuples: object, at: dict[int, int]) -> Counter[tuple[int, ...]]:
        counts: Counter[tuple[int, ...]] = Counter()
        for own in tuples:  # type: ignore[attr-defined]
            counts[self.shown(own, at)] += self.rows[own]
        return counts

    def generalise(self, joined: list[int]) -> None:
        heights = [ladder.height for ladder in self.task.ladders]
        for level in range(1, max(heights)):
            able = [i for i in joined if level < heights[i]]
            for size in range(1, len(able) + 1):
                while self._take_largest(list(combinations(able, size)), level):
                    pass

    def _take_largest(self, sets: list[tuple[int, ...]], level: int) -> bool:
        """Freeze the largest group of all sets, the first of equal ones; False where none has k rows."""
        best: tuple[int, int, tuple[int, ...]] | None = None
        for number, own in enumerate(sets):
            counts = self.sizes(self.unsafe, dict.fromkeys(own, level))
            for key, rows in sorted(counts.items(), key=lambda item: self._order(item[0])):
                if rows >= self.k and (best is None or rows > best[0]):
                    best = (rows, number, key)
        if best is None:
            return False
        _, number, key = best
        at = dict.fromkeys(sets[number], level)
        for own in [own for own in self.unsafe if self.shown(own, at) == key]:
            for column in sets[number]:
                self.levels[own][column] = level
            self.unsafe.remove(own)
        return True

    @staticmethod
    def _order(key: tuple[int, ...]) -> tuple[int, ...]:
        """Groups are ordered by their packed labels, the last column being the most significant."""
        return key[::-1]

    def suppress(self, joined: list[int]) -> None:
        values = [ladder.maps.shape[1] for ladder in self.task.ladders]
        heights = [ladder.height for ladder in self.task.ladders]
        for size in range(1, len(joined) + 1):
            for own in list(self.unsafe):
                for chosen in combinations(joined, size):
                    if joined[-1] in chosen and self._hides(own, chosen, prod(values[i] for i in chosen)):
                        for column in chosen:
                            self.levels[own][column] = heights[column]
                        self.unsafe.remove(own)
                        break

    def _hides(self, own: int, chosen: tuple[int, ...], combined: int) -> bool:
        """Whether a row, some of its cells suppressed, is hidden among the originals that it covers."""
        kept = [i for i in range(len(self.task.ladders)) if i not in chosen]
        mine = self.shown(own, {})
        matching = [
            other for other in range(len(self.tuples)) if all(self.shown(other, {})[i] == mine[i] for i in kept)
        ]
        rows = sum(self.rows[other] for other in matching)
        others = len(matching) - (self.rows[own] == 1)
        return rows >= self.k and combined > self.k and (rows - 1 < combined - self.k or combined - others >= self.k)
