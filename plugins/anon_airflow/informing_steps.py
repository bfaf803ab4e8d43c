"""The steps that only inform and decide nothing: if one of them fails, the run goes on."""

from __future__ import annotations

from dataclasses import asdict
from functools import partial
from typing import Any

from anon_airflow.run.context import Run
from anon_airflow.run.guard import step
from anon_airflow.run.progress import Progress, say, throttled
from anon_airflow.sources.staging import staged_rows

Result = dict[str, Any]

SETS_SO_FAR = "searching: {:,} column sets so far"
UNIQUE = "unique_columns"
"""The key in the note of `detect` for the column sets on which every row is unique."""
MAX_SELECTED = 8
"""With more quasi-identifiers than this, the list of all their subsets is left out of the report."""


@step
def detect(run: Run, progress: Progress | None = None) -> Result:
    """
    Find the column sets that single people out in the data as collected, and measure the declared quasi-identifiers.

    The sets on which every person is alone are noted for `score`, so that they are searched for once.
    """
    from anon_core.detection.selective import select
    from anon_core.detection.singletons import detect as search
    from anon_core.detection.unique_columns import unique_column_combinations
    from anon_core.report.measured import measured_note
    from anon_core.report.recoding import assess_publication

    rows, publication = staged_rows(run), run.publication
    quasi, max_size = publication.quasi_identifiers, publication.detect.max_size
    say(progress, f"searching {len(rows.names)} columns for sets that single people out")
    counting = partial(throttled(progress), SETS_SO_FAR)
    people = rows.people(rows.names)
    unique = unique_column_combinations(people, max_size=max_size, progress=counting)
    found = search(people, max_size=max_size, unique=unique, progress=counting)
    before = assess_publication(publication, rows)
    listed = 0 < len(quasi) <= MAX_SELECTED
    run.note(
        "detect",
        {
            "detection": asdict(found),
            "before": measured_note(quasi, before),
            "selection": asdict(select(rows.count(quasi))) if listed else None,
            UNIQUE: {**asdict(unique), "sets": None},  # The sets are noted above, as identifiers.
        },
    )
    best = found.best
    return {
        "rows": found.rows,
        "identifiers": len(found.identifiers),
        "best": list(best.columns) if best else [],
        "best_singletons": best.singletons if best else 0,
        "k_before": before.k.k,
        "singletons_before": before.k.singletons,
    }


@step
def score(run: Run, progress: Progress | None = None) -> Result:
    """
    Score every column: its part in the sets on which people are alone, distinct values, entropy, unique values.

    `score` takes the sets that `detect` noted. It searches itself if that note is missing, or if the publication file
    asks `score` for other sets: with equal rows counted once, or with some rows that need not be unique.
    """
    from anon_core.detection.unique_columns import UniqueColumns, unique_column_combinations
    from anon_core.measures.sensitivity.scores import score_columns
    from anon_core.report.measured import scoring_note

    rows, settings = staged_rows(run), run.publication.detect
    noted = run.noted_or_none("detect")
    if noted and not (settings.approximate or settings.ignore_duplicates):
        unique = UniqueColumns(**{**noted[UNIQUE], "sets": tuple(map(tuple, noted["detection"]["identifiers"]))})
    else:
        say(progress, f"searching {len(rows.names)} columns for sets on which every person is alone")
        unique = unique_column_combinations(
            rows.people(rows.names),
            max_size=settings.max_size,
            approximate=settings.approximate or 0.0,
            ignore_duplicates=settings.ignore_duplicates,
            progress=partial(throttled(progress), SETS_SO_FAR),
        )
    scores = score_columns(rows, unique, {name: settings.probability_of(name) for name in rows.names})
    run.note("score", scoring_note(unique, scores, ignore_duplicates=settings.ignore_duplicates))
    return {
        "columns": len(rows.names),
        "unique_sets": len(unique.sets),
        "average": scores.average,
        "reason": scores.reason,
    }
