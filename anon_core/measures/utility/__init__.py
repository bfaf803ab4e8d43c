"""How useful a table still is after recoding.

:func:`utility` measures everything. A search that needs one figure of many plans takes it from
:mod:`~anon_core.measures.utility.loss` or :mod:`~anon_core.measures.utility.entropy` alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from anon_core.comparison import Comparison
from anon_core.measures.utility.cells import RecodedCells, released, strays
from anon_core.measures.utility.entropy import Entropy, entropy
from anon_core.measures.utility.loss import Changes, Loss, changes, loss
from anon_core.measures.utility.queries import Marginals, Queries, marginals, queries


@dataclass(frozen=True, slots=True, kw_only=True)
class Utility:
    """
    What is left of a table, and what it cost.

    ``entropy`` and ``changes`` are None where nobody knows which row became which, ``entropy`` also where labels do
    not cover what they were made from; ``reason`` says so.
    """

    entropy: Entropy | None
    changes: Changes | None
    reason: str | None
    loss: Loss
    classes: ClassSizes
    marginals: Marginals
    queries: Queries


def utility(
    comparison: Comparison, weights: Mapping[str, float] | None = None, *, k: int | None = None, seed: int = 0
) -> Utility:
    """
    Measure how useful a release is beside its original.

    ``weights`` say how much the columns matter (1 where they say nothing), ``k`` is what the average class size is
    held against, and the ``seed`` repeats what is sampled.

    >>> import numpy as np, pyarrow as pa
    >>> from anon_core.frequency import FrequencyTable
    >>> from anon_core.hierarchy.ladder import climb
    >>> from anon_core.plan import RecodingPlan
    >>> sexes = pa.array(["F", "M"])
    >>> collected = FrequencyTable.from_codes(["sex"], [np.array([0, 1, 0])], [sexes])
    >>> ladder = climb("sex", sexes, {"F": [], "M": []}, ["root"])
    >>> found = utility(Comparison.of_plan(RecodingPlan.unchanged(collected, [ladder])), k=2)
    >>> found.entropy.overall, found.loss.overall, found.classes.average
    (1.0, 0.0, 1.5)
    """
    cells = released(comparison)
    known = cells if isinstance(cells, RecodedCells) else None
    reason = _reason(known)
    return Utility(
        entropy=entropy(known, weights) if known is not None and reason is None else None,
        changes=None if known is None else changes(known),
        reason=reason,
        loss=loss(cells, weights),
        classes=class_sizes(comparison, k),
        marginals=marginals(comparison),
        queries=queries(comparison, seed=seed),
    )


def _reason(cells: RecodedCells | None) -> str | None:
    """Say why entropy cannot be measured, and what to change; None if it can."""
    if cells is None:
        return "it is not known which row became which; a run has them in its internal report"
    astray = strays(cells)
    if astray:
        some = "1 cell is" if astray == 1 else f"{astray} cells are"
        return f"{some} published as something that does not cover what was collected: check pairing and hierarchies"
    return None


@dataclass(frozen=True, slots=True, kw_only=True)
class ClassSizes:
    """
    The classes of a release over its quasi-identifiers; lower is better for every figure.

    Discernibility is from Bayardo, Agrawal: Data privacy through optimal k-anonymization, 2005; the average class size
    from LeFevre, DeWitt, Ramakrishnan: Mondrian multidimensional k-anonymity, 2006.

    ``normalised`` is LeFevre's C_avg, rows / classes / k: 1 is as fine as k allows; None without a k. ``average`` is
    None when nothing is published. ``discernibility`` says from how many rows each row cannot be told apart, added up.
    """

    classes: int
    average: float | None
    normalised: float | None
    discernibility: int


def class_sizes(comparison: Comparison, k: int | None = None) -> ClassSizes:
    """
    Measure the classes that are published; where units are counted, a class is as large as its units are many.

    Rows at the root everywhere are a class like any other. A removed row cannot be told apart from any row: it costs
    as much discernibility as the original has rows.
    """
    sizes = comparison.after.class_sizes()
    average = float(sizes.sum() / len(sizes)) if len(sizes) else None
    return ClassSizes(
        classes=len(sizes),
        average=average,
        normalised=None if average is None or not k else average / k,
        discernibility=int(np.dot(sizes, sizes)) + comparison.rows_removed * comparison.before.rows,
    )
