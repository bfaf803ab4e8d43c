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
    member = _components([way for way in ways if {*way} <= between])
    lines: dict[int, set[int]] = {}
    for (low, high), line in edges.items():
        if low != high and high != ROOT and low in member and member[low] == member.get(high):
            lines.setdefault(member[low], set()).add(line)
    for found in sorted(map(sorted, lines.values())):
        shown = ", ".join(map(str, found[:_MOST_LINES])) + (" ..." if len(found) > _MOST_LINES else "")
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
