"""Decides what may be said in public of a release; no other module does.

A public figure follows from the published bytes, so that every reader can count it again, or it is rounded down to a
multiple of k. All other figures stay in the internal report: figures from people or originals would give away something
about people who are not published, or undo the recoding.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, fields, replace
from typing import Any

import numpy as np

from anon_core.errors import InvalidInputError
from anon_core.frequency import FrequencyTable
from anon_core.models.measurement import Measurement
from anon_core.models.model import PrivacyModel
from anon_core.models.row_sets import RowSets
from anon_core.models.unique_with_sensitive import UniqueWithSensitive
from anon_core.plan import RecodingPlan
from anon_core.registry import MODELS
from anon_core.report.assessment import assess
from anon_core.report.criteria import USUAL_K

GATE = ("evaluated", "formulas", "same_content", "unchanged")
"""Checks of the gate on the files themselves, whose sentences every reader of the files could write."""

NOT_MEASURED = {
    "other_knowledge": "whether others know more about people than the columns that are named here",
    "earlier_releases": "what this version tells together with the versions before it, which were not compared",
    "other_datasets": "what other datasets about the same people tell together with this one",
    "presence": "whether others learn that a person is in this table at all",
    "negative_disclosure": "whether others learn what a person surely is not or does not have",
    "definetti": "what can be learned from all groups together about the people of one (the deFinetti attack)",
    "households": "whether families, households or other groups of people can be recognised",
    "restored_values": "by the checks below, whether other published columns restore what was made coarser",
}
"""What a reader may believe to be promised, and no check measured, unless a model that passed has it in `resists`."""


def step_of(k: int) -> int:
    """Return the step of public counts: k, or five if k is smaller."""
    return max(k, USUAL_K)


def rounded_down(count: int, k: int) -> int:
    """
    Return a count as the public may know it; 0 stands for all counts below one step.

    >>> rounded_down(4, 5), rounded_down(5, 5), rounded_down(23, 5), rounded_down(7, 2)
    (0, 5, 20, 5)
    """
    return count // step_of(k) * step_of(k)


def figures_of_release(
    released: FrequencyTable,
    quasi_identifiers: Sequence[str],
    sensitive: Sequence[str],
    *,
    k: int,
    people: bool,
    exact: bool,
) -> dict[str, Any]:
    """
    Return k, rows that stand alone, risk and what classes give away, counted in the published rows only.

    Where ``people`` have several rows, figures of rows say nothing about people, and all are withheld. Without
    quasi-identifiers there are no classes. k of the smallest class is given if the policy means ``exact`` k.
    """
    if people or not quasi_identifiers:
        return {"k": {"exact": None}, "singletons": None, "risk": None, "sensitive": []}
    found = assess(released, quasi_identifiers, k=k, sensitive=sensitive)
    prosecutor = found.risk.prosecutor
    return {
        "k": {"exact": found.k.k if exact else None},
        "singletons": found.k.singletons,
        "risk": {
            "highest": prosecutor.highest,
            "average": prosecutor.average,
            "above": [asdict(one) for one in prosecutor.above],
            "below": [asdict(one) for one in found.risk.below],
        },
        "sensitive": [asdict(column) for column in found.sensitive],
    }


def public_checks(
    checks: Sequence[Measurement], suite: Mapping[str, Any], *, people: bool
) -> list[tuple[Measurement, PrivacyModel | None]]:
    """
    Return the checks as the public may read them, each with its model if it has one.

    Measurements that are only reported, and whose figures are not public, are left out.
    """
    models = dict(_models(suite))
    found = [(public_check(one, models.get(one.name), people=people), models.get(one.name)) for one in checks]
    return [(check, model) for check, model in found if check is not None]


def public_check(check: Measurement, model: PrivacyModel | None, *, people: bool) -> Measurement | None:
    """
    Return a check as the public may read it; None if the public may read nothing of it.

    If its model counts only published rows, it stays as it is. Otherwise the observed figure is withheld, and the
    sentence is the promise of the model. What is required is shown only if the publication file states it: a share of
    the people, counted, would tell how many they are. Checks of the gate itself have no figures, except those in
    ``GATE``; of the `expectations` of a file the public reads only whether they hold.
    """
    if model is None:
        if check.model == "gate" and check.name not in GATE:
            return replace(check, observed=None, required="holds", sentence="holds", counts={})
        return check
    if model.of_bytes and not people:
        return check
    if check.required is None and check.passed:
        return None
    end = "holds" if check.passed else "does not hold"
    promise = f"{model.title}: {model.promised(people=people)}: {end}"
    required = check.required if model.stated_limit or check.required is None else "holds"
    return replace(
        check, observed=None, required=required, sentence=promise, counts={}, rows_at_risk=0, reached="", goal=""
    )


def _models(suite: Mapping[str, Any]) -> Iterator[tuple[str, PrivacyModel]]:
    """Yield the models of a suite by the names of their checks."""
    for entry in suite.get("expectations", ()):
        if "model" in entry["meta"]:
            model, kwargs = MODELS.get(entry["meta"]["model"]), entry["kwargs"]
            own = {one.name: kwargs[one.name] for one in fields(model) if one.name in kwargs}
            yield str(entry["meta"]["name"]), model.of_arguments(own)


def not_measured(checks: Sequence[tuple[Measurement, PrivacyModel | None]]) -> list[str]:
    """Return in words what was not measured: all of ``NOT_MEASURED`` that no model with a passed check resists."""
    resisted = {what for check, model in checks if model and check.passed for what in model.resists}
    if strange := sorted(resisted - set(NOT_MEASURED)):
        raise InvalidInputError(f"a privacy model resists {', '.join(strange)}; we know {', '.join(NOT_MEASURED)}")
    return [sentence for what, sentence in NOT_MEASURED.items() if what not in resisted]


def public_levels_note(plan: RecodingPlan, column: int) -> list[dict[str, Any]]:
    """
    Return how many published rows are at each level of a column, as their labels show it.

    A label that two levels share counts for the lower one, so the figures do not show which of them recoding used.
    """
    ladder, keep = plan.ladders[column], ~plan.removed
    levels = ladder.lowest[plan.released_codes(column)[keep]]
    rows = np.bincount(levels, weights=plan.frequencies.weights[keep], minlength=ladder.height + 1)
    return [
        {"level": level, "name": ladder.level_names[level], "rows": int(count)}
        for level, count in enumerate(rows)
        if count
    ]


def detail_note(plan: RecodingPlan, columns: int) -> dict[str, Any]:
    """
    Return which share of the published rows and cells is coarser than collected, as their labels show it.

    ``columns`` is how many columns are published. The columns that say nothing any more are named; a column declared
    other makes classes too, has no levels, and is as collected.
    """
    keep = ~plan.removed
    weights = plan.frequencies.weights[keep]
    rows, cells, some, empty = int(weights.sum()), 0, np.zeros(len(weights), np.bool_), []
    for at, (name, ladder) in enumerate(zip(plan.frequencies.names, plan.ladders, strict=True)):
        codes = plan.released_codes(at)[keep]
        coarser = ladder.lowest[codes] > 0
        some |= coarser
        cells += int(weights[coarser].sum())
        if ladder.height and ladder.empty[codes].all():
            empty.append(name)
    return {
        "rows_coarser_share": int(weights[some].sum()) / rows,
        "cells_coarser_share": cells / (rows * max(columns, 1)),
        "columns_without_detail": empty,
        "rows_without_detail": plan.rows_blanked,
    }


def people_note(
    unit: Any, staged: Mapping[str, Any], published: int, checks: Sequence[Measurement], k: int
) -> dict[str, Any]:
    """
    Return whether people are counted, and, rounded, how many are published, stand alone, or have few others like them.

    ``unit`` is that of the publication file. ``verifiable``: some column of the source could contradict that rows are
    people; null if `stage` did not find out.
    """
    several = staged["unit"] is not None
    alone = [int(one.counts["alone"]) for one in checks if one.name == UniqueWithSensitive.key and one.counts]
    row_sets = [int(one.counts["people_by_all"]) for one in checks if one.name == RowSets.key and one.counts]
    return {
        "counted": "people" if several else "rows",
        "published": rounded_down(published, k) if several else None,
        "alone": rounded_down(max(alone), k) if several and alone else None,
        "row_sets": rounded_down(max(row_sets), k) if several and row_sets else None,
        "rows_are_people": not unit.columns,
        "verifiable": staged.get("verifiable"),
        "answered": [
            {"reason": one.reason, "by": one.by, "until": one.until.isoformat(), "column": getattr(one, "column", None)}
            for one in unit.answered
        ],
    }
