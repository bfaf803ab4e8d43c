"""Small tables with taxonomies and guards, and freeform attacks by trying every valueset and every target."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import product

import numpy as np
from hypothesis import assume
from hypothesis import strategies as st

from anon_core.frequency import FrequencyTable
from anon_core.hierarchy.ladder import Ladder
from anon_core.hierarchy.taxonomy import Taxonomy, tree_of
from anon_core.measures.freeform import Definition, GuardedColumn, guarded
from anon_core.policy import Belief, Guard, Observability, Sensitivity
from tests.properties.tables import Small, ladders_for, small_tables

LIMITS = [0.0, 0.2, 0.25, 1 / 3, 0.5, 0.6, 0.75, 1.0]


@dataclass(frozen=True, slots=True, kw_only=True)
class Guarded:
    """A table, its ladders, what is guarded, and the thresholds."""

    small: Small
    ladders: tuple[Ladder, ...]
    guards: tuple[Guard | None, ...]
    sigma_o: float
    sigma_t: float

    @property
    def columns(self) -> list[GuardedColumn]:
        frequencies = FrequencyTable.of(self.small.table)
        found = []
        for at, (ladder, guard) in enumerate(zip(self.ladders, self.guards, strict=True)):
            rows = np.bincount(frequencies.codes[at], frequencies.weights, minlength=ladder.maps.shape[1])
            found.append(guarded(tree_of(ladder, rows.astype(np.int64)), guard, self.sigma_o))
        return found

    def published(self, levels: list[list[int]]) -> FrequencyTable:
        """The table with every value at a level of its own, as labels."""
        frequencies = FrequencyTable.of(self.small.table)
        codes = [
            ladder.maps[np.array(levels[at])[own], own]
            for at, (ladder, own) in enumerate(zip(self.ladders, frequencies.codes, strict=True))
        ]
        return FrequencyTable.from_codes(
            frequencies.names, codes, [ladder.labels for ladder in self.ladders], frequencies.weights
        )


@st.composite
def guarded_tables(draw: st.DrawFn) -> Guarded:
    """Any small table with any taxonomy, guards at any node, both models of observability, all of sensitivity."""
    small = draw(small_tables(max_columns=3, max_rows=8))
    ladders = draw(ladders_for(small, unmapped=False))
    assume(all(map(climbs, ladders)))
    guards = [draw(_guards(ladder)) for ladder in ladders]
    return Guarded(
        small=small,
        ladders=tuple(ladders),
        guards=tuple(guards),
        sigma_o=draw(st.sampled_from([0.3, 0.5, 1.0])),
        sigma_t=draw(st.sampled_from(LIMITS)),
    )


def climbs(ladder: Ladder) -> bool:
    """Whether no label comes again above another one: hierarchy files with such circles are refused."""
    for path in ladder.maps.T.tolist():
        steps = [label for at, label in enumerate(path) if not at or label != path[at - 1]]
        if len(set(steps)) < len(steps):
            return False
    return True


@st.composite
def _guards(draw: st.DrawFn, ladder: Ladder) -> Guard | None:
    every = {label for label in ladder.labels.to_pylist() if label is not None}
    # A word that stands at two levels with two meanings is refused.
    names = sorted(name for name in every if not any(label.startswith(f"{name} (level ") for label in every))
    if not names or draw(st.integers(0, 3)) == 0:
        return None
    chosen = draw(st.lists(st.sampled_from(names), min_size=1, max_size=2, unique=True))
    shares = st.sampled_from([0.0, 0.3, 0.5, 1.0])
    believed = draw(st.dictionaries(st.sampled_from([*names, "default"]), shares, max_size=3))
    by_belief = Belief(belief=believed, boost=draw(st.sampled_from([0.0, 0.2, 0.5, 1.0])))
    observability: Observability | Belief = by_belief if draw(st.booleans()) else Observability.SENSITIVITY
    return Guard(guard=tuple(chosen), sensitivity=draw(st.sampled_from(Sensitivity)), observability=observability)


def leaves_below(taxonomy: Taxonomy, label: int) -> list[int]:
    counted = [leaf for leaf, text in enumerate(taxonomy.labels) if taxonomy.leaves[leaf] and text is not None]
    return [leaf for leaf in counted if label in taxonomy.path(leaf)]


def sensitivity_of(taxonomy: Taxonomy, guard: Guard | None, label: int) -> Fraction:
    """The paper's (1) and (2), and by how frequent leaves are."""
    if guard is None:
        return Fraction(0)
    leaves = leaves_below(taxonomy, label)
    if not leaves:  # A gap counts for nothing.
        return Fraction(0)
    guards = {taxonomy.labels.index(name) for name in guard.guard}
    secret = [leaf for leaf in leaves if guards & set(taxonomy.path(leaf))]
    if guard.sensitivity is Sensitivity.FREQUENCY:
        rows = sum(int(taxonomy.leaf_rows[leaf]) for leaf in leaves)
        return Fraction(sum(int(taxonomy.leaf_rows[leaf]) for leaf in secret), rows) if rows else Fraction(0)
    below = len(leaves) ** (2 if guard.sensitivity is Sensitivity.NON_AGGREGATE else 1)
    return Fraction(len(secret), below)


