"""Sniffing: of every file the layout is found or refused; of a table that is written well, the right one."""

from __future__ import annotations

from pathlib import Path

from anon_core.table import delimited, sniff
from anon_core.table.delimited import Layout
from anon_core.table.options import ReadOptions
from anon_core.table.reading import readable
from tests.fuzz.drawing import Draw
from tests.fuzz.oracle import CANARY, FindingError, judged, refuse_canary
from tests.fuzz.target import Target

CELLS = ("", "1", "a,b", "a;b", "a\tb", "a|b", "a|b|c", ",", ";", "|", '"', "é", f"{CANARY}|{CANARY}", "a\nb", "x y")


def run(draw: Draw, folder: Path) -> None:
    path = folder / "table.csv"
    if draw.chance(3):
        path.write_bytes(draw.rest() or b"a")
        judged(_layout, path)
        return
    delimiter, encoding = draw.pick(sniff.DELIMITERS), draw.pick(("utf-8", "utf-8-sig", "utf-16", "cp1252"))
    end = draw.pick(("\n", "\r\n"))
    # A sign that stands in every cell of a column, its name too, looks like a delimiter most of all.
    signs = [draw.pick(("", "", "|", ";", "||", ", ", "\t")) for _ in range(draw.number(2, 4))]
    # A name with a tab in it is refused, as any with a control character: such a name is data, or a stray quote.
    names = [f"n{at}{sign.strip(chr(9))}" for at, sign in enumerate(signs)]
    mixed = draw.chance(2)
    rows = [
        [draw.pick(CELLS) if mixed else f"{draw.number(0, 9)}{sign}" for sign in signs]
        for _ in range(draw.number(1, 8))
    ]
    rows.insert(0, names)
    everything = draw.chance(2)
    text = "".join(delimiter.join(_quoted(cell, everything) for cell in row) + end for row in rows)
    path.write_bytes(text.encode(encoding))
    layout = judged(_layout, path)
    if layout is None:
        raise FindingError("a table that is written well is refused", "delimited.py:layout_of")
    refuse_canary(repr(layout), "a name of a column")
    if layout.delimiter != delimiter or layout.names != names:
        raise FindingError("the wrong delimiter is sniffed", "sniff.py:delimiter_of", f"{layout!r}, not {delimiter!r}")


def _layout(path: Path) -> Layout:
    with readable(path):
        return delimited.layout_of(path, ReadOptions(encoding="auto"))


def _quoted(cell: str, everything: bool) -> str:
    """Quote a cell that could be mistaken for several: then no delimiter but the right one stands outside of quotes."""
    odd = everything or any(sign in cell for sign in (*sniff.DELIMITERS, '"', "\n", "\r"))
    return '"' + cell.replace('"', '""') + '"' if odd else cell


TARGET = Target(
    run=run, share=0.16, drawn=0.01, words=(b'"', b",", b";", b"|", b"\t", b"\r\n", b"\xff\xfe", b"\xef\xbb\xbf", b"\0")
)
