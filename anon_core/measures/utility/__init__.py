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
    How much information is left in a table after recoding, and how much was lost.

    ``entropy`` and ``changes`` are None where it is not known which row became which. ``entropy`` is also None where
    labels do not cover the values that they were made from. ``reason`` says which.
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

    ``weights`` say how much the columns matter (1 for a column that is missing there), ``k`` is what the average class
    size is compared with, and the same ``seed`` gives the same samples.

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
    """Return why entropy cannot be measured, and what to change; None if it can."""
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
    None when no row is published. ``discernibility`` adds up, for each row, how many rows are equal to it.
    """

    classes: int
    average: float | None
    normalised: float | None
    discernibility: int


def class_sizes(comparison: Comparison, k: int | None = None) -> ClassSizes:
    """
    Measure the classes that are published; where units are counted, the size of a class is the number of its units.

    Rows at the root in every column are a class like any other. A removed row cannot be told apart from any row: it
    adds the number of rows of the original to the discernibility.
    """
    sizes = comparison.after.class_sizes()
    average = float(sizes.sum() / len(sizes)) if len(sizes) else None
    return ClassSizes(
        classes=len(sizes),
        average=average,
        normalised=None if average is None or not k else average / k,
        discernibility=int(np.dot(sizes, sizes)) + comparison.rows_removed * comparison.before.rows,
    )
