"""What the public report says about detail must not tell who was removed."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from itertools import product

import numpy as np
import pytest

from anon_core.frequency import FrequencyTable
from anon_core.hierarchy.build import ladder
from anon_core.hierarchy.ladder import climb
from anon_core.plan import RecodingPlan
from anon_core.report import public
from anon_core.report.public_report import PublicDetail
from tests.properties.tables import Row, table_of

TOWNS, SEXES = ("Alba", "Bria", "Cusa"), ("F", "M")


def test_a_removed_row_changes_no_public_figure() -> None:
    """Found by attack: the exact distance of a marginal gave every value of the one removed person away."""
    rows: list[Row] = [(town, "F", "cook") for town in TOWNS for _ in range(9)] + [("Alba", "M", "clerk")] * 5
    figures = set()
    for removed in product(TOWNS, SEXES, ("clerk", "cook")):
        table = table_of(["town", "sex", "job"], [*rows, removed])
        frequencies = FrequencyTable.of(table)
        words = [domain.to_pylist() for domain in frequencies.domains]
        tuples = list(zip(*(codes.tolist() for codes in frequencies.codes), strict=True))
        is_it = np.array([tuple(words[i][code] for i, code in enumerate(row)) == removed for row in tuples])
        if frequencies.weights[is_it].sum() > 1:
            continue  # Others have this very tuple: removing it would remove them too.
        levels = np.zeros((3, len(tuples)), np.int8)
        levels[0, ~is_it] = 1
        ladders = tuple(ladder(column, None, None) for column in table.columns)  # type: ignore[arg-type]
        plan = RecodingPlan(frequencies=frequencies, ladders=ladders, levels=levels, removed=is_it)
        note = public.detail_note(plan, 3)
        PublicDetail.model_validate(note)
        levels = [public.public_levels_note(plan, at) for at in range(3)]
        figures.add(json.dumps([note, levels]))
    assert len(figures) == 1
    detail = json.loads(figures.pop())[0]
    assert detail["rows_coarser_share"] == 1.0
    assert detail["cells_coarser_share"] == pytest.approx(1 / 3)
    assert detail["columns_without_detail"] == ["town"]


@pytest.mark.parametrize("upper", [[0], [1], [0, 1], []])
def test_a_label_that_two_levels_share_does_not_tell_which_was_used(upper: list[int]) -> None:
    """AOSTA is the only town of its province: whether recoding went up to the province cannot be seen, or told."""
    table = table_of(["town"], [("AOSTA",), ("COGNE",)] * 5)
    frequencies = FrequencyTable.of(table)
    paths: dict[str | None, Sequence[str]] = {"AOSTA": ["AOSTA"], "COGNE": ["VALLEY"]}
    built = climb("town", table.column("town").domain, paths, ["province", "suppressed"])
    levels = np.zeros((1, 2), np.int8)
    levels[0, upper] = 1
    plan = RecodingPlan(frequencies=frequencies, ladders=(built,), levels=levels, removed=np.zeros(2, np.bool_))
    labels = Counter[str]()
    for code, weight in zip(plan.released_codes(0), frequencies.weights, strict=True):
        labels[built.labels[int(code)].as_py()] += int(weight)
    told = {one["name"]: one["rows"] for one in public.public_levels_note(plan, 0)}
    expected = {"as collected": labels["AOSTA"] + labels["COGNE"], "province": labels["VALLEY"]}
    assert told == {name: rows for name, rows in expected.items() if rows}
