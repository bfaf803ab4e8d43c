"""What rules mean: the path of every value and of every piece of the numbers, or what keeps them from meaning one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from anon_core.hierarchy.files.climbing import Climbing
from anon_core.hierarchy.files.cycles import cycles
from anon_core.hierarchy.files.faults import MOST_LEVELS
from anon_core.hierarchy.files.rules import Rule, Rules
from anon_core.hierarchy.ladder import ROOT
from anon_core.hierarchy.levels import Levels


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
    if depth > MOST_LEVELS:
        problems.append(f"has {depth:,} levels; at most {MOST_LEVELS} are meant by anybody")
        depth = 0
    climbing = Climbing(found.rules, whole=not found.problems)
    for level in range(1, depth + 1):
        problems += climbing.step(levels.get(level, ()), level, advise=not found.marked)
    if depth and all(path[-1] == ROOT for path in climbing.paths.values()):
        depth -= 1
    paths = {atom: path[:depth] for atom, path in climbing.paths.items()}
    return Levels(
        paths={atom: [label or "" for label in path] for atom, path in paths.items() if isinstance(atom, str)},
        names=[found.titles.get(level) or f"level {level} of {file_name}" for level in range(1, depth + 1)],
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
