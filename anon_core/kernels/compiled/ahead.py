"""Compile all loops ahead of their first call, as often as the product calls them with other types.

Which types that are is written down here. Only loops that Python calls are listed: numba puts the loops that these call
into them. A loop that is called with types that are not listed is compiled at that call; a test fails then.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from numba import types

from anon_core.errors import InvalidInputError, StorageError
from anon_core.kernels.compiled import (
    announcement,
    counting,
    encoding,
    joining,
    local_classes,
    lowering,
    neighbourhoods,
    people,
    refinement,
    shared_pairs,
    unique_search,
)
from anon_core.kernels.compiled.local_classes import Behind, Cells, Crowd, HashTable
from anon_core.kernels.compiled.lowering import Covered
from anon_core.kernels.compiled.neighbourhoods import Neighbourhoods
from anon_core.kernels.compiled.partitions import Arena
from anon_core.kernels.compiled.shared_pairs import Ordered
from anon_core.kernels.compiled.unique_search import Search

Signature = tuple[Any, ...]
"""The types of the arguments of one call, as numba has them."""

_DOING = "keeping compiled loops"
_ADVICE = "Name a folder that this user may write in NUMBA_CACHE_DIR, here and where anonflow runs"


@dataclass(frozen=True, slots=True, kw_only=True)
class Compiled:
    """
    What there is in ``folder`` now: ``variants`` of ``loops``, each for other types, ``fresh`` of which are new.

    The others were there before, for this processor and these versions.
    """

    folder: Path
    loops: int
    variants: int
    fresh: int


def compile_ahead(progress: Callable[[int, int], None] | None = None) -> Compiled:
    """
    Compile what is not in the cache yet; ``progress`` gets how many variants are there, and of how many.

    :raises StorageError: there is no folder to keep them in, or not the one that ``NUMBA_CACHE_DIR`` names.
    """
    wanted = signatures()
    folder = _folder(next(iter(wanted)))
    announcement.said = True  # The caller knows that this compiles.
    every = [(loop, signature) for loop, each in wanted.items() for signature in each]
    for done, (loop, signature) in enumerate(every):
        if progress:
            progress(done, len(every))
        loop.compile(signature)
    fresh = sum(signature not in loop.stats.cache_hits for loop, signature in every)
    return Compiled(folder=folder, loops=len(wanted), variants=len(every), fresh=fresh)


def _folder(loop: Any) -> Path:
    """Return where compiled loops are kept: numba passes over a folder that it cannot write to."""
    wanted = os.environ.get("NUMBA_CACHE_DIR")
    stats = getattr(loop, "stats", None)
    if stats is None:
        raise InvalidInputError("NUMBA_DISABLE_JIT is set: nothing is compiled, here or later; unset it")
    found = stats.cache_path
    if wanted and (found is None or not Path(found).is_relative_to(Path(wanted).absolute())):
        raise StorageError(
            wanted, _DOING, "it cannot be written", "Give NUMBA_CACHE_DIR a folder that this user may write"
        )
    if found is None:
        raise StorageError(str(Path(__file__).parent), _DOING, "nor can the user's cache folder be written", _ADVICE)
    return Path(wanted or found).absolute()


def signatures() -> Mapping[Any, Sequence[Signature]]:
    """Return the loops that Python calls, and the types that the product calls each with."""
    return {
        counting.fold: [(_LONGS, _INTS, _INT), (_LONGS, _LONGS, _INT), (_INTS, _INTS, _INT)],
        counting.tally: [(_INT, _INTS, _INTS, _INTS, _INTS, _FOUR, _INTS)],
        # A frame may lend the weights.
        counting.tally_weights: [
            (_INT, _INTS, _INTS, _INTS, _INTS, _FOUR, weights, _LONGS) for weights in (_LONGS, _LENT_LONGS)
        ],
        counting.collect: [(_INTS, _INTS, _LONGS), (_LONGS, _INTS, _LONGS)],
        counting.last_digit: [(_INTS, _INT, _INTS)],
        counting.follows: [(_INTS, _INTS, _INTS)],
        counting.runs: [(_WORDS,)],
        counting.measure_runs: [(_WORDS, _WORDS, _LONGS)],
        # Codes of a table are 32 bits wide, those that wait for the rest of a column 16, and a frame may lend its own.
        encoding.renumber: [(codes, _INTS, _INTS) for codes in (_INTS, _SHORTS, _LONGS, _LENT_INTS)],
        encoding.mark_used: [(codes, _FLAGS) for codes in (_INTS, _SHORTS, _LONGS, _LENT_INTS)],
        encoding.eight_bytes: [(_LENT_BYTES, _LENT_INTS, _INT)],
        joining.enter: [(_LONGS, _INT, _LONGS, _INTS)],
        joining.find: [(_LONGS, _INT, _LONGS, _INTS, _INTS)],
        joining.tally_members: [(_INTS, _LONGS)],
        # The tuple of a row is 32 bits wide where it was looked up, and 64 where rows were grouped.
        joining.gather: [(values, member, values) for values in (_INTS, _FLAGS) for member in (_INTS, _LONGS)],
        joining.add: [(_LONGS, member, _LONGS) for member in (_INTS, _LONGS)],
        joining.mark_kept: [(_INTS, member, _FLAGS, _FLAGS) for member in (_INTS, _LONGS)],
        joining.cut_out: [(_LONGS, _INT, _INT, _INTS)],
        local_classes.crowd_of: [(_BEHIND, _LONGS)],
        local_classes.next_groups: [(_CELLS, _CROWD, _LONGS_2D, _INT, _LONGS, _INT, _HASH_TABLE, _INT)],
        local_classes.number_groups: [(_HASH_TABLE, _INT, _INT, _INT)],
        local_classes.freeze: [(_LONGS, _INT, _HASH_TABLE, _LONGS)],
        local_classes.common_levels: [(_CELLS, _LONGS, _LONGS_2D, _LONGS)],
        local_classes.join_nearest: [(_CELLS, _LONGS, _LONGS, _LONGS_2D, _LONGS, _FLOATS_2D)],
        local_classes.nearest_classes: [(_CELLS, _LONGS, _FLAGS, _LONGS_2D, _LONGS, _FLOATS_2D, _LONGS, _FLOATS)],
        lowering.lower_all: [(_CELLS, _COVERED, _LONGS, _LONGS_2D, _INT)],
        neighbourhoods.costs_of_classes: [(_CELLS, _LONGS, _LONGS, _FLOATS_2D)],
        neighbourhoods.rebuild_all: [
            (_CELLS, _BEHIND, _NEIGHBOURHOODS, _LONGS, _INT, types.float64, _HASH_TABLE, _LONGS),
        ],
        people.split_pairs: [(_LONGS, _INT, _LONGS, _INTS, _INTS, _LONGS)],
        people.count_people: [(_LONGS, units, _LONGS, _LONGS) for units in (_INTS, _LONGS)],
        people.meet: [(_LONGS, units, _LONGS, _LONGS, _LONGS, _LONGS) for units in (_INTS, _LONGS)],
        refinement.refine: [(_INTS, _INTS, _INTS, _CELLS_OF_VALUES, _LONGS, _INTS)],
        refinement.count_alone: [(_INTS, _INTS, _INTS, _CELLS_OF_VALUES)],
        shared_pairs.ordered: [(_INTS, _INT)],
        shared_pairs.rare_pairs: [(_ORDERED, _INTS, _INT, _INT, _FLAGS, _INTS, _INT)],
        unique_search.run: [(_SEARCH, _INT, _INT)],
    }


def _array(kind: Any, dimensions: int = 1, *, lent: bool = False) -> Any:
    """Return the type of an array; into one that is ``lent``, such as memory of Arrow, nothing is written."""
    return types.Array(kind, dimensions, "C", readonly=lent)


def _tuple_of(kind: type[NamedTuple], *fields: Any) -> Any:
    return types.BaseTuple.from_types(fields, kind)  # type: ignore[no-untyped-call]


_INT = types.int64
_FOUR = types.UniTuple(types.int64, 4)  # type: ignore[no-untyped-call]
_FLAGS, _FLOATS, _SHORTS = map(_array, (types.boolean, types.float64, types.uint16))
_INTS, _LONGS, _WORDS = map(_array, (types.int32, types.int64, types.uint64))
_LENT_BYTES, _LENT_INTS, _LENT_LONGS = (_array(kind, lent=True) for kind in (types.uint8, types.int32, types.int64))
_FLOATS_2D, _INTS_2D, _LONGS_2D, _WORDS_2D = (
    _array(kind, 2) for kind in (types.float64, types.int32, types.int64, types.uint64)
)
_CELLS_OF_VALUES = types.Tuple([_INTS, _LONGS, _INTS, _FLAGS, _INTS])  # type: ignore[no-untyped-call]
_CELLS = _tuple_of(Cells, _WORDS_2D, _FLOATS_2D, _LONGS, _LONGS, _LONGS)
_BEHIND = _tuple_of(Behind, _LONGS, _LONGS, _LONGS)
_CROWD = _tuple_of(Crowd, types.boolean, _LONGS, _LONGS, _LONGS)
_HASH_TABLE = _tuple_of(HashTable, _WORDS, _INTS, _LONGS, _INTS, _INTS, _LONGS, _LONGS, _LONGS, _LONGS, _LONGS)
_COVERED = _tuple_of(Covered, _LONGS, _LONGS, _LONGS, _LONGS)
_NEIGHBOURHOODS = _tuple_of(Neighbourhoods, _LONGS, _LONGS, _FLOATS, _WORDS)
_ORDERED = _tuple_of(Ordered, _LONGS, _LONGS, _INTS, _LONGS, types.boolean)
_ARENA = _tuple_of(Arena, _INTS_2D, _array(types.uint8), _INTS, _INTS, _LONGS, _LONGS, _INTS, _INTS)
_SEARCH = _tuple_of(
    Search,
    _ARENA,
    *[_WORDS_2D] * 6,
    _LONGS,
    *[_WORDS_2D] * 3,
    _LONGS,
    types.int64,
    types.int64,
    types.boolean,
)
