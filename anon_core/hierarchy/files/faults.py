"""Everything that keeps lines from being a hierarchy, by line number; a label is never quoted."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from anon_core.hierarchy.files.cells import Row
from anon_core.hierarchy.ladder import ROOT
from anon_core.wording import counted

MAX_LEVELS = 100
_MAX_LISTED = 20
_AT_FAULT = re.compile(r"lines? (?:[0-9]+ and )?([0-9]+)")
_NUMBERS = re.compile(r"[0-9]+(?:(?:, ?| and )[0-9]+)*")
_FEW_LINES = 10
_MIN_SHARE_OF_A_TABLE = 0.8
_MAX_LINES_LISTED = 20


def faults_of(rows: Sequence[Row], depth: int) -> list[str]:
    """
    Return everything wrong with the rows of a hierarchy that should all have ``depth`` levels.

    A row with another number of levels is judged by its value and its empty labels only: which level it lacks, or has
    too many, cannot be problems_to_list.
    """
    whole = [row for row in rows if len(row.cells) == depth]
    return [
        *_ragged(rows, depth),
        *_too_deep(depth),
        *_repeated(rows),
        *_empty(rows),
        *_two_parents(whole, depth),
        *_cycles(whole, depth),
    ]


def problems_to_list(problems: Sequence[str]) -> list[str]:
    """
    Return the problems to list in an error, which may end in a log: if there are many, some of them and their number.

    The first of every kind is listed, so that thousands of one kind do not hide another; then the first of all.

    >>> repeated = [f"line {n} repeats the value of line 1" for n in range(2, 99)]
    >>> problems_to_list([*repeated, "lines 1, 2 lead back"])[18:]
    ['line 20 repeats the value of line 1', 'lines 1, 2 lead back', 'and 78 more']
    """
    if len(problems) <= _MAX_LISTED:
        return list(problems)
    first: dict[str, int] = {}
    for at, problem in enumerate(problems):
        first.setdefault(_NUMBERS.sub("", problem), at)
    others = sorted(set(range(len(problems))) - set(first.values()))
    chosen = sorted([*first.values(), *others[: max(_MAX_LISTED - len(first), 0)]])
    more = len(problems) - len(chosen)
    return [*(problems[at] for at in chosen), *([f"and {more:,} more"] if more else [])]


def look_like_a_table(problems: Sequence[str], lines: int) -> bool:
    """
    Whether nearly every line of a file is wrong: then it is no hierarchy with mistakes, but another kind of file.

    >>> look_like_a_table([f"line {n} has 9 levels, line 1 has 3" for n in range(2, 40)], 40)
    True
    >>> look_like_a_table(["lines 3 and 4 give one label of level 1 two parents at level 2"], 40)
    False
    """
    at_fault = {match[1] for problem in problems if (match := _AT_FAULT.match(problem))}
    return lines >= _FEW_LINES and len(at_fault) >= _MIN_SHARE_OF_A_TABLE * lines


def _ragged(rows: Sequence[Row], depth: int) -> Iterator[str]:
    if len({len(row.cells) for row in rows}) > 1:
        usual = next(row.line for row in rows if len(row.cells) == depth)
        for row in rows:
            if len(row.cells) != depth:
                yield f"line {row.line} has {counted(len(row.cells), 'level')}, line {usual} has {depth}"


def _too_deep(depth: int) -> Iterator[str]:
    if depth > MAX_LEVELS:
        yield f"has {counted(depth, 'level')}; at most {MAX_LEVELS} are allowed"


def _repeated(rows: Sequence[Row]) -> Iterator[str]:
    seen: dict[tuple[str, bool], int] = {}
    for row in rows:
        value = row.cells[0], not row.cells[0] and row.quoted
        if value in seen:
            yield f"line {row.line} repeats the value of line {seen[value]}"
        seen.setdefault(value, row.line)


def _empty(rows: Sequence[Row]) -> Iterator[str]:
    for row in rows:
        if row.quoted and not row.cells[0]:
            continue  # The empty text may stand for itself on every level.
        for level, label in enumerate(row.cells):
            if level and not label:
                yield f"line {row.line} has an empty label at level {level}"


def _two_parents(rows: Sequence[Row], depth: int) -> Iterator[str]:
    for level in range(2, depth):
        parents: dict[str, tuple[str, int]] = {}
        for row in rows:
            label, above = row.cells[level - 1], row.cells[level]
            parent, first = parents.setdefault(label, (above, row.line))
            if parent != above and label and parent and above:
                yield f"lines {first} and {row.line} give one label of level {level - 1} two parents at level {level}"


def _cycles(rows: Sequence[Row], depth: int) -> Iterator[str]:
    edges: dict[tuple[str, str], int] = {}
    labels = {label for row in rows for label in row.cells[1:]}
    for row in rows:
        # A value leads back to itself only where it is a label as well; most are not.
        for level in range(1 if row.cells[0] in labels else 2, depth):
            edges.setdefault((row.cells[level - 1], row.cells[level]), row.line)
    yield from cycles(edges)


def cycles(edges: Mapping[tuple[str, str], int]) -> Iterator[str]:
    """
    Describe the labels that lead back to each other: ``edges`` maps a label and the one above it to a line.

    A label that is its own parent leads nowhere: the province AOSTA is above the municipality AOSTA. Nor does the root
    ``*``, which a value may look like.

    >>> list(cycles({("a", "b"): 1, ("b", "a"): 2, ("a", "a"): 3}))
    ['lines 1, 2 lead labels back to each other (a cycle); give every level labels of its own']
    """
    ways = [(low, high) for low, high in edges if low and high and low != high and high != ROOT]
    between = {low for low, _ in ways} & {high for _, high in ways}
    member = _components([way for way in ways if {*way} <= between])
    lines: dict[int, set[int]] = {}
    for (low, high), line in edges.items():
        if low != high and high != ROOT and low in member and member[low] == member.get(high):
            lines.setdefault(member[low], set()).add(line)
    for found in sorted(map(sorted, lines.values())):
        shown = ", ".join(map(str, found[:_MAX_LINES_LISTED])) + (" ..." if len(found) > _MAX_LINES_LISTED else "")
        named = f"lines {shown} lead" if len(found) > 1 else f"line {shown} leads"
        yield f"{named} labels back to each other (a cycle); give every level labels of its own"


def _components(ways: Sequence[tuple[str, str]]) -> dict[str, int]:
    """Return the number of the strongly connected component of every label; labels of one lead to each other."""
    if not ways:
        return {}
    # Here, for scipy takes a while to import, and few files have a label both above and below others.
    import numpy as np
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    number = {label: at for at, label in enumerate(dict.fromkeys(label for way in ways for label in way))}
    low, high = ([number[way[end]] for way in ways] for end in (0, 1))
    graph = coo_array((np.ones(len(ways), np.int8), (low, high)), shape=(len(number), len(number)))
    found = connected_components(graph, connection="strong")[1].tolist()
    return dict(zip(number, found, strict=True))
