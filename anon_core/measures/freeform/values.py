"""How sensitive each value of a column is, and whether it can be observed, at every level of its taxonomy."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import numpy as np

from anon_core.errors import InvalidInputError
from anon_core.hierarchy.taxonomy import Taxonomy
from anon_core.kernels import Integers
from anon_core.policy import Belief, Guard, Sensitivity
from anon_core.table import Mask
from anon_core.wording import counted

Shares = np.ndarray[Any, np.dtype[np.float64]]

ROUNDING = 1e-12
"""By how much a sum of floats may differ from a threshold and still count as equal."""
_DEFAULT = "default"


class Definition(StrEnum):
    """
    Which inferred values count as breaches.

    ``BREACHES``: published values, as in the paper's Definition 3.3. ``EXTENDED``: published values and all labels
    above them, as in Definition 3.4. Only extended breaches never become more by generalising.
    """

    BREACHES = "3.3"
    EXTENDED = "3.4"


@dataclass(frozen=True, slots=True, kw_only=True)
class GuardedColumn:
    """
    A taxonomy, and for each label how sensitive it is and whether an adversary can observe it.

    ``sensitivity`` is s(a), the probability that a label stands for a sensitive leaf. ``hidden`` labels cannot be
    observed, so an adversary may want to infer them. ``floors`` has for each label the lowest one at or above it that
    can be observed; the root says nothing, so it can always be observed.
    """

    taxonomy: Taxonomy
    sensitivity: Shares
    observability: Shares
    hidden: Mask
    floors: Integers

    @property
    def has_secrets(self) -> bool:
        """Whether there is anything to infer: a hidden label that is sensitive."""
        return bool((self.hidden & (self.sensitivity > 0)).any())


def guarded(taxonomy: Taxonomy, guard: Guard | None, sigma_o: float) -> GuardedColumn:
    """
    Return a column with the sensitivity and the observability of its labels.

    Without a guard no leaf is sensitive, and every label can be observed. Sensitivity, where Leaf(a) are the leaves
    below a, and sLeaf(a) those of them that are guarded:

    - ``aggregate``: ``|sLeaf(a)| / |Leaf(a)|``, the paper's (1);
    - ``non-aggregate``: ``|sLeaf(a)| / |Leaf(a)|^2``, the paper's (2);
    - ``frequency``: rows of sLeaf(a) by rows of Leaf(a), as collected; 0 where no row has any of them. Leaves are not
      equally likely, and an adversary who knows the column knows how likely they are.

    Observability: by sensitivity, 0 where all leaves are sensitive and 1 elsewhere; by belief, the given figure for
    leaves (or for all leaves below a label, where the nearest label counts), and ``min(1, boost + the highest of the
    children)`` above them.

    :raises InvalidInputError: a guard or a belief names no label of the taxonomy.
    """
    leaves = taxonomy.add_up(taxonomy.counted.astype(np.float64))
    secret = _guarded_leaves(taxonomy, guard)
    secrets = taxonomy.add_up(secret.astype(np.float64))
    sensitivity = _sensitivity(taxonomy, guard, secret, secrets, leaves)
    observability = np.where((secrets == leaves) & (leaves > 0), 0.0, 1.0)
    if guard is not None and isinstance(guard.observability, Belief):
        observability = _believed(taxonomy, guard.observability)
    seen = observability >= sigma_o - ROUNDING
    floors = np.arange(len(taxonomy.labels))
    for label in np.argsort(-taxonomy.levels, kind="stable").tolist():
        if not seen[label] and label != taxonomy.root:
            floors[label] = floors[taxonomy.parents[label]]
    return GuardedColumn(
        taxonomy=taxonomy, sensitivity=sensitivity, observability=observability, hidden=~seen, floors=floors
    )


def refuse_disarmed(column: GuardedColumn, guard: Guard | None) -> None:
    """
    Refuse a guard that has no effect.

    :raises InvalidInputError: every guarded value can be observed, according to `observability`.
    """
    if guard is not None and not column.has_secrets:
        raise InvalidInputError(
            f"column {column.taxonomy.column!r}: `observability` in privacy.freeform says that all guarded values "
            "can be observed, so the guard has no effect; correct the belief, or take the column out"
        )


def _guarded_leaves(taxonomy: Taxonomy, guard: Guard | None) -> Mask:
    found = np.zeros(len(taxonomy.labels), np.bool_)
    if guard is not None:
        for label in _positions(taxonomy, guard.guard, "guard"):
            found |= taxonomy.below(label)
    return found & taxonomy.counted


def _positions(taxonomy: Taxonomy, names: Mapping[str, Any] | tuple[str, ...], what: str) -> list[int]:
    found = [taxonomy.position(name) for name in names]
    column = f"column {taxonomy.column!r}, {what} in privacy.freeform"
    if strange := sum(one is None for one in found):
        raise InvalidInputError(
            f"{column}: {strange} of {counted(len(found), 'name')} found neither among the values nor among the labels "
            "of its hierarchy; write them as the hierarchy does"
        )
    if unclear := sum(map(taxonomy.is_ambiguous, names)):
        raise InvalidInputError(
            f"{column}: {unclear} of {counted(len(found), 'name')} a value or label and also a label above others, so "
            "that it is not clear which is meant; rename one of them in the hierarchy file, or write the upper one as "
            "it is published, such as `AOSTA (level 1)`"
        )
    return [one for one in found if one is not None]


def _sensitivity(taxonomy: Taxonomy, guard: Guard | None, secret: Mask, secrets: Shares, leaves: Shares) -> Shares:
    model = guard.sensitivity if guard else Sensitivity.AGGREGATE
    if model is Sensitivity.FREQUENCY:
        rows = np.where(taxonomy.counted, taxonomy.leaf_rows, 0).astype(np.float64)
        all_rows = taxonomy.add_up(rows)
        own = taxonomy.add_up(np.where(secret, rows, 0.0))
        return np.asarray(np.divide(own, all_rows, out=np.zeros_like(own), where=all_rows > 0))
    share = secrets / np.maximum(leaves, 1)
    return np.asarray(share / np.maximum(leaves, 1) if model is Sensitivity.NON_AGGREGATE else share)


def _believed(taxonomy: Taxonomy, belief: Belief) -> Shares:
    named = {name: share for name, share in belief.belief.items() if name != _DEFAULT}
    own = np.full(len(taxonomy.labels), belief.belief.get(_DEFAULT, 0.0))
    positions = dict(zip(_positions(taxonomy, named, "belief"), named.values(), strict=True))
    for label in sorted(positions, key=lambda one: -int(taxonomy.levels[one])):
        own[taxonomy.below(label)] = positions[label]
    observability = np.where(taxonomy.leaves, own, 0.0)
    highest = observability.copy()
    for label in np.argsort(taxonomy.levels, kind="stable").tolist():
        if not taxonomy.leaves[label] or label == taxonomy.root:
            observability[label] = max(observability[label], min(1.0, belief.boost + highest[label]))
        if label != taxonomy.root:
            above = taxonomy.parents[label]
            highest[above] = max(highest[above], observability[label])
    return observability
