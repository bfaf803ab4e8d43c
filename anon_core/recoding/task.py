"""The input of every recoding method, distinct tuples and what must hold, and its output: a plan."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from anon_core import kernels
from anon_core.engines.engine import Engine
from anon_core.frequency import FrequencyTable
from anon_core.hierarchy.build import ladders
from anon_core.hierarchy.ladder import Ladder
from anon_core.kernels import Integers
from anon_core.measures.utility.cells import RecodedCells
from anon_core.measures.utility.entropy import entropy
from anon_core.measures.utility.loss import loss
from anon_core.plan import RecodingPlan
from anon_core.policy import PartialPolicy, rows_allowed
from anon_core.recoding.beside_others import others_beside
from anon_core.recoding.freeform_problem import FreeformProblem
from anon_core.recoding.people import TuplePeople
from anon_core.recoding.requirements import Requirements, models_reached
from anon_core.spec import PartialPublication, Recode


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """
    One table to recode.

    ``frequencies`` are over the quasi-identifiers, and over columns declared other, which are published as collected:
    their ladders have height 0 and their weights are 0. All of them together make the classes. ``ladders`` and
    ``weights`` are in the same order; a weight says how much a column matters. ``requirements`` judge classes by the
    ``policy``, ``settings`` choose the method. ``freeform`` is the problem of a policy that guards values; it is about
    other columns as well. ``publication`` is the file of the task, if there is one. Suppressed rows and losses are
    counted in rows; k and the requirements of sensitive columns in people, where these are known.
    """

    frequencies: FrequencyTable
    ladders: tuple[Ladder, ...]
    weights: tuple[float, ...]
    requirements: Requirements
    policy: PartialPolicy
    settings: Recode
    freeform: FreeformProblem | None = None
    publication: PartialPublication | None = None

    @property
    def k(self) -> int:
        return self.requirements.k

    @property
    def allowed(self) -> int:
        """How many rows may be suppressed: removed, or published with the root in every column."""
        return rows_allowed(self.policy.suppression_limit, self.frequencies.rows)

    @property
    def people(self) -> TuplePeople | None:
        """The people of the tuples; None where every row is another person."""
        return self.requirements.people

    @property
    def counted(self) -> int:
        """How many people there are, or rows where every row is another person."""
        return self.frequencies.rows if self.people is None else self.people.count

    @property
    def by_k_alone(self) -> Task:
        """The same task with the sizes of classes as its only requirement."""
        return replace(self, requirements=self.requirements.by_k_alone)

    @property
    def by_name(self) -> dict[str, float]:
        """The weight of every column."""
        return dict(zip(self.frequencies.names, self.weights, strict=True))

    def rows_by_value(self, column: int) -> Integers:
        """Return how many rows have each value of a column."""
        codes = self.frequencies.codes[column].astype(np.int64)
        return kernels.weigh(codes, self.ladders[column].maps.shape[1], self.frequencies.weights)

    def with_settings(self, **settings: object) -> Task:
        """Return the task with other settings of `recode`."""
        return replace(self, settings=self.settings.model_copy(update=settings))

    @classmethod
    def of(
        cls,
        frequencies: FrequencyTable,
        ladders: Sequence[Ladder],
        policy: PartialPolicy,
        *,
        weights: Mapping[str, float] | None = None,
        sensitive: Mapping[str, FrequencyTable] | None = None,
        climbed: Mapping[str, Ladder] | None = None,
        settings: Recode | None = None,
        publication: PartialPublication | None = None,
        people: FrequencyTable | None = None,
        sensitive_people: Mapping[str, FrequencyTable] | None = None,
    ) -> Task:
        """
        Return a task for a policy.

        ``sensitive`` counts, for every column whose diversity is required, the tuples together with that column.
        ``climbed`` has the ladders of columns whose closeness is hierarchical. ``people`` and ``sensitive_people``
        count people over the same.
        """
        return cls(
            frequencies=frequencies,
            ladders=tuple(ladders),
            weights=tuple((weights or {}).get(name, 1.0) for name in frequencies.names),
            requirements=Requirements.of(
                frequencies,
                models_reached(policy, frequencies.names, publication),
                sensitive=sensitive,
                climbed=climbed,
                folder=publication.root if publication else None,
                people=people,
                sensitive_people=sensitive_people,
            ),
            policy=policy,
            settings=settings or Recode(),
            publication=publication,
        )

    @classmethod
    def of_table(cls, publication: PartialPublication, policy: PartialPolicy, engine: Engine) -> Task:
        """
        Return the task of a publication file for the rows of an engine.

        :raises UnmappedValuesError: hierarchies do not cover all values.
        :raises HierarchyError: a hierarchy file is wrong.
        """
        quasi = publication.quasi_identifiers
        # A column with a single value tells no rows apart, and would only change the random draws of the searches.
        others = [name for name in others_beside(publication, policy) if len(engine.column(name).domain) > 1]
        together, weights = (*quasi, *others), {**publication.priority_weights, **dict.fromkeys(others, 0.0)}
        models = models_reached(policy, together, publication)
        hierarchical = [name for model in models for name in model.climbed]
        built = ladders(publication, engine, list(dict.fromkeys([*quasi, *hierarchical])))
        built |= {name: Ladder.as_collected(engine.column(name)) for name in others}
        named = dict.fromkeys(model.column for model in models if model.column is not None)
        task = cls.of(
            engine.count(together),
            [built[name] for name in together],
            policy,
            weights=weights,
            sensitive={name: engine.count([*together, name]) for name in named if name not in others},
            people=None if engine.unit is None else engine.people(together),
            sensitive_people={
                name: engine.people([*together, name])
                for name in named
                if name not in others and engine.unit is not None
            },
            climbed={name: built[name] for name in hierarchical},
            settings=publication.recode,
            publication=publication,
        )
        if policy.freeform is None:
            return task
        problem = FreeformProblem.of_table(publication, policy.freeform, engine, weights, beside=others)
        return replace(task, freeform=problem)


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """
    The figures of one recoding that was tried. ``name`` says what was generalised, and how far.

    ``loss`` and ``wnue`` weight columns by priority. ``reason`` says why it could not be chosen; None if it could.
    """

    method: str
    name: str
    singletons: int
    k: int | None
    rows_changed: int
    rows_removed: int
    distinct: int
    loss: float | None
    nue: float | None
    wnue: float | None
    elected: bool
    reason: str | None = None

    @classmethod
    def of(
        cls,
        plan: RecodingPlan,
        *,
        method: str,
        name: str,
        weights: Mapping[str, float],
        elected: bool,
        reason: str | None = None,
        people: TuplePeople | None = None,
    ) -> Candidate:
        """Measure a plan; singletons and the smallest class are counted in ``people`` where these are known."""
        released, cells = (plan if people is None else people.plan(plan)).released(), RecodedCells.by(plan)
        left = entropy(cells, weights)
        return cls(
            method=method,
            name=name,
            singletons=released.singletons,
            k=int(released.class_sizes().min()) if released.tuples else None,
            rows_changed=plan.rows_changed,
            rows_removed=plan.rows_removed,
            distinct=released.tuples,
            loss=loss(cells, weights).weighted,
            nue=left.overall,
            wnue=left.weighted,
            elected=elected,
            reason=reason,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Recoding:
    """A plan that keeps what its method promises, why it was chosen, and the other candidates."""

    method: str
    plan: RecodingPlan
    why: str
    candidates: tuple[Candidate, ...]
    optimal: bool | None

    @classmethod
    def unchanged(cls, task: Task, why: str) -> Recoding:
        """Return the table as it was collected."""
        plan = RecodingPlan.unchanged(task.frequencies, task.ladders)
        return cls(method="none", plan=plan, why=why, candidates=(), optimal=None)
