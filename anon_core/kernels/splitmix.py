"""SplitMix64: a state that grows by a fixed step, and a mixer that makes a random-looking number of it [Steele2014]_.

Steele, Lea, Flood: Fast splittable pseudorandom number generators, 2014. Sums and products run over, as they are meant
to, so every machine has the same numbers.
"""

from __future__ import annotations

import numpy as np

from anon_core.kernels.grouping import Words

STEP = np.uint64(0x9E3779B97F4A7C15)
"""What the state grows by, 2^64 over the golden ratio: the states that follow each other are spread evenly."""

_FIRST_FACTOR = np.uint64(0xBF58476D1CE4E5B9)
_SECOND_FACTOR = np.uint64(0x94D049BB133111EB)
_FIRST_SHIFT = np.uint64(30)
_SECOND_SHIFT = np.uint64(27)
_LAST_SHIFT = np.uint64(31)


def mixed(states: Words) -> Words:
    """
    Return the number of each state: all its bits depend on all of the state, and no two states have the same.

    The first number of the generator that is seeded with 0:

    >>> hex(mixed(np.array([STEP]))[0])
    '0xe220a8397b1dcdaf'
    """
    states = (states ^ (states >> _FIRST_SHIFT)) * _FIRST_FACTOR
    states = (states ^ (states >> _SECOND_SHIFT)) * _SECOND_FACTOR
    return states ^ (states >> _LAST_SHIFT)
