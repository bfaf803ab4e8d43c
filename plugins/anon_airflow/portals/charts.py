"""Pictures on the dataset page: SVG written here, coloured by the page, with every number in words beside it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from markupsafe import Markup, escape

from anon_airflow.portals.words import figure, percent
from anon_core.report.meant_k import meant_k

WIDTH = 300
"""Drawn for the width of a phone: on a wide screen pictures stand beside each other."""
MOST_VERSIONS = 12
_LETTER = 6.6
"""About how wide a letter is, at the size that texts have here."""


def rows_chart(versions: Sequence[Mapping[str, Any]]) -> Markup:
    """How many rows each version has, oldest first; nothing for a single one."""
    shown = [one for one in reversed(versions[:MOST_VERSIONS]) if isinstance(_rows_of(one), int)]
    if len(shown) < 2:
        return Markup("")
    bars = [(_label(one), _rows_of(one), figure(_rows_of(one))) for one in shown]
    return _lying("Rows in each version", bars, None)


def group_chart(versions: Sequence[tuple[Mapping[str, Any], Mapping[str, Any]]]) -> Markup:
    """The k that the newest rule means (the smaller, where it means two), in each version, and what it asks for."""
    newest = _privacy(versions[0][1])
    rule, means = newest.get("k_required"), str(newest.get("k_means"))
    bars = []
    for manifest, report in reversed(versions[:MOST_VERSIONS]):
        measured = meant_k(means, None, _privacy(report).get("k"))
        found = [k.measured for k in measured if k.measured is not None]
        if found:
            bars.append((_label(manifest), min(found), figure(min(found))))
    if not bars:
        return Markup("")
    title = (
        "Rows that look alike, at least"
        if len(meant_k(means, None)) == 1
        else "Rows or people that may be meant, at least"
    )
    return _lying(title, bars, rule if isinstance(rule, int) else None)


def _privacy(report: Mapping[str, Any]) -> Mapping[str, Any]:
    return report.get("privacy") or {}


def detail_chart(columns: Sequence[Mapping[str, Any]]) -> Markup:
    """How many rows say what each column says as collected, and how many say it more coarsely."""
    bars = []
    for column in columns:
        levels = [level for level in column.get("levels") or () if isinstance(level.get("rows"), int)]
        total = sum(level["rows"] for level in levels)
        if column.get("role") == "quasi" and total:
            exact = sum(level["rows"] for level in levels if level.get("level") == 0)
            bars.append((str(column.get("name")), exact / total, percent(exact / total)))
    if not bars:
        return Markup("")
    return _lying("Rows with full detail, by column", bars, None, most=1.0)


def _lying(
    title: str, bars: Sequence[tuple[str, float, str]], rule: int | None, *, most: float | None = None
) -> Markup:
    """Bars that lie, one below the other: long labels fit, on a phone too."""
    top = most or max([value for _, value, _ in bars] + ([rule] if rule else [])) or 1
    height = 34 * len(bars) + (26 if rule else 6)
    room = WIDTH - 2 - max(len(said) for _, _, said in bars) * _LETTER - 8
    told = "; ".join(f"{label}: {said}" for label, _, said in bars)
    parts = [
        Markup('<figure class="chart"><figcaption>{}</figcaption>').format(title),
        Markup('<svg viewBox="0 0 {} {}" role="img" aria-label="{}">').format(WIDTH, height, _whole(title, told, rule)),
    ]
    for at, (label, value, said) in enumerate(bars):
        y, length = 34 * at, max(1.5, room * value / top) if value else 0
        parts.append(Markup('<text x="0" y="{}">{}</text>').format(y + 12, _short(label)))
        parts.append(_rectangle("rest", room, y)) if most else None
        parts.append(_rectangle("value", length, y))
        x = (room if most else length) + 6
        parts.append(Markup('<text class="said" x="{:.1f}" y="{}">{}</text>').format(x, y + 28, said))
    if rule:
        x, end = room * rule / top, 34 * len(bars)
        parts.append(Markup('<line x1="{0:.1f}" x2="{0:.1f}" y1="14" y2="{1}"/>').format(x, end))
        anchor, shift = ("end", -2) if x > WIDTH / 2 else ("start", 2)
        place = Markup('<text class="rule" x="{:.1f}" y="{}" text-anchor="{}">{}</text>')
        parts.append(place.format(x + shift, end + 14, anchor, f"the rule: at least {figure(rule)}"))
    return Markup("").join([*(part for part in parts if part), Markup("</svg></figure>")])


def _rectangle(kind: str, length: float, y: int) -> Markup:
    return Markup('<rect class="{}" x="0" y="{}" width="{:.1f}" height="12" rx="2"/>').format(kind, y + 17, length)


def _whole(title: str, told: str, rule: int | None) -> str:
    return f"{title}. {told}." + (f" The rule asks for at least {figure(rule)}." if rule else "")


def _rows_of(manifest: Mapping[str, Any]) -> Any:
    return (manifest.get("distributions") or [{}])[0].get("rows")


def _label(manifest: Mapping[str, Any]) -> str:
    return str(manifest["period"] or manifest["version"])


def _short(text: str) -> Markup:
    return escape(text if len(text) <= 40 else f"{text[:39]}…")
