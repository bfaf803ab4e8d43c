"""Released rows counted again: a plan's word is not taken for what a file will hold."""

from __future__ import annotations

import numpy as np

from anon_core.engines.engine import Engine
from anon_core.errors import InternalError
from anon_core.frequency import FrequencyTable
from anon_core.plan import RecodingPlan


def recount(released: Engine, plan: RecodingPlan) -> FrequencyTable:
    """
    Return the classes of released rows, counted from them, if they are those that the plan promises.

    Classes are compared by their labels and their sizes: an index that went stale somewhere shows here.

    :raises InternalError: they are not.
    """
    found, planned = released.count(plan.frequencies.names), plan.released()
    codes = []
    for column, domain, ladder in zip(found.codes, found.domains, plan.ladders, strict=True):
        at = {label: code for code, label in enumerate(ladder.labels.to_pylist())}
        strange = len(at)  # No class of the plan has this code.
        codes.append(np.array([at.get(label, strange) for label in domain.to_pylist()], np.int64)[column])
    labels = [ladder.labels for ladder in plan.ladders]
    if not all(int(column.max(initial=0)) < len(known) for column, known in zip(codes, labels, strict=True)):
        raise _differs()
    again = FrequencyTable.from_codes(found.names, codes, labels, found.weights)
    pairs = zip((*again.codes, again.weights), (*planned.codes, planned.weights), strict=True)
    if not all(np.array_equal(one, other) for one, other in pairs):
        raise _differs()
    return found


def _differs() -> InternalError:
    return InternalError("released classes that differ from the plan", "engines.recount")
