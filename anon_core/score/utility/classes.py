"""How large the classes of a release are: discernibility [Bayardo2005]_ and the average class size [LeFevre2006]_.

Bayardo, Agrawal: Data privacy through optimal k-anonymization, 2005. LeFevre, DeWitt, Ramakrishnan: Mondrian
multidimensional k-anonymity, 2006.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from anon_core.comparison import Comparison


@dataclass(frozen=True, slots=True, kw_only=True)
class ClassSizes:
    """
    The classes of a release over its quasi-identifiers; lower is better for every figure.

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
