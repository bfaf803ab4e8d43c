"""Sets as bits in 64-bit words."""

from __future__ import annotations

import numpy as np

from anon_core.kernels.compiled import compiled
from anon_core.kernels.grouping import Words

# Every constant is unsigned: numba makes a float of an unsigned and a signed 64-bit integer.
ZERO = np.uint64(0)
ONE = np.uint64(1)
LOW_SIX = np.uint64(63)
_BY_2 = np.uint64(0x5555555555555555)
_BY_4 = np.uint64(0x3333333333333333)
_BY_8 = np.uint64(0x0F0F0F0F0F0F0F0F)
_BYTES = np.uint64(0x0101010101010101)
_TWO = np.uint64(2)
_FOUR = np.uint64(4)
_TOP = np.uint64(56)


@compiled
def ones(word: np.uint64) -> np.uint64:
    """Return how many bits are set; the compiler makes one instruction of it."""
    word = word - ((word >> ONE) & _BY_2)
    word = (word & _BY_4) + ((word >> _TWO) & _BY_4)
    word = (word + (word >> _FOUR)) & _BY_8
    return (word * _BYTES) >> _TOP


@compiled
def lowest(word: np.uint64) -> int:
    """Return the position of the lowest bit that is set; the word must not be zero."""
    return int(ones((word & (ZERO - word)) - ONE))


@compiled
def size_of(words: Words) -> int:
    """Return how many members a set has."""
    total = 0
    for i in range(len(words)):
        total += int(ones(words[i]))
    return total


@compiled
def put(words: Words, member: int) -> None:
    """Put a member into a set."""
    words[member >> 6] |= ONE << (np.uint64(member) & LOW_SIX)


@compiled
def holds(words: Words, member: int) -> bool:
    """Whether a set has a member."""
    return bool(words[member >> 6] & (ONE << (np.uint64(member) & LOW_SIX)))


@compiled
def within(inner: Words, outer: Words) -> bool:
    """Whether one set lies in another."""
    for i in range(len(inner)):  # noqa: SIM110 - numba compiles no generator expression.
        if inner[i] & ~outer[i]:
            return False
    return True


@compiled
def clear(words: Words) -> None:
    """Empty a set. A loop, because numba takes a second to compile an assignment to a slice."""
    for i in range(len(words)):
        words[i] = ZERO


@compiled
def assign(target: Words, source: Words) -> None:
    """Make one set equal to another."""
    for i in range(len(target)):
        target[i] = source[i]


@compiled
def take_lowest(words: Words) -> int:
    """Take the lowest member out of a set and return it; -1 if there is none."""
    for i in range(len(words)):
        if words[i]:
            member = (i << 6) + lowest(words[i])
            words[i] &= words[i] - ONE
            return member
    return -1
