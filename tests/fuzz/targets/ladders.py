"""Hierarchies made from values: every kind and setting, of a publication file and of the command, over odd cells."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Any

import click
from pydantic import ValidationError

from anon_airflow.commands.hierarchy_options import _KINDS, ChosenKind
from anon_core.hierarchy.build import ladder
from anon_core.hierarchy.columns import ladder_of
from anon_core.spec import Hierarchy
from tests.fuzz.drawing import Draw
from tests.fuzz.oddities import NUMBERS, TEXTS
from tests.fuzz.oracle import CANARY, judged
from tests.fuzz.target import Target
from tests.fuzz.targets.hierarchy_files import column

CELLS = ("1", "2", "10", "-3", "3.5", "1,5", "1.000", "15,000", "1e5", "1e400", "0.1", "-0", "+7", "٣", "½", CANARY, "", None,
         f"{CANARY}1", "2020-01-31", "2020-02-30", "31/12/1999", "01.02.2003", "2020", "2020-13", "0000-01-01", "9999-12-31",
         "10000-01-01", "2020-01-01T10:00:00", "2020-W10", "00100", "AO12", " 5", "5 ", "*", "1-5", "nan", "inf", "-inf",
         "9" * 40, "0." + "3" * 40, "1e-30", "\u0000", "é", "1_000", "0x10")  # fmt: skip
SETTINGS = ("5,10", "10", "0.1,0.3", "1e-9", "1e300", "18,30,65", "65,18", "month,year", "day", "year,month", "4,2,1", "1",
            "999999999999999999", "0", "-1", "*", "any", "2", "3,2", "a", "", ",", '"', "1,1", "decade", "quarter,year",
            "1e1000000", "0.0000001,1000000000", "1,2,4,8,16,32,64,128", "9" * 400)  # fmt: skip


def run(draw: Draw, folder: Path) -> None:
    cells = column([draw.pick(CELLS) for _ in range(draw.number(1, 8))])
    if draw.chance(2):
        given: dict[str, Any] = {draw.pick(("intervals", "prefix", "date", "root")): _setting(draw)}
        with contextlib.suppress(ValidationError):
            judged(ladder, cells, Hierarchy.model_validate(given), folder)
        return
    name = draw.pick([kind for kind in _KINDS if kind != "rules"])
    kind = ChosenKind(
        name=name,
        given=tuple(draw.pick(SETTINGS) for _ in range(draw.number(1, 3) if name == "cuts" else 1)),
        order=tuple(str(each) for each in draw.several(CELLS, 4)) if draw.chance(4) else (),
    )
    with contextlib.suppress(click.BadParameter):
        levels = judged(_refused_or, kind.levels, cells)
        if levels is not None:
            judged(ladder_of, cells, levels)
        judged(kind.wanted, cells)


def _refused_or(function: Any, *arguments: Any) -> Any:
    """Let the command line's own refusals pass: they are words of ours."""
    try:
        return function(*arguments)
    except click.BadParameter:
        return None


def _setting(draw: Draw) -> Any:
    days = ("day", "month", "quarter", "year", "decade")
    match draw.number(0, 3):
        case 0:
            return [draw.pick(NUMBERS) for _ in range(draw.number(1, 3))]
        case 1:
            return [draw.pick(days) for _ in range(draw.number(1, 3))]
        case 2:
            return [5, 10, 20][: draw.number(1, 3)]
        case _:
            return draw.pick(TEXTS)


TARGET = Target(run=run, share=0.08, drawn=0.03)
