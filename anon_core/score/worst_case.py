"""The worst of several ways in which a release may have been made."""

from __future__ import annotations

from collections.abc import Sequence

from anon_core.comparison import Comparison
from anon_core.score.linkage import FourK, four_k


def worst_case(comparisons: Sequence[Comparison], *, k: int) -> Comparison:
    """
    Return, of comparisons of one release by different hierarchies, the one by which people hide worst.

    One by which the rows cannot have been made from the original is left out, unless all are like that.
    """
    if len(comparisons) == 1:
        return comparisons[0]
    found = [four_k(one, k=k) for one in comparisons]
    possible = [at for at, one in enumerate(found) if one.fits] or list(range(len(found)))
    return comparisons[min(possible, key=lambda at: _fewest(found[at]))]


def _fewest(found: FourK) -> int:
    """Return the smallest of the k's that depend on the hierarchies; exact k does not."""
    return min((one for one in (found.link, found.source, found.concealment) if one is not None), default=0)
