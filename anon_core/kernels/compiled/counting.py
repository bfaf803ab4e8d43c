"""Count tuples of codes by direct addressing, and runs of equal words; every loop is one pass."""

from __future__ import annotations

from typing import Any

from anon_core.kernels.compiled import compiled


@compiled
def fold(keys: Any, codes: Any, cardinality: int) -> None:
    """Add one more digit to each key: its code in a column of so many values."""
    for i in range(len(codes)):
        keys[i] = keys[i] * cardinality + codes[i]


@compiled
def tally(keys: Any, counts: Any) -> None:
    """Count each key."""
    for i in range(len(keys)):
        counts[keys[i]] += 1


@compiled
def tally_weights(keys: Any, weights: Any, counts: Any) -> None:
    """Add up the weights of each key."""
    for i in range(len(keys)):
        counts[keys[i]] += weights[i]


@compiled
def follows(codes: Any, other: Any, image: Any) -> bool:
    """Whether equal codes always come with equal codes of the other column; ``image`` (-1: not seen) notes which."""
    for i in range(len(codes)):
        seen = image[codes[i]]
        if seen < 0:
            image[codes[i]] = other[i]
        elif seen != other[i]:
            return False
    return True


@compiled
def runs(words: Any) -> int:
    """Return how many runs of equal words there are; ``words`` is sorted and not empty."""
    count = 1
    for i in range(1, len(words)):
        if words[i] != words[i - 1]:
            count += 1
    return count


@compiled
def measure_runs(words: Any, values: Any, lengths: Any) -> None:
    """Write the word and the length of each run; the outputs are as long as :func:`runs` says."""
    at = 0
    start = 0
    for i in range(1, len(words) + 1):
        if i == len(words) or words[i] != words[start]:
            values[at] = words[start]
            lengths[at] = i - start
            at += 1
            start = i
