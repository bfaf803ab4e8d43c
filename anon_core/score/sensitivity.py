"""How much each column helps to single people out [Gong2020]_, from the minimal unique column combinations.

Gong et al.: column sensitivity for data publishing, 2020.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod

from anon_core.errors import InvalidInputError


def sensitivities(
    columns: Sequence[str], unique_sets: Sequence[Sequence[str]], reveal: Mapping[str, float]
) -> dict[str, float] | None:
    """
    Return the sensitivity of every column, or None when there is no unique column combination at all.

    S(A) = p(A) * (1 - prod over U of (1 - prod of p(B), B in U without A))

    where: U runs over the minimal unique sets that contain A, and p(B) is the probability that an adversary knows B.
    It is an upper bound of the probability that the adversary knows A together with the rest of some such set. A table
    without any unique set (one pair of equal rows is enough) says nothing about its columns: never read it as 0.

    >>> sensitivities(["id", "sex"], [["id"]], {"id": 0.5, "sex": 0.5})
    {'id': 0.5, 'sex': 0.0}
    """
    wrong = [name for name in columns if not 0 <= reveal[name] <= 1]
    if wrong:
        raise InvalidInputError(f"reveal probabilities must lie between 0 and 1: {', '.join(wrong)}")
    if not unique_sets:
        return None
    return {
        name: reveal[name]
        * (
            1
            - prod(
                1 - prod(reveal[other] for other in found if other != name) for found in unique_sets if name in found
            )
        )
        for name in columns
    }
