"""A picture of the values of the rows at risk: the histogram of the user interface of [Bampoulidis2019]_."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from anon_core.hierarchy.numbers import number_in
from anon_core.measures.risk.rows_by_size import RowsOrPeople
from anon_core.report.plots.drawing import RED, SKY, counted, named, percent, picture, rows_downwards, write_beside

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from anon_core.measures.risk.value_risk import ValueRisk

MAX_VALUES = 40
"""Of more values only those of most rows are drawn; the others are counted in one bar."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ValueBar:
    """One bar: its label, its rows, and whether the label is a value (not a gap, nor what is left of many)."""

    label: str
    safe: int
    at_risk: int
    is_value: bool

    @property
    def rows(self) -> int:
        return self.safe + self.at_risk


def value_bars(found: ValueRisk, *, show_values: bool) -> list[ValueBar]:
    """
    Return the bars of a column, in the order of its values or, if they are too many, from most rows to fewest.

    Numbers are sorted by size, also inside texts, such as ``5-9`` and ``10-19``; a gap is last. Without ``show_values``
    a value is named by its position.
    """
    rows = found.rows
    at = np.argsort(-rows, kind="stable")[:MAX_VALUES]
    values = [found.values[int(i)].as_py() for i in at]
    places = range(len(at)) if len(rows) > MAX_VALUES else _in_order(values)
    bars = []
    for number, place in enumerate(places, 1):
        value, i = values[place], int(at[place])
        label = "(gap)" if value is None else _written(value) if show_values else f"value {number}"
        bars.append(
            ValueBar(label=label, safe=int(found.safe[i]), at_risk=int(found.at_risk[i]), is_value=value is not None)
        )
    left = len(rows) - len(at)
    if left:
        safe = int(found.safe.sum()) - sum(bar.safe for bar in bars)
        at_risk = int(found.at_risk.sum()) - sum(bar.at_risk for bar in bars)
        bars.append(ValueBar(label=f"{counted(left, 'more value')}", safe=safe, at_risk=at_risk, is_value=False))
    return bars


def plot_value_risk(found: ValueRisk, path: Path | str, *, show_values: bool = False) -> None:
    """
    Draw for every value of a column how many rows are safe and how many at risk, or for the 40 that most rows have.

    The values themselves are written only with ``show_values``: then every copy of the picture shows them.

    :raises InvalidInputError: the path ends neither in .svg nor in .png.
    :raises StorageError: the file cannot be written.
    """
    bars = value_bars(found, show_values=show_values)
    with picture(path, width=9.5, height=1.9 + 0.24 * max(len(bars), 3)) as figure:
        axes = figure.subplots()
        _draw(axes, bars, found)
        for tick, bar in zip(axes.get_yticklabels(), bars, strict=True):
            tick.set_fontstyle("normal" if bar.is_value else "italic")
        axes.grid(visible=False, axis="y")
        axes.xaxis.set_major_formatter(lambda value, _: counted(int(value)))
        axes.set_xlabel(f"{found.counted} (count){_once_each(found)}")
        figure.suptitle(_title(found), x=0.01, ha="left", fontsize=11)
        figure.legend(loc="outside lower left", ncols=2)


def _draw(axes: Axes, bars: list[ValueBar], found: ValueRisk) -> None:
    """Draw the parts of every bar and write its figures behind it."""
    # The bar of all other values may be a thousand times as long as the rest: it and its parts are drawn shorter.
    longest = max([bar.rows for bar in bars[:MAX_VALUES]], default=0)
    scales = [min(1.0, longest / bar.rows) for bar in bars]
    places = range(len(bars))
    risk = [bar.at_risk * scale for bar, scale in zip(bars, scales, strict=True)]
    safe = [bar.safe * scale for bar, scale in zip(bars, scales, strict=True)]
    label = f"at risk: in a class smaller than k = {found.k:,}"
    # The edge colour is used for stripes only: drawn edges would hide a part of few rows.
    axes.barh(places, risk, height=0.7, color=RED, edgecolor="white", linewidth=0, hatch="////", label=label)
    axes.barh(places, safe, left=risk, height=0.7, color=SKY, label="safe")
    texts = [_figures(bar, found.counted.singular) for bar in bars]
    for place, text in enumerate(texts):
        write_beside(axes, text, (risk[place] + safe[place], place))
    notes = ["" if scale == 1 else " (not to scale)" for scale in scales]
    rows_downwards(axes, [f"{bar.label}{note}" for bar, note in zip(bars, notes, strict=True)])
    axes.set_xlim(0, longest / (1 - 0.0095 * max(map(len, texts), default=0)) or 1)  # Room for the longest text.
    axes.locator_params(axis="x", nbins=6 if longest < 10**7 else 4, integer=True)


def _figures(bar: ValueBar, one: str) -> str:
    return f"{counted(bar.rows, one)}, {counted(bar.at_risk)} at risk ({percent(bar.at_risk, bar.rows)})"


def _in_order(values: list[str | None]) -> list[int]:
    """Return the places of the values in their order."""
    numbers = [number_in(value) for value in values]
    if all(number is not None for number, value in zip(numbers, values, strict=True) if value is not None):
        return sorted(range(len(values)), key=lambda i: (values[i] is None, numbers[i] or 0, values[i] or ""))
    return sorted(range(len(values)), key=lambda i: (values[i] is None, _natural(values[i] or ""), values[i] or ""))


def _natural(text: str) -> list[tuple[int, str]]:
    """Return texts and numbers by turns, so that ``9 to 12`` stands before ``10 to 12``."""
    parts = re.split(r"0*([0-9]+)", text)
    return [(len(part) if i % 2 else 0, part) for i, part in enumerate(parts)]


def _written(value: str) -> str:
    """Return a value as it is drawn; one that cannot be seen stands in quotes."""
    return named(value) if value.strip() else f'"{named(value)}"'


def _once_each(found: ValueRisk) -> str:
    return "; a person counts once for each of their values" if found.counted is RowsOrPeople.PEOPLE else ""


def _title(found: ValueRisk) -> str:
    number = len(found.values)
    shown = f" (the {MAX_VALUES} that most {found.counted} have of {number:,})" if number > MAX_VALUES else ""
    return f"{found.counted.capitalize()} safe and at risk by the value of {named(found.column)}{shown}"
