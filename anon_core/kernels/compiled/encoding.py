"""Cut delimited text into cells and number the distinct ones, in one pass over the bytes.

Eight bytes are looked at a time, as one little-endian word. The cutting is that of pyarrow's parser, for text that has
none of the oddities on which :func:`cut` gives up; the meaning of a cell (its quotes, whether it is a gap) is not known
here: cells are told apart byte for byte, and whoever calls reads each distinct one once.

Distinct cells are kept as the rows of a file of one column: their bytes in ``text``, each ended by a line feed, entry
``i`` from ``starts[i]`` to ``starts[i + 1]``. One hash table serves all columns of a table; ``columns[i]`` says whose
cell entry ``i`` is, so equal cells of two columns are two entries. A slot holds the upper half of the hash above the
number of the entry plus one; zero is empty.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir  # type: ignore[import-untyped]
from numba import types
from numba.extending import intrinsic

from anon_core.kernels.compiled import compiled

DONE, FULL, ODD = 0, 1, 2
"""How :func:`cut` ended: at the end of the block; with no room for another entry; at a row unlike the rest."""

AT, END, ROWS, ENTRIES, USED = 0, 1, 2, 3, 4
"""What the places of a state mean: place in the block, its end, rows done, entries and bytes of text in use."""

PADDING = 8
"""So many bytes behind a block must exist, whatever they are: the last word that is looked at reaches into them."""

_QUOTE, _FEED, _RETURN = np.uint8(34), np.uint8(10), np.uint8(13)
_LOW, _HIGH = np.uint64(0x0101010101010101), np.uint64(0x8080808080808080)
_ONE, _ZERO, _HALF = np.uint64(1), np.uint64(0), np.uint64(32)
_LOWER_HALF = np.uint64(0xFFFFFFFF)
_MIX, _STIR = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xC2B2AE3D27D4EB4F)


def _load(typing: Any, source: Any, at: Any) -> Any:
    """The eight bytes from a place on; numpy has no way to say that they need not be aligned."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        array = context.make_array(signature.args[0])(context, builder, arguments[0])
        place = builder.gep(array.data, [arguments[1]])
        return builder.load(builder.bitcast(place, ir.IntType(64).as_pointer()), align=1)

    return types.uint64(source, types.int64), generate


