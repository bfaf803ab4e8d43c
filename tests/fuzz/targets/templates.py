"""Templates in ``source.file``: filled in, or refused in our words; never a program that runs for ever."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from anon_airflow.sources.template import render
from tests.fuzz.drawing import Draw
from tests.fuzz.oracle import judged
from tests.fuzz.target import Target

WORDS = ("{{ ", " }}", "{% ", " %}", "{# ", " #}", "ds", "ds_nodash", "ts", "data_interval_start", "data_interval_end",
         "logical_date", ".year", ".strftime('%Y')", " | ds", " | upper", " | list", " | join", " * ", " ** ", "10", "9" * 9,
         "'x'", "[", "]", "(", ")", "for i in range(9)", "endfor", "if ", "endif", "set x = ", "macro m()", "endmacro",
         "include 'x'", "import 'x' as y", "extends 'x'", "|attr('__class__')", "''.__class__", "range(99999)", "%s", "%",
         "{}.format", "|format", "~", "1//0", "-", "lipsum()", "cycler()", "namespace()", "dict()", "|tojson", "|pprint",
         "|batch(3)", "|center(99)", "|indent(9)", "/", ".csv", "in/", "\n", "\0", "loop", "self", "caller()",
         "raw %}", "endraw")  # fmt: skip
DAYS = (None, datetime(2026, 11, 1, tzinfo=UTC), datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC))


def run(draw: Draw, folder: Path) -> None:
    start, end = draw.pick(DAYS), draw.pick(DAYS)
    free = draw.chance(3)
    words = [draw.pick(WORDS) for _ in range(0 if free else draw.number(1, 12))]
    text = draw.rest(80).decode("utf-8", "surrogateescape") if free else "".join(words)
    judged(render, text, start, end)


TARGET = Target(run=run, share=0.1, drawn=0.02, words=tuple(word.encode() for word in WORDS), max_length=256)
