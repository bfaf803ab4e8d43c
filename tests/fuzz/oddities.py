"""Values at the limits, and documents with something wrong in them."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from typing import Any

from tests.fuzz.drawing import Draw

TEXTS = (
    "", " ", "a", "é", "\u0000", "\ud800", "\udcff", "\u202e", "\ufeff", "\u2028", "\x85", "\r", "\n", "\t", "\x1b[31m",
    '"', "'", "`", "{}", "{0}", "%s", "%(x)s", "{{ ds }}", "{% for", "a,b", "a;b", "a|b", "=1+1", "*", "**", "[1]", "[",
    "..", "/", "../x", "/dev/null", "no/such/file", "auto", "utf-8", "true", "null", "0", "-1", "1e999", "NaN", "inf",
    "0x10", "007", "1_000", "٣", "²", "9" * 30, "1" * 5000, "x" * 300, "2026-02-30", "0000-00-00", "99999-01-01",
    "(a+)+$", "(?P<a>", "[a-", "\\", "<script>", "]]>", "a\u0301", "ﬀ", "İ", "ß",
)  # fmt: skip
NUMBERS = (
    0, 1, -1, 2, 3, 5, 10, 100, 255, 256, 2**31 - 1, 2**31, 2**53, 2**63 - 1, 2**63, 2**64, -(2**63), 10**18, 10**30,
    0.0, -0.0, 0.5, 1.0, 1.5, 1e-9, 1e-320, 1e16, 1e308, -1e308, float("inf"), float("-inf"), float("nan"),
)  # fmt: skip


def value(draw: Draw, deep: int = 2) -> Any:
    """Return any value that JSON or YAML can hold."""
    match draw.number(0, 9 if deep else 7):
        case 0 | 1 | 2:
            return draw.pick(TEXTS)
        case 3 | 4:
            return draw.pick(NUMBERS)
        case 5:
            return draw.pick((None, True, False, [], {}, [[]], {"": None}))
        case 6 | 7:
            return draw.text()
        case 8:
            return [value(draw, deep - 1) for _ in range(draw.number(0, 3))]
        case _:
            return {draw.pick(TEXTS): value(draw, deep - 1) for _ in range(draw.number(0, 3))}


def changed(draw: Draw, document: Any, words: Sequence[str] = (), most: int = 3) -> Any:
    """Return a copy of a document in which up to ``most`` things are replaced, removed, moved, renamed or added."""
    document = copy.deepcopy(document)
    for _ in range(draw.number(1, most)):
        places = list(_places(document))
        if not places:
            return value(draw)
        holder, key = draw.pick(places)
        _change(draw, holder, key, places, words)
    return document


def _places(document: Any) -> Iterator[tuple[Any, Any]]:
    inside = document.items() if isinstance(document, dict) else enumerate(document)
    for key, item in list(inside):
        yield document, key
        if isinstance(item, dict | list):
            yield from _places(item)


def _change(draw: Draw, holder: Any, key: Any, places: Sequence[tuple[Any, Any]], words: Sequence[str]) -> None:
    match draw.number(0, 7):
        case 0 | 1 | 2:
            holder[key] = value(draw)
        case 3:
            holder[key] = draw.pick(words) if words else value(draw)
        case 4:
            del holder[key]
        case 5:
            other, there = draw.pick(places)
            if there in other if isinstance(other, dict) else there < len(other):
                holder[key] = copy.deepcopy(other[there])
        case 6:
            holder[key] = [holder[key]] if draw.chance(2) else {str(key): holder[key]}
        case _:
            name = draw.pick(words) if words and not draw.chance(3) else draw.pick(TEXTS)
            if isinstance(holder, dict):
                holder[name] = value(draw) if draw.chance(2) else holder.pop(key)
            else:
                holder.append(value(draw))
