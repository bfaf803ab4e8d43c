"""``coarsen`` of a sensitive or other column: what its values become before any other step uses them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from decimal import Decimal
from fractions import Fraction
from math import isfinite
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from anon_core.files.yaml_lines import Location, as_text
from anon_core.settings import Number, Settings, quoted
from anon_core.spec.written import Found, at, list_at, text_at

WAYS = ("round", "date", "level")
_FITTING = {"round": ("integer", "decimal", "text"), "date": ("text",), "year": ("integer", "decimal", "text")}
"""The declared types that coarsened cells can have."""


def _level(value: Any) -> Any:
    if isinstance(value, int) and not isinstance(value, bool):
        if value < 1:
            raise ValueError(f"should be at least 1, the level above the values, not {value}")
        return value
    text = as_text(value)
    if not isinstance(text, str) or not text.strip():
        raise ValueError(f"should be the number of a level, such as 1, or its name, not {quoted(value)}")
    return text


class Coarsen(Settings):
    """
    How the values of a column are made coarser: exactly one of ``round``, ``date`` and ``level`` is set.

    ``top`` and ``bottom`` go with ``round``. :func:`coarsen_problems` finds what is wrong between keys.
    """

    round: Annotated[Number, Field(gt=0)] | None = None
    top: Number | None = None
    bottom: Number | None = None
    date: Literal["month", "quarter", "year", "decade"] | None = None
    level: Annotated[int | str, BeforeValidator(_level)] | None = None
    unmapped: Literal["error", "suppress"] = "error"

    def described(self, *, labelled: bool) -> str:
        """
        Return what is done, in words for readers; ``labelled``: cells at the ends read ``150000 or more``.

        >>> Coarsen(round=1000, top=150000, bottom=0).described(labelled=True)
        'rounded to 1,000, then 150,000 or more together, 0 or less together'
        >>> Coarsen(round=1, top=90).described(labelled=False)
        'rounded to 1, then 90 stands for 90 or more'
        """
        if self.date is not None:
            return f"dates by {self.date}"
        if self.level is not None:
            return f"grouped by {self.level}" if isinstance(self.level, str) else f"grouped, level {self.level}"
        parts = []
        for end, words in ((self.top, "or more"), (self.bottom, "or less")):
            if end is not None:
                shown = f"{_figure(end)} {words}"
                parts.append(f"{shown} together" if labelled else f"{_figure(end)} stands for {shown}")
        return f"rounded to {_figure(self.round)}" + (f", then {', '.join(parts)}" if parts else "")


def _figure(number: float | None) -> str:
    text = f"{Decimal(str(number)):,f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def coarsen_problems(content: Any, columns: Mapping[str, Any]) -> Found:
    """
    Yield what is wrong between the keys of every `coarsen`, and between it and the rest of the file.

    Whether a hierarchy file has the level is checked when a run begins: loading a publication reads no other file.
    """
    for name, column in columns.items():
        written = at(column, ("coarsen",))
        if not isinstance(written, dict):
            continue
        here: Location = ("columns", name)
        role = text_at(column, ("role",))
        if role == "quasi":
            what = "a column of role `quasi` is generalised by its `hierarchy`, as far as needed; remove it"
            yield (*here, "coarsen"), what
        if role in ("identifier", "drop"):
            yield (*here, "coarsen"), f"a column of role `{role}` is never published; remove it"
        yield from (((*here, "coarsen", *place), what) for place, what in _between_keys(written))
        yield from (((*here, *place), what) for place, what in _beside(column, written))
        yield from (((*here, "coarsen"), what) for what in _elsewhere(content, name))


def _between_keys(written: Mapping[str, Any]) -> Iterator[tuple[Location, str]]:
    given = [way for way in WAYS if written.get(way) is not None]
    if len(given) != 1:
        yield (), f"needs exactly one of {', '.join(WAYS)}; it has {' and '.join(given) or 'none'}"
    width, top, bottom = (_exact(written.get(key)) for key in ("round", "top", "bottom"))
    for key, end in (("top", top), ("bottom", bottom)):
        if written.get(key) is not None and "round" not in given:
            yield (key,), f"`{key}` goes with `round`; set that too, or remove `{key}`"
        elif end is not None and width is not None and width > 0 and (end / width).denominator != 1:
            what = f"should be a multiple of `round`, so that what is rounded is on one side; {written[key]} is not"
            yield (key,), what
    if top is not None and bottom is not None and top <= bottom:
        yield ("top",), f"should be above `bottom`; {written['top']} is not above {written['bottom']}"


def _beside(column: Any, written: Mapping[str, Any]) -> Iterator[tuple[Location, str]]:
    """Yield what does not fit the type and the hierarchy of the column; locations from the column."""
    kind, date, width = text_at(column, ("type",)), text_at(written, ("date",)), _exact(written.get("round"))
    way = "round" if written.get("round") is not None else "year" if date == "year" else "date" if date else ""
    if kind and way and kind not in _FITTING[way]:
        yield ("type",), f"coarsened cells are no {kind}; set one of {', '.join(_FITTING[way])}, or remove it"
    elif kind == "integer" and width is not None and width.denominator != 1:
        yield ("type",), f"numbers rounded to {written['round']} are not whole; set `type: decimal`, or remove it"
    if kind not in ("", "text") and text_at(written, ("unmapped",)) == "suppress":
        yield ("type",), f"with `unmapped: suppress` cells may read `*`, which is no {kind}; set `type: text`"
    if written.get("level") is not None and at(column, ("hierarchy", "file")) is None:
        what = "`level` is one of a hierarchy file: set `hierarchy: {file: ...}`; numbers have `round`, dates `date`"
        yield ("coarsen", "level"), what


def _elsewhere(content: Any, name: str) -> Iterator[str]:
    unit = at(content, ("unit",))
    parts = at(unit, ("columns",)) if isinstance(unit, dict) else unit
    if isinstance(parts, list) and name in map(as_text, parts):
        yield "a column of the unit tells people apart, which a coarser one would not; remove one of the two"
    if name in (at(content, ("privacy", "freeform", "columns")) or ()):
        yield "a column whose values `privacy.freeform` guards is generalised by that; remove one of the two"
    for entry in list_at(content, ("privacy", "t_closeness")):
        if text_at(entry, ("column",)) == name and text_at(entry, ("distance",)) == "hierarchical":
            yield (
                "a coarsened column with `distance: hierarchical` in `privacy.t_closeness` is not supported yet; use "
                "`equal` or `ordered`, or remove it"
            )


def _exact(number: Any) -> Fraction | None:
    """Return a number as it is written, None for what is no number."""
    usable = isinstance(number, int | float) and not isinstance(number, bool) and isfinite(number)
    return Fraction(repr(number)) if usable else None