def observability_of(taxonomy: Taxonomy, guard: Guard | None, label: int) -> float:
    """As the paper has it, one label at a time, children first."""
    if guard is None or not isinstance(guard.observability, Belief):
        secret = guard is not None and sensitivity_of(
            taxonomy, guard.model_copy(update={"sensitivity": Sensitivity.AGGREGATE}), label
        )
        return 0.0 if secret == 1 else 1.0
    belief = guard.observability
    if taxonomy.leaves[label] and label != taxonomy.root:
        for one in taxonomy.path(label):
            if taxonomy.labels[one] is not None and taxonomy.labels[one] in belief.belief:
                return belief.belief[str(taxonomy.labels[one])]
        return belief.belief.get("default", 0.0)
    children = [
        one for one in range(len(taxonomy.labels)) if one != taxonomy.root and int(taxonomy.parents[one]) == label
    ]
    return min(1.0, belief.boost + max(observability_of(taxonomy, guard, child) for child in children))


def attacks(table: Guarded, published: FrequencyTable, definition: Definition) -> list[tuple[int, Fraction]]:
    """Every attack on a table, by trying all valuesets and targets: the column attacked, and the threat."""
    trees = [column.taxonomy for column in table.columns]
    rows = [
        (tuple(int(codes[n]) for codes in published.codes), int(weight))
        for n, weight in enumerate(published.weights.tolist())
    ]
    cuts = [{label for row, _ in rows for label in tree.path(row[at])} for at, tree in enumerate(trees)]
    seen = [
        [label for label in sorted(cut) if label == tree.root or observability_of(tree, guard, label) >= table.sigma_o]
        for tree, cut, guard in zip(trees, cuts, table.guards, strict=True)
    ]
    found = []
    for target, tree in enumerate(trees):
        wanted = cuts[target] if definition is Definition.EXTENDED else {row[target] for row, _ in rows}
        secrets = [
            label for label in sorted(wanted) if observability_of(tree, table.guards[target], label) < table.sigma_o
        ]
        others = [at for at in range(len(trees)) if at != target]
        for chosen in product(*(seen[at] for at in others)):
            matching = [
                (row, weight)
                for row, weight in rows
                if all(label in trees[at].path(row[at]) for at, label in zip(others, chosen, strict=True))
            ]
            support = sum(weight for _, weight in matching)
            for secret in secrets if support else ():
                inside = sum(weight for row, weight in matching if secret in tree.path(row[target]))
                threat = Fraction(inside, support) * sensitivity_of(tree, table.guards[target], secret)
                found.append((target, threat))
    return found
