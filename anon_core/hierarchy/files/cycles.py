"""Labels that lead back to each other over the levels of a hierarchy."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from anon_core.hierarchy.ladder import ROOT

_MOST_LINES = 20


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
    above: dict[str, list[str]] = {}
    for low, high in ways:
        if low in between and high in between:
            above.setdefault(low, []).append(high)
    member = {label: at for at, group in enumerate(_components(above)) if len(group) > 1 for label in group}
    lines: dict[int, set[int]] = {}
    for (low, high), line in edges.items():
        if low != high and high != ROOT and low in member and member[low] == member.get(high):
            lines.setdefault(member[low], set()).add(line)
    for found in sorted(map(sorted, lines.values())):
        shown = ", ".join(map(str, found[:_MOST_LINES])) + (" ..." if len(found) > _MOST_LINES else "")
        named = f"lines {shown} lead" if len(found) > 1 else f"line {shown} leads"
        yield f"{named} labels back to each other (a cycle); give every level labels of its own"


def _components(above: Mapping[str, Sequence[str]]) -> Iterator[list[str]]:
    """Return the strongly connected components [Tarjan1972]_, without recursion: a chain of labels may be long."""
    met: dict[str, int] = {}
    lowest: dict[str, int] = {}
    waiting: dict[str, None] = {}  # labels of components that are not complete, in the order they were met
    for start in above:
        path: list[tuple[str, Iterator[str]]] = []
        entered: str | None = None if start in met else start
        while entered is not None or path:
            if entered is not None:
                met[entered] = lowest[entered] = len(met)
                waiting[entered] = None
                path.append((entered, iter(above.get(entered, ()))))
            here, ways = path[-1]
            entered = None
            for way in ways:
                if way not in met:
                    entered = way
                    break
                if way in waiting:
                    lowest[here] = min(lowest[here], met[way])
            if entered is None:
                path.pop()
                if path:
                    lowest[path[-1][0]] = min(lowest[path[-1][0]], lowest[here])
                if lowest[here] == met[here]:
                    yield _taken(waiting, here)


def _taken(waiting: dict[str, None], last: str) -> list[str]:
    """Take labels out, the one met last first, up to this one."""
    group = [waiting.popitem()[0]]
    while group[-1] != last:
        group.append(waiting.popitem()[0])
    return group
