"""Count tuples of codes by direct addressing, and runs of equal words; every loop is one pass."""

from __future__ import annotations

from typing import Any

import numpy as np

from anon_core.kernels.compiled import compiled


@compiled
def fold(keys: Any, codes: Any, cardinality: int) -> None:
    """Add one more digit to each key: its code in a column of so many values."""
    for i in range(len(codes)):
        keys[i] = keys[i] * cardinality + codes[i]


@compiled
def tally(width: int, a: Any, b: Any, c: Any, d: Any, sizes: Any, counts: Any) -> None:
    """Count the tuples of the first ``width`` of four columns; a tuple's place is its codes read as one number."""
    _, of_b, of_c, of_d = sizes
    if width == 1:
        for i in range(len(a)):
            counts[a[i]] += 1
    elif width == 2:
        for i in range(len(a)):
            counts[a[i] * of_b + b[i]] += 1
    elif width == 3:
        for i in range(len(a)):
            counts[(a[i] * of_b + b[i]) * of_c + c[i]] += 1
    else:
        for i in range(len(a)):
            counts[((a[i] * of_b + b[i]) * of_c + c[i]) * of_d + d[i]] += 1


@compiled
def tally_weights(width: int, a: Any, b: Any, c: Any, d: Any, sizes: Any, weights: Any, counts: Any) -> None:
    """Add up the weights of the tuples of the first ``width`` of four columns."""
    _, of_b, of_c, of_d = sizes
    if width == 1:
        for i in range(len(a)):
            counts[a[i]] += weights[i]
    elif width == 2:
        for i in range(len(a)):
            counts[a[i] * of_b + b[i]] += weights[i]
    elif width == 3:
        for i in range(len(a)):
            counts[(a[i] * of_b + b[i]) * of_c + c[i]] += weights[i]
    else:
        for i in range(len(a)):
            counts[((a[i] * of_b + b[i]) * of_c + c[i]) * of_d + d[i]] += weights[i]


@compiled
def collect(counts: Any, keys: Any, weights: Any) -> int:
    """Write the keys that were counted, in order, with their counts; return how many there are."""
    found = 0
    for key in range(len(counts)):
        if counts[key] != 0:
            keys[found] = key
            weights[found] = counts[key]
            found += 1
    return found


@compiled
def last_digit(keys: Any, cardinality: int, codes: Any) -> None:
    """Take the last digit off each key."""
    size = np.int32(cardinality)
    for i in range(len(keys)):
        rest = keys[i] // size
        codes[i] = keys[i] - rest * size
        keys[i] = rest


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
