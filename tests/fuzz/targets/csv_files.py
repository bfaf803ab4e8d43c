"""The CSV reader: plain and gzip, every encoding, odd options; a stray sign anywhere, canaries in the rows.

The two ways to read a file (as a whole, in batches) must agree: the same table, or a refusal.
"""

from __future__ import annotations

import gzip
from encodings.aliases import aliases
from pathlib import Path
from typing import Any

import pyarrow as pa

import anon_core.kernels.compiled.encoding  # noqa: F401 - Compiled before memory is limited.
from anon_core.table import Table, from_arrow, read, streaming
from anon_core.table.options import ReadOptions
from tests.fuzz.drawing import Draw
from tests.fuzz.oddities import TEXTS
from tests.fuzz.oracle import CANARY, FindingError, judged, refuse_canary
from tests.fuzz.target import Target

ENCODINGS = ("utf-8", "utf-8-sig", "utf-16", "cp1252", "latin-1", "utf-16-le", "utf-32", "utf-7", "cp500", "shift_jis",
             "gb18030", "iso2022_jp", "hz", "idna", "punycode", "undefined", "rot13", "base64", "unicode_escape",
             "raw_unicode_escape", "mbcs", "", "\0", "é", *sorted(set(aliases.values())))  # fmt: skip
DELIMITERS = ("auto", ",", ";", "\t", "|", " ", "a", '"', "\n", "\r", "\0", "é", "", ",,", "\x1f", "\ufeff")
NAMES = ("a", "b", "town", "sex", "Name, Vorname", "a b", "1", "é", "id")
ENDS = ("\n", "\r\n", "\r", "\n\n", "\x85", "\u2028", "")
CELLS = (CANARY, CANARY, "", "1", '"', '""', f'"{CANARY}"', f'"{CANARY}\n{CANARY}"', f"{CANARY}\r", "\0", "é", "NA",
         f"'{CANARY}'", f'{CANARY}"', f'"{CANARY}', f"{CANARY};{CANARY}", f"{CANARY}|", "x" * 300)  # fmt: skip


def run(draw: Draw, folder: Path) -> None:
    written, given = draw.pick(ENCODINGS), draw.pick(("auto", "same", "utf-8", "other"))
    options = ReadOptions(
        delimiter=draw.pick(DELIMITERS),
        encoding={"auto": "auto", "same": written, "utf-8": "utf-8"}.get(given) or draw.pick(ENCODINGS),
        missing_words=tuple(draw.several(("", "NA", "-", "é", '"', "\0"), 2)),
        quoted_missing=not draw.chance(3),
        line_breaks=not draw.chance(3),
        headless_from=draw.pick((50, 1, 2)),
    )
    path = folder / "table.csv"
    packing = draw.number(0, 7)
    content = _free(draw) if draw.chance(3) else _table(draw, written)
    path.write_bytes(_packed(packing, content))
    tables = [judged(read, path, options), judged(_batches, path, options)]
    _agree(tables)
    if tables[0] is not None and CANARY.encode() not in content.split(b"\n")[0]:
        refuse_canary(repr(tables[0].names), "a name of a column")


def _free(draw: Draw) -> bytes:
    """Return bytes as they are; without a canary, for the first line may be anything."""
    return draw.rest()


def _table(draw: Draw, encoding: str) -> bytes:
    """Return a table whose header is of names and whose rows are of canaries, with odd signs between them."""
    delimiter, end = draw.pick(",;\t|"), draw.pick(ENDS[:3])
    names = [draw.pick(NAMES) if not draw.chance(6) else draw.pick(TEXTS) for _ in range(draw.number(1, 4))]
    if draw.chance(4):
        names[-1] = draw.pick(('"', '"b', 'b"', "'", '"b""', 'b"c'))
    text = delimiter.join(names) + end
    for _ in range(draw.number(0, 6)):
        text += delimiter.join(draw.pick(CELLS) for _ in range(draw.pick((len(names), len(names), 1, 5)))) + end
    rest = draw.rest().decode("utf-8", "replace").replace("~", CANARY)
    try:
        return (text + rest).encode(encoding, "replace")
    except (LookupError, ValueError, AttributeError):
        return (text + rest).encode("utf-8", "replace")


def _packed(packing: int, content: bytes) -> bytes:
    if packing < 5:
        return content
    packed = gzip.compress(content, compresslevel=1, mtime=0)
    return {5: packed, 6: packed[: len(packed) - len(content) % 12], 7: packed + content}[packing]


def _batches(path: Path, options: ReadOptions) -> Table:
    return from_arrow(pa.Table.from_batches(list(streaming.batches(path, options))))


def _agree(found: list[Any]) -> None:
    """:raises FindingError: one way reads what another refuses, or reads it differently."""
    plain, other = found
    if (plain is None) != (other is None) or (plain and _cells(plain) != _cells(other)):
        raise FindingError("readers disagree", "streaming.py:batches", f"{_size(plain)} and {_size(other)} rows")


def _cells(table: Table) -> Any:
    return table.to_arrow().to_pydict()


def _size(table: Table | None) -> str:
    return "a refusal" if table is None else f"{table.rows}"


TARGET = Target(
    run=run,
    share=0.14,
    drawn=0.02,
    words=(b'"', b'""', b",", b";", b"\t", b"|", b"\r\n", b"\r", b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff", b"\x1f\x8b",
           b"\0", b"~", b'"~"', b"\n\n", b"\xc2\x85", b"\xe2\x80\xa8", b"=1+1", b"\x1a"),
)  # fmt: skip
