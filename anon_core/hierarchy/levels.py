"""What a hierarchy says before it meets a column: the path of every value it knows, and what its levels are called."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import PurePath

from anon_core.hierarchy.numbers import reading_of
from anon_core.hierarchy.ranges import Pieces

Paths = dict[str | None, Sequence[str]]


def default_names(file_name: str, depth: int) -> list[str]:
    """
    Return names for the levels of a file that gives them none: made from its own name.

    >>> default_names("municipalities.csv", 2)
    ['municipalities grouped, level 1 of 2', 'municipalities grouped, level 2 of 2']
    """
    about = PurePath(file_name).stem.replace("_", " ").replace("-", " ")
    return [f"{about} grouped, level {level} of {depth}" for level in range(1, depth + 1)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Levels:
    """
    The path of every known value, from level 1 to the one below the root, and what the levels are called.

    Rules may know numbers by intervals as well: ``pieces`` cuts the numbers at every end of an interval, and
    ``numbers`` has the path of every piece that an interval covers. There None stands for the value itself. ``staying``
    counts the labels of level 1, 2 ... for which rules have nothing on the next level: they stay as they are.
    """

    paths: Paths
    names: list[str]
    pieces: Pieces = field(default_factory=Pieces)
    numbers: dict[int, Sequence[str | None]] = field(default_factory=dict)
    staying: tuple[int, ...] = ()

    @property
    def saying_nothing(self) -> tuple[str, ...]:
        """
        The labels of the last levels, as long as a level has one for everything that is known: they say no more than
        the root above them.

        >>> Levels(paths={"Alba": ["North", "Italy"], "Elva": ["South", "Italy"]}, names=["1", "2"]).saying_nothing
        ('Italy',)
        """
        known = [*self.paths.values(), *self.numbers.values()]
        found: list[str] = []
        for level in reversed(range(len(self.names))):
            labels = {path[level] for path in known}
            label = labels.pop() if len(labels) == 1 else None
            if label is None:  # Several labels, or numbers that stay as they are.
                break
            found.append(label)
        return tuple(found)

    def covering(self, values: Sequence[str]) -> Paths:
        """
        Return the paths of all that is known, and of those of these values that are known as numbers only.

        A piece counts as a value that is known, whether the column has a number in it or not: so a label is kept apart
        from others, or not, in every month alike. Numbers are read as the whole column writes them.

        >>> Levels(paths={"F": ["person"]}, names=["level 1"]).covering(["F", "M"])
        {'F': ['person']}
        """
        if not self.numbers:
            return self.paths
        read = reading_of(values)
        paths = dict(self.paths)
        for piece, path in self.numbers.items():
            name = self.pieces.name(piece)
            paths[name] = [name if label is None else label for label in path]
        for value in values:
            number = read(value) if value not in self.paths else None
            known = None if number is None else self.numbers.get(self.pieces.holding(number))
            if known is not None:
                paths[value] = [value if label is None else label for label in known]
        return paths
