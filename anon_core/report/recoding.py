"""A recoding as the reports show it: counts per column and level."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from anon_core.recode.outcome import Recoding
from anon_core.score.linkage import KAnonymity, k_anonymity
from anon_core.score.utility import utility
from anon_core.spec import Publication


def recoding_note(publication: Publication, recoding: Recoding) -> dict[str, Any]:
    """Return what a recoding did and cost, without a single value."""
    plan = recoding.plan
    rows = plan.frequencies.rows - plan.rows_removed
    at = {name: i for i, name in enumerate(plan.frequencies.names)}
    cells = plan.cells_changed
    columns = []
    for name in publication.published:
        column = publication.columns[name]
        levels = [{"level": 0, "name": "as collected", "rows": rows}]
        if name in at:
            ladder = plan.ladders[at[name]]
            used = plan.rows_by_level(at[name])
            levels = [{"level": n, "name": ladder.level_names[n], "rows": count} for n, count in used.items()]
        columns.append(
            {
                "name": name,
                "role": str(column.role.value),
                "description": column.description,
                "levels": levels,
                "cells_changed": cells.get(name, 0),
            }
        )
    cost = utility(plan, publication.priority_weights)
    return {
        "recoding": {
            "method": recoding.method,
            "why": recoding.why,
            "rows_changed": plan.rows_changed,
            "columns": columns,
        },
        "utility": {
            "loss": cost.loss,
            "weighted_loss": cost.weighted_loss,
            "rows_changed_share": cost.rows_changed_share,
            "cells_changed_share": cost.cells_changed_share,
        },
        "candidates": [asdict(candidate) for candidate in recoding.candidates],
        "optimal": recoding.optimal,
        "rows_removed": plan.rows_removed,
        "after": measured_note(
            publication, k_anonymity(plan.released(), plan.frequencies.names, k=publication.privacy.k)
        ),
    }


def measured_note(publication: Publication, measured: KAnonymity) -> dict[str, Any]:
    """Return where the quasi-identifiers stand."""
    figures = asdict(measured)
    return {"columns": list(publication.quasi_identifiers), **figures, "k": {"exact": figures["k"]}}
