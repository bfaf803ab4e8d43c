"""The inner loops: pack codes into machine words, group equal words, refine partitions.

Nothing here knows what a code stands for. :mod:`~anon_core.kernels.grouping` is a handful of vectorised numpy passes;
:mod:`~anon_core.kernels.compiled` holds the loops that numba compiles, :mod:`~anon_core.kernels.effort` says when they
are worth loading, and :mod:`~anon_core.kernels.counting` counts distinct tuples with either.
"""

from anon_core.kernels.counting import Distinct, cores, distinct
from anon_core.kernels.effort import compiled_is_worth, spend
from anon_core.kernels.grouping import AnyCodes, Floats, Groups, Integers, Words, bits_of, group, pack, weigh

__all__ = [
    "AnyCodes",
    "Distinct",
    "Floats",
    "Groups",
    "Integers",
    "Words",
    "bits_of",
    "compiled_is_worth",
    "cores",
    "distinct",
    "group",
    "pack",
    "spend",
    "weigh",
]
