"""The scores of the columns as the internal report shows them: counts and names."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from anon_core.score.columns import Scores, UniqueSets

NAMED = 200
"""The report names so many unique sets, the smallest first; a wide table may have a hundred thousand."""


def scoring_note(unique: UniqueSets, scores: Scores, *, ignore_duplicates: bool) -> dict[str, Any]:
    """Return the scores, and the sets they rest on, without a single value."""
    return {
        "columns": [asdict(column) for column in scores.columns],
        "average": scores.average,
        "reason": scores.reason,
        "unique_columns": {
            "rows": unique.rows,
            "duplicate_rows": unique.duplicate_rows,
            "max_size": unique.max_size,
            "approximate": unique.approximate,
            "ignore_duplicates": ignore_duplicates,
            "found": len(unique.sets),
            "sets": [list(names) for names in unique.sets[:NAMED]],
        },
        "exact_method": scores.exact_method,
        "exact_error": scores.exact_error,
        "seed": scores.seed,
        "samples": scores.samples,
    }
