"""The worst of several ways in which a release may have been made."""

from __future__ import annotations

from collections.abc import Sequence

from anon_core.comparison import Comparison
from anon_core.score.linkage import FourK, four_k

MEANINGS = ("link", "source", "concealment")
"""The k's that depend on the hierarchies; exact k does not."""


def worst_case(comparisons: Sequence[Comparison], *, k: int, means: Sequence[str] = MEANINGS) -> Comparison:
    """
    Return, of comparisons of one release by different hierarchies, the one by which people hide worst.

    That is the one with the smallest of the k's that are meant. One by which the rows cannot have been made from the
    original is left out, unless all are like that.
    """
    if len(comparisons) == 1:
        return comparisons[0]
    found = [four_k(one, k=k) for one in comparisons]
    possible = [at for at, one in enumerate(found) if one.fits] or list(range(len(found)))
    return comparisons[min(possible, key=lambda at: _fewest(found[at], means))]


def _fewest(found: FourK, means: Sequence[str]) -> int:
    """Return the smallest of some k's; one that was not measured is none at all."""
    measured = {"link": found.link, "source": found.source, "concealment": found.concealment}
    return min(measured[one] or 0 for one in means)
