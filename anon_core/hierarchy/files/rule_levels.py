"""What rules mean: the path of every value and of every piece of the numbers, or what keeps them from meaning one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from anon_core.hierarchy.files.faults import MAX_LEVELS, cycles
from anon_core.hierarchy.files.rules import Item, Rule, Rules
from anon_core.hierarchy.ladder import ROOT
from anon_core.hierarchy.levels import Levels, default_names
from anon_core.hierarchy.numbers import number_in
from anon_core.hierarchy.ranges import Pieces, Range

Atom = str | int
"""A value as collected, or a piece of the numbers."""


def levels_of_rules(found: Rules, problems: list[str], file_name: str) -> Levels:
    """
    Work out every path; what is wrong is added to the problems, and the paths are of no use then.

    Within a level the left side names values as collected, as in the authors' program, or labels of the level below,
    which stand for all their values. What has no rule on a level keeps its label from below. Without a line that begins
    a level, a rule that names labels of earlier rules is one level above them. Above level 1 a rule names only what is
    known below, or only what is not: a name that is unknown among known ones is misspelt.
    """
    circles = list(cycles(_edges(found.rules)))
    problems += circles
    if not found.marked and not circles:
        problems += _made_later(found.rules)
    levels = _by_level(found.rules if found.marked else _inferred(found.rules))
    depth = max(levels, default=0)
    if depth > MAX_LEVELS:
        problems.append(f"has {depth:,} levels; at most {MAX_LEVELS} are allowed")
        depth = 0
    climbing = Climbing(found.rules, whole=not found.problems)
    for level in range(1, depth + 1):
        problems += climbing.step(levels.get(level, ()), level, advise=not found.marked)
    if depth and all(path[-1] == ROOT for path in climbing.paths.values()):
        depth -= 1
    paths = {atom: path[:depth] for atom, path in climbing.paths.items()}
    return Levels(
        paths={atom: [label or "" for label in path] for atom, path in paths.items() if isinstance(atom, str)},
        names=[found.titles.get(level, name) for level, name in enumerate(default_names(file_name, depth), 1)],
        pieces=climbing.pieces,
        numbers={atom: path for atom, path in paths.items() if isinstance(atom, int)},
        staying=tuple(climbing.staying[: max(depth - 1, 0)]),
    )


def _edges(rules: Iterable[Rule]) -> dict[tuple[str, str], int]:
    edges: dict[tuple[str, str], int] = {}
    for rule in rules:
        for item in rule.items:
            if isinstance(item, str):
                edges.setdefault((item, rule.label), rule.line)
    return edges


def _made_later(rules: Sequence[Rule]) -> Iterator[str]:
    """Describe the rules that name what only a later one makes: was the value meant, or the label?"""
    first = {rule.label: rule.line for rule in reversed(rules)}
    for rule in rules:
        later = [line for item in rule.items if isinstance(item, str) and (line := first.get(item, 0)) > rule.line]
        if later:
            yield (
                f"line {rule.line} names a label that line {min(later)} makes only later: write finer rules first, or "
                "begin every level with a line such as `level 1`"
            )


def _inferred(rules: Iterable[Rule]) -> Iterator[Rule]:
    """Return the rules, each one level above those whose labels it names."""
    made: dict[str, int] = {}
    for rule in rules:
        level = 1 + max((made.get(item, 0) for item in rule.items if isinstance(item, str)), default=0)
        made[rule.label] = max(level, made.get(rule.label, 0))
        yield replace(rule, level=level)


def _by_level(rules: Iterable[Rule]) -> dict[int, list[Rule]]:
    levels: dict[int, list[Rule]] = {}
    for rule in rules:
        levels.setdefault(rule.level, []).append(rule)
    return levels


@dataclass(frozen=True, slots=True, kw_only=True)
class _Taken:
    """What an atom becomes on a level, by which line, and whether that line names the atom itself."""

    label: str
    line: int
    named: bool


class Climbing:
    """
    The labels of every atom so far, level by level, in ``paths``; None where a piece of the numbers keeps its values.

    A number that some rule names is an atom of its own, and covered by intervals all the same. ``staying`` counts, for
    every level below the last, the labels that no rule of the next one takes: they stay as they are.
    """

    def __init__(self, rules: Sequence[Rule], *, whole: bool = True) -> None:
        """With ``whole``, every line was a rule: what no rule makes is misspelt then, and not on a line left out."""
        ranges = [item for rule in rules for item in rule.items if isinstance(item, Range)]
        labels = {rule.label for rule in rules}
        self.pieces = Pieces.at(end for each in ranges for end in (each.low, each.high) if end is not None)
        self.paths: dict[Atom, list[str | None]] = {}
        self._numbers: dict[int, list[Atom]] = {}
        self._standing: dict[str, list[Atom]] = {}
        self._made: set[str] = set()
        self._named: set[str] = set()
        self.staying: list[int] = []
        self._broken = False
        self._whole = whole
        for item in (item for rule in rules for item in rule.items if ranges):
            if isinstance(item, str) and item not in labels and item not in self.paths:
                number = number_in(item)
                if number is not None:
                    self.paths[item] = []
                    self._numbers.setdefault(self.pieces.holding(number), []).append(item)

    def step(self, rules: Sequence[Rule], level: int, *, advise: bool) -> list[str]:
        """Go up one level; return what is wrong with its rules. With ``advise``, no line of the file begins a level."""
        problems: dict[str, None] = {}
        overlapping = self._overlapping(rules)
        advice = f"; if it is meant for the next level, write `level {level + 1}` above it" if advise else ""
        problems.update(
            (f"lines {one} and {other} have intervals that overlap at level {level}{advice}", None)
            for other, one in sorted(overlapping.items())
        )
        problems.update((problem, None) for problem in self._made_by_none(rules, level))
        taken: dict[Atom, _Taken] = {}
        for rule in rules:
            for item in rule.items:
                if isinstance(item, Range) and rule.line in overlapping:
                    continue
                atoms = self._meant(item, rule, level, problems)
                by = _Taken(label=rule.label, line=rule.line, named=atoms == [item])
                clash = _take(taken, atoms, by)
                if clash:
                    problems[
                        f"line {rule.line} names a value that line {clash} names too, at level {level}{advice}"
                    ] = None
        for atom, path in self.paths.items():
            path.append(taken[atom].label if atom in taken else path[-1] if path else _itself(atom))
        self._broken |= bool(problems)
        if not self._broken:  # What a faulty rule leaves out would look like other faults.
            problems.update((problem, None) for problem in self._two_parents(taken, level))
        if level > 1:
            self.staying.append(self._untaken(taken))
        self._made.update(rule.label for rule in rules)
        self._named.update(item for rule in rules for item in rule.items if isinstance(item, str))
        self._standing = {}
        for atom, path in self.paths.items():
            if path[-1] is not None:
                self._standing.setdefault(path[-1], []).append(atom)
        return list(problems)

    def _overlapping(self, rules: Sequence[Rule]) -> dict[int, int]:
        """Return the lines whose intervals overlap with those of a line before them in the order of the numbers."""
        spans = sorted(
            (span.start, span.stop, rule.line)
            for rule in rules
            for item in rule.items
            if isinstance(item, Range) and (span := self.pieces.within(item))
        )
        found: dict[int, int] = {}
        reached, by = 0, 0
        for start, stop, line in spans:
            if start < reached and line != by:
                found.setdefault(max(line, by), min(line, by))
            if stop > reached:
                reached, by = stop, line
        return found

    def _meant(self, item: Item, rule: Rule, level: int, problems: dict[str, None]) -> list[Atom]:
        """Return the values and pieces that something on the left side stands for."""
        if isinstance(item, Range):
            for piece in self.pieces.within(item):
                self.paths.setdefault(piece, [None] * (level - 1))
            return [atom for piece in self.pieces.within(item) for atom in (piece, *self._numbers.get(piece, ()))]
        path = self.paths.get(item)
        if item in self._standing:
            if path and path[-1] != item:
                problems[
                    f"line {rule.line} names what is a value and also a label of level {level - 1} that does not hold "
                    "it; list the values of the label instead"
                ] = None
            return self._standing[item]
        if item in self._made and path is None:
            problems[
                f"line {rule.line} names a label that other rules have put under another one below level {level}: it "
                "would have two parents"
            ] = None
            return []
        self.paths.setdefault(item, [item] * (level - 1))
        return [item]

    def _made_by_none(self, rules: Sequence[Rule], level: int) -> Iterator[str]:
        """
        Describe the rules above level 1 of which some names are known below and others are not: these are misspelt.

        A rule of which nothing is known below is one for values that have no rule there.
        """
        for rule in rules if level > 1 and self._whole else ():
            known = [self._is_known(item) for item in rule.items]
            unknown = (item for item, is_known in zip(rule.items, known, strict=True) if not is_known)
            if any(known) and any(isinstance(item, str) for item in unknown):
                yield (
                    f"line {rule.line} names something that level {level - 1} does not make, nor does a rule below "
                    "name it as a value: is it misspelt? A value that is to stay as it is until here needs a rule on "
                    "level 1, such as {a} => a"
                )

    def _is_known(self, item: Item) -> bool:
        """Whether a rule on a level below makes or names something, or covers some of it by an interval."""
        if isinstance(item, Range):
            return any(piece in self.paths for piece in self.pieces.within(item))
        if item in self._made or item in self._named:
            return True
        number = number_in(item)
        return number is not None and self.pieces.holding(number) in self.paths

    def _untaken(self, taken: dict[Atom, _Taken]) -> int:
        """Count the labels below of which no rule of a level takes anything."""
        known = (label for label in self._standing if self._is_known(label))
        return sum(not any(atom in taken for atom in self._standing[label]) for label in known)

    def _two_parents(self, taken: dict[Atom, _Taken], level: int) -> Iterator[str]:
        for atoms in self._standing.values():
            if len({self.paths[atom][-1] for atom in atoms}) > 1:
                lines = sorted({taken[atom].line for atom in atoms if atom in taken})
                given = f"line{'s' * (len(lines) > 1)} {' and '.join(map(str, lines))}"
                if all(atom in taken for atom in atoms):
                    yield f"{given} give one label of level {level - 1} two parents at level {level}"
                else:
                    yield (
                        f"{given}: a label of level {level - 1} would have two parents at level {level}, for only some "
                        "of its values are named"
                    )


def _take(taken: dict[Atom, _Taken], atoms: Sequence[Atom], by: _Taken) -> int:
    """Put atoms under a label; return the line that one of them is under already, else 0."""
    for atom in atoms:
        before = taken.setdefault(atom, by)
        if before.line != by.line and (before.label != by.label or (before.named and by.named)):
            return before.line
        taken[atom] = by if by.named else before
    return 0


def _itself(atom: Atom) -> str | None:
    return atom if isinstance(atom, str) else None
