"""Mode ``safe``: local recoding into classes of k people in the exact sense, with a search for cheap ones.

The paper's greedy method, with ``*`` as a level and exact classes, loses more than ARX's local recoding. This search
does not. It builds classes by the order of nodes (:mod:`node_order`), searches a better order (:mod:`orders`) and
better neighbourhoods (:func:`improved`). Every step is deterministic for a seed.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np

from anon_core.kernels import Floats, Integers
from anon_core.plan import RecodingPlan
from anon_core.recoding.lattice.search import levels_for_all
from anon_core.recoding.method import Progress
from anon_core.recoding.prioritised.encoding import Encoded, TuplePartition
from anon_core.recoding.prioritised.node_order import Nodes, mean_prices, nodes_of
from anon_core.recoding.prioritised.orders import ORDERS_AT_ONCE, Found, Start, better_order, start
from anon_core.recoding.prioritised.polish import polished
from anon_core.recoding.prioritised.prices import Objective, costs_beside

SWEEPS_PER_ORDER = 3
MAX_FEW_CLASSES = 20
"""With fewer classes, a single level for all rows may be better, and is quickly tried."""
_AUTO_SWEEPS = 240
_AUTO_TUPLES = 20_000


@dataclass(frozen=True, slots=True, kw_only=True)
class SafeSearch:
    """The plan that was found, the nodes that were tried, and how many sweeps were made."""

    plan: RecodingPlan
    nodes: Nodes
    sweeps: int


def search_safe(
    encoded: Encoded,
    objective: Objective,
    *,
    globally: Callable[[], RecodingPlan | None] | None = None,
    progress: Progress | None = None,
) -> SafeSearch:
    """
    Put the tuples that have to be recoded into classes of k people; some may be removed.

    If the first classes break the policy, or are few, the search begins with the result of global recoding, if that is
    better; ``globally`` returns that result. The task requires k alone.
    """
    settings = encoded.task.settings
    random = np.random.default_rng(settings.seed)
    prices = mean_prices(encoded, costs_beside(encoded, objective))
    nodes = nodes_of(encoded.heights, prices, encoded.base, len(encoded.open), random)
    begin = start(encoded, nodes, objective, progress=progress)
    few = begin.found.partition.count < MAX_FEW_CLASSES
    if (begin.found.breaks or few) and (plan := globally() if globally else levels_for_all(encoded.task)) is not None:
        open_ = encoded.all_open
        other = Found.measured(open_, objective, TuplePartition.of(plan))
        if other.is_better_than(begin.found):
            encoded, begin = open_, Start(found=other, hits=begin.hits)
    sweeps, found = sweeps_of(settings.improve, len(encoded.open)), begin.found
    if sweeps and found.partition.count > 1:
        trials = -(-sweeps // SWEEPS_PER_ORDER)
        found = better_order(encoded, nodes, objective, begin, trials=trials, random=random, progress=progress)
        found = improved(encoded, objective, found, sweeps=sweeps, random=random, progress=progress)
    if encoded.task.people is not None:
        open_ = encoded.all_open
        whole = Found.measured(open_, objective, TuplePartition.of(found.partition.plan(encoded)))
        encoded, found = open_, polished(open_, objective, whole)
    return SafeSearch(plan=found.partition.plan(encoded), nodes=nodes, sweeps=sweeps)


def sweeps_of(improve: int | str, tuples: int) -> int:
    """
    Return how many sweeps ``improve`` means for so many tuples that have to be recoded.

    ``auto`` means fewer sweeps for large tables, where a sweep takes long, and for small ones, where there is little to
    gain.

    >>> sweeps_of("auto", 15_000), sweeps_of("auto", 100_000), sweeps_of("auto", 12), sweeps_of(7, 100)
    (240, 21, 5, 7)
    """
    if isinstance(improve, int):
        return improve
    return max(5, min(_AUTO_SWEEPS, tuples // 20, int(_AUTO_SWEEPS * (_AUTO_TUPLES / max(tuples, 1)) ** 1.5)))


MEAN_NEIGHBOURHOOD = 6.0
"""Classes in the neighbourhood of a class, on average; every sweep draws its own size around it."""

# These figures were found by experiments on Adult; other tables may have better ones. With any figures results are
# safe.
_SIZES = 0.7
"""How widely sizes vary (the standard deviation of their logarithm): small ones are quick, large ones find more."""
_NOISE = 0.3
"""How far prices are changed at random, as a share: otherwise a neighbourhood would be built as it was."""
_POWER = 2.5
"""How much more often cheap columns are raised to find neighbours: merging classes that differ there costs little."""
_SWEEPS_PER_COST = 3
"""So many sweeps use the same costs: to measure anew takes time, and old costs are wrong."""


def improved(
    encoded: Encoded,
    objective: Objective,
    found: Found,
    *,
    sweeps: int,
    random: np.random.Generator,
    progress: Progress | None = None,
) -> Found:
    """
    Visit all classes in ``sweeps`` rounds: classes near each other are dissolved and built again, if that is cheaper.

    Costs stay the same for a few sweeps, and are then measured anew from the result so far.
    """
    best, partition, costs = found, found.partition, found.costs
    for sweep in range(sweeps):
        partition = _swept(encoded, partition, costs, random)
        if sweep % _SWEEPS_PER_COST == _SWEEPS_PER_COST - 1 or sweep == sweeps - 1:
            now = Found.measured(encoded, objective, partition)
            costs = now.costs
            best = now if now.is_better_than(best) else best
        if progress:
            progress("sweeps of the improvement search", sweep + 1, sweeps)
    return best


def _swept(encoded: Encoded, partition: TuplePartition, costs: Floats, random: np.random.Generator) -> TuplePartition:
    from anon_core.kernels.compiled.local_classes import Cells, hash_table
    from anon_core.kernels.compiled.neighbourhoods import Neighbourhoods, rebuild_all

    near = _neighbourhoods(encoded, partition, costs, random)
    if not len(near.starts) - 1:
        return partition
    each = partition.class_costs(encoded, costs)
    places = Neighbourhoods(
        near.members,
        near.starts,
        np.add.reduceat(each[near.classes], near.class_starts[:-1]),
        random.integers(0, 1 << 63, len(near.starts) - 1, np.uint64),
    )
    cells = Cells(encoded.keys, costs, encoded.weights, encoded.base, encoded.empty)
    behind = encoded.behind
    rebuilt = np.full(len(near.members), -1, np.int64)
    largest = int(np.diff(near.starts).max())

    def some(part: int) -> None:
        numbers = np.arange(part, len(near.starts) - 1, ORDERS_AT_ONCE)
        table = hash_table(largest, largest if len(behind.starts) else 0)
        rebuild_all(cells, behind, places, numbers, encoded.task.k, _NOISE, table, rebuilt)

    with ThreadPoolExecutor(ORDERS_AT_ONCE) as pool:
        list(pool.map(some, range(ORDERS_AT_ONCE)))
    return _taken(encoded, partition, near, rebuilt)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Near:
    """Neighbourhoods of at least two classes: their tuples and their classes, one neighbourhood after the other."""

    members: Integers
    starts: Integers
    classes: Integers
    class_starts: Integers


def _neighbourhoods(encoded: Encoded, partition: TuplePartition, costs: Floats, random: np.random.Generator) -> _Near:
    """Put classes together that each have a random tuple with the same labels at a random node."""
    members = partition.members
    sizes = np.bincount(partition.classes[members], minlength=partition.count)
    begins = np.cumsum(sizes) - sizes
    drawn = members[begins + (random.random(partition.count) * sizes).astype(np.int64)]
    wanted = max(1.5, MEAN_NEIGHBOURHOOD * float(np.exp(_SIZES * random.normal())))
    cell = _cells(encoded, drawn, mean_prices(encoded, costs), wanted, random)
    lot = random.permutation(partition.count)
    order = lot[np.argsort(cell[lot], kind="stable")]
    class_starts = _cut(cell[order], int(2 * wanted) + 1)
    chosen = np.diff(class_starts) > 1
    keep = np.repeat(chosen, np.diff(class_starts))
    classes = order[keep]
    class_starts = np.concatenate([[0], np.cumsum(np.diff(class_starts)[chosen])])
    lengths = sizes[classes]
    at = np.repeat(begins[classes] - (np.cumsum(lengths) - lengths), lengths) + np.arange(lengths.sum())
    ends = np.concatenate([[0], np.cumsum(lengths)])
    return _Near(members=members[at], starts=ends[class_starts], classes=classes, class_starts=class_starts)


def _cells(encoded: Encoded, drawn: Integers, prices: Floats, wanted: float, random: np.random.Generator) -> Integers:
    """
    Return which of the drawn tuples are near each other: those with one key at a node.

    The node is raised column by column, cheap columns more often, until a tuple has as many neighbours as wanted.
    """
    levels = np.zeros(encoded.columns, np.int64)
    while True:
        keys = np.bitwise_xor.reduce(encoded.keys[drawn][:, encoded.base[:-1] + levels], axis=1)
        _, cell, counts = np.unique(keys, return_inverse=True, return_counts=True)
        raised = np.flatnonzero(levels < encoded.heights)
        if float((counts.astype(np.float64) ** 2).sum()) >= wanted * len(drawn) or not len(raised):
            return np.asarray(cell)
        slots = encoded.base[raised] + levels[raised]
        steps = np.maximum(prices[slots + 1] - prices[slots], 1e-6) ** -_POWER
        levels[random.choice(raised, p=steps / steps.sum())] += 1


def _cut(cell: Integers, most: int) -> Integers:
    """Return where neighbourhoods begin, and the end: at every change of cell, and in large cells at equal steps."""
    changes = np.flatnonzero(np.diff(cell, prepend=-1, append=-2))
    lengths = np.diff(changes)
    parts = -(-lengths // most)
    first = np.repeat(changes[:-1], parts)
    number = np.arange(parts.sum()) - np.repeat(np.cumsum(parts) - parts, parts)
    return np.append(first + number * np.repeat(lengths, parts) // np.repeat(parts, parts), len(cell))


def _taken(encoded: Encoded, partition: TuplePartition, near: _Near, rebuilt: Integers) -> TuplePartition:
    """
    Return the partition with those rebuilt neighbourhoods whose classes are all safe.

    If more rows than allowed would then be at the roots in every column, the neighbourhoods that put them there are
    left out.
    """
    owner = np.repeat(np.arange(len(near.starts) - 1), np.diff(near.starts))
    changed = np.flatnonzero(rebuilt >= 0)
    if not len(changed):
        return partition
    width = int(rebuilt.max()) + 1
    pairs, group = np.unique(owner[changed] * width + rebuilt[changed], return_inverse=True)
    spoilt = np.zeros(len(near.starts) - 1, np.bool_)
    spoilt[pairs[~encoded.task.requirements.safe(near.members[changed], group, len(pairs))] // width] = True

    def with_the_others() -> TuplePartition:
        good = ~spoilt[owner[changed]]
        classes = partition.classes.copy()
        classes[near.members[changed[good]]] = partition.count + group[good]
        return TuplePartition.numbered(classes)

    found = with_the_others()
    blank = found.blank(encoded)
    if int(encoded.weights[blank].sum()) > encoded.task.allowed:
        spoilt[owner[changed][blank[near.members[changed]]]] = True
        found = with_the_others()
    return found
