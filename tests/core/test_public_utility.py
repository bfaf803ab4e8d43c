"""What the public report says about utility must not tell who was removed."""

from __future__ import annotations

from itertools import product

import numpy as np

from anon_core.frequency import FrequencyTable
from anon_core.hierarchy.build import ladder
from anon_core.plan import RecodingPlan
from anon_core.report.measured import PublicUtility, public_utility_note
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
        note = public_utility_note(plan, {})
        PublicUtility.model_validate(note)
        figures.add(tuple(sorted(note.items())))
    assert len(figures) == 1
    (told,) = figures
    assert all(figure == round(figure, 2) for _, figure in told)
    assert 0 < dict(told)["nue"] < 1
