"""The inner loops: pack codes into machine words, group equal words, refine partitions.

This package does not know what a code stands for. :mod:`~anon_core.kernels.grouping` has some vectorised numpy passes;
:mod:`~anon_core.kernels.compiled` holds the loops that numba compiles, :mod:`~anon_core.kernels.effort` says when they
are worth loading. With either, :mod:`~anon_core.kernels.counting` counts distinct tuples,
:mod:`~anon_core.kernels.joining` finds the tuple of every row and passes on what is known of tuples to their rows.
"""

from anon_core.kernels.counting import Distinct, distinct
from anon_core.kernels.effort import compiled_is_worth, spend
from anon_core.kernels.grouping import AnyCodes, Floats, Groups, Integers, Words, bits_of, group, pack, weigh
from anon_core.kernels.joining import Joined, add_up, cut_out, gather, join, used_by
from anon_core.kernels.people import UNKNOWN_PERSON, people_of_classes, people_of_keys, people_of_tuples

__all__ = [
    "UNKNOWN_PERSON",
    "AnyCodes",
    "Distinct",
    "Floats",
    "Groups",
    "Integers",
    "Joined",
    "Words",
    "add_up",
    "bits_of",
    "compiled_is_worth",
    "cut_out",
    "distinct",
    "gather",
    "group",
    "join",
    "pack",
    "people_of_classes",
    "people_of_keys",
    "people_of_tuples",
    "spend",
    "used_by",
    "weigh",
]