def _count(typing: Any, word: Any) -> Any:
    """How many bits below the lowest one that is set."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.cttz(arguments[0], ir.Constant(ir.IntType(1), 1))

    return types.int64(types.uint64), generate


_word: Any = intrinsic(_load)
_trailing_zeros: Any = intrinsic(_count)


@compiled
def _find_either(text: Any, at: int, end: int, one: Any, other: Any) -> int:
    """Return where one of two bytes (each spread over a word) comes first, or the end."""
    while at < end:
        word = _word(text, at)
        x, y = word ^ one, word ^ other
        # The lowest marked byte is right; borrows reach only those above it.
        found = (((x - _LOW) & ~x) | ((y - _LOW) & ~y)) & _HIGH
        if found != _ZERO:
            return int(min(at + (_trailing_zeros(found) >> 3), end))
        at += 8
    return end


@compiled
def cell_end(text: Any, at: int, end: int, delimiter: Any, feed: Any, quote: Any) -> int:
    """Return where the delimiter or line feed stands that ends the cell starting here; -1 if its quote stays open."""
    if at < end and text[at] == _QUOTE:
        at += 1
        while True:
            at = _find_either(text, at, end, quote, quote)
            if at >= end:
                return -1
            if at + 1 < end and text[at + 1] == _QUOTE:
                at += 2
            else:
                break
    return _find_either(text, at, end, delimiter, feed)


@compiled
def row_end(text: Any, at: int, end: int, separator: int) -> int:
    """Return where the row that starts here is over, behind its line feed; -1 if a quote stays open."""
    delimiter, feed, quote = np.uint64(separator) * _LOW, np.uint64(10) * _LOW, np.uint64(34) * _LOW
    while True:
        at = cell_end(text, at, end, delimiter, feed, quote)
        if at < 0 or at >= end:
            return at
        at += 1
        if text[at - 1] == _FEED:
            return at


@compiled
def _hash(text: Any, start: int, length: int, seed: Any) -> Any:
    """Return a hash of some bytes; the last word of longer cells overlaps the one before it."""
    mixed = seed ^ (np.uint64(length) * _STIR)
    if length < 8:
        word = _word(text, start) & ((_ONE << np.uint64(8 * length)) - _ONE)
        mixed = (mixed ^ word) * _MIX
        return mixed ^ (mixed >> _HALF)
    stop = start + length - 8
    while start < stop:
        mixed = (mixed ^ _word(text, start)) * _MIX
        mixed ^= mixed >> _HALF
        start += 8
    mixed = (mixed ^ _word(text, stop)) * _MIX
    mixed ^= mixed >> _HALF
    mixed *= _STIR
    return mixed ^ (mixed >> _HALF)


@compiled
def _equal(text: Any, start: int, other: Any, begin: int, length: int) -> bool:
    if length < 8:
        return bool((_word(text, start) ^ _word(other, begin)) & ((_ONE << np.uint64(8 * length)) - _ONE) == _ZERO)
    at = 0
    while at < length - 8:
        if _word(text, start + at) != _word(other, begin + at):
            return False
        at += 8
    return bool(_word(text, start + length - 8) == _word(other, begin + length - 8))


@compiled
def _enter(block: Any, start: int, length: int, column: int, slot: Any, tag: Any, state: Any, words: Any) -> int:
    """Enter a cell and return its number; -1 where there is no room for it."""
    text, starts, columns, slots = words
    entry, used = state[ENTRIES], state[USED]
    if entry >= min(len(columns), len(slots) // 2) or used + length + 1 + PADDING > len(text):
        return -1
    for at in range(length):
        text[used + at] = block[start + at]
    text[used + length] = _FEED
    columns[entry] = column
    starts[entry + 1] = used + length + 1
    slots[slot] = (tag << _HALF) | np.uint64(entry + 1)
    state[ENTRIES], state[USED] = entry + 1, used + length + 1
    return entry  # type: ignore[no-any-return]


@compiled
def cut(block: Any, state: Any, separator: int, codes: Any, words: Any) -> int:
    """
    Number the cells of a block that starts where a row does, until its end or until it cannot go on.

    ``codes`` has one line per column; ``words`` is (text, starts, columns, slots). The state moves on by whole rows, so
    that after :data:`FULL` the caller makes room and calls again. Blank lines are no rows, unless there is one column.
    A carriage return belongs to the line end if it stands before the line feed; elsewhere it must not be.

    Looking a cell up is part of this function, for numba counts references at every array that is handed on, which
    would take twice as long as all the rest.
    """
    text, starts, columns, slots = words
    delimiter, feed, quote = np.uint64(separator) * _LOW, np.uint64(10) * _LOW, np.uint64(34) * _LOW
    at, end, row, width = state[AT], state[END], state[ROWS], len(codes)
    mask = np.uint64(len(slots) - 1)
    while at < end:
        if width > 1 and (block[at] == _FEED or (block[at] == _RETURN and block[at + 1] == _FEED)):
            at += 1 if block[at] == _FEED else 2
            continue
        for column in range(width):
            start = at
            at = cell_end(block, at, end, delimiter, feed, quote)
            last = at >= end or block[at] == _FEED
            if at < 0 or last != (column == width - 1):
                return ODD
            length = at - start
            if last and length > 0 and at < end and block[at - 1] == _RETURN:
                length -= 1
            mixed = _hash(block, start, length, np.uint64(column) * _MIX)
            tag, slot, entry = mixed >> _HALF, mixed & mask, -1
            while slots[slot] != _ZERO:
                if slots[slot] >> _HALF == tag:
                    entry = int(slots[slot] & _LOWER_HALF) - 1
                    begin = starts[entry]
                    same = starts[entry + 1] - begin == length + 1 and columns[entry] == column
                    if same and _equal(block, start, text, begin, length):
                        break
                    entry = -1
                slot = (slot + _ONE) & mask
            if entry < 0:
                entry = _enter(block, start, length, column, slot, tag, state, words)
                if entry < 0:
                    return FULL
            codes[column, row] = entry
            at += 1
        row += 1
        state[AT], state[ROWS] = at, row
    return DONE


@compiled
def enter_again(state: Any, words: Any) -> None:
    """Fill the empty slots of a larger dictionary with the entries it has."""
    text, starts, columns, slots = words
    mask = np.uint64(len(slots) - 1)
    for entry in range(state[ENTRIES]):
        length = starts[entry + 1] - starts[entry] - 1
        mixed = _hash(text, starts[entry], length, np.uint64(columns[entry]) * _MIX)
        slot = mixed & mask
        while slots[slot] != _ZERO:
            slot = (slot + _ONE) & mask
        slots[slot] = (mixed >> _HALF << _HALF) | np.uint64(entry + 1)


@compiled
def marks(block: Any, end: int) -> tuple[int, int, int]:
    """Return how many quotes, line feeds and lone carriage returns there are; the byte behind the end is looked at."""
    quotes, feeds, returns = 0, 0, 0
    for at in range(end):
        quotes += block[at] == _QUOTE
        feeds += block[at] == _FEED
        returns += (block[at] == _RETURN) & (block[at + 1] != _FEED)
    return quotes, feeds, returns


@compiled
def last_row_end(block: Any, end: int, quotes: int) -> int:
    """Return the end of the last row that is whole, taking a line feed for one if an even number of quotes precedes it.

    Where quotes are used as they should be, that is so. Where not, :func:`cut` comes upon a quote that stays open.
    """
    for at in range(end - 1, -1, -1):
        if block[at] == _QUOTE:
            quotes -= 1
        elif block[at] == _FEED and quotes % 2 == 0:
            return at + 1
    return 0


@compiled
def renumber(codes: Any, numbers: Any, out: Any) -> None:
    """Write the new number of every code; in place, if ``out`` is ``codes``."""
    for at in range(len(codes)):
        out[at] = numbers[codes[at]]


@compiled
def mark_used(codes: Any, used: Any) -> None:
    """Mark the codes that occur."""
    for code in codes:
        used[code] = True


@compiled
def eight_bytes(text: Any, starts: Any, skipped: int) -> Any:
    """Return eight bytes of every word, behind those skipped, as a number that sorts as they do; zeros fill it up."""
    keys = np.zeros(len(starts) - 1, np.uint64)
    for word in range(len(keys)):
        first = starts[word] + skipped
        for at in range(first, first + 8):
            keys[word] = (keys[word] << np.uint64(8)) | (np.uint64(text[at]) if at < starts[word + 1] else _ZERO)
    return keys
