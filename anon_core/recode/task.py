"""What every recoding method is given, distinct tuples and what must hold, and what it returns: a plan."""

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
from anon_core.plan import RecodingPlan
from anon_core.policy import PartialPolicy, rows_allowed
from anon_core.recode.freeform_problem import FreeformProblem
from anon_core.recode.requirements import Requirements, models_reached
from anon_core.score.utility.cells import Recoded
from anon_core.score.utility.entropy import entropy
from anon_core.score.utility.loss import loss
from anon_core.spec import PartialPublication, Recode


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """
    One table to be recoded.

    ``frequencies`` are over the quasi-identifiers, ``ladders`` and ``weights`` stand in their order; a weight says how
    much a column matters. ``requirements`` judge classes as the ``policy`` says, ``settings`` choose the method.
    ``freeform`` is there where the policy guards values: it is about other columns as well. ``publication`` is the file
    that sets the task, if one does.
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
        """How many rows may be suppressed: removed, or left with the root in every column."""
        return rows_allowed(self.policy.suppression_limit, self.frequencies.rows)

    @property
    def by_name(self) -> dict[str, float]:
        """The weight of every column."""
        return dict(zip(self.frequencies.names, self.weights, strict=True))

    def rows_by_value(self, column: int) -> Integers:
        """Return how many rows have each value of a column."""
        codes = self.frequencies.codes[column].astype(np.int64)
        return kernels.weigh(codes, self.ladders[column].maps.shape[1], self.frequencies.weights)

    def with_settings(self, **settings: object) -> Task:
        """Return the task with other words in `recode`."""
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
    ) -> Task:
        """
        Return a task for a policy.

        ``sensitive`` counts, for every column whose diversity is required, the tuples together with that column;
        ``climbed`` has the ladders of those whose closeness is hierarchical.
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
            ),
            policy=policy,
            settings=settings or Recode(),
            publication=publication,
        )

    @classmethod
    def of_table(cls, publication: PartialPublication, policy: PartialPolicy, engine: Engine) -> Task:
        """
        Return the task that a publication file sets for the rows of an engine.

        :raises UnmappedValuesError: hierarchies do not cover all values.
        :raises HierarchyError: a hierarchy file is wrong.
        """
        quasi, weights = publication.quasi_identifiers, publication.priority_weights
        models = models_reached(policy, quasi, publication)
        hierarchical = [name for model in models for name in model.climbed]
        built = ladders(publication, engine, list(dict.fromkeys([*quasi, *hierarchical])))
        named = [model.column for model in models if model.column is not None]
        task = cls.of(
            engine.count(quasi),
            [built[name] for name in quasi],
            policy,
            weights=weights,
            sensitive={name: engine.count([*quasi, name]) for name in dict.fromkeys(named)},
            climbed={name: built[name] for name in hierarchical},
            settings=publication.recode,
            publication=publication,
        )
        if policy.freeform is None:
            return task
        return replace(task, freeform=FreeformProblem.of_table(publication, policy.freeform, engine, weights))


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """
    One recoding that was tried, in counts. ``name`` says what was generalised, and how far.

    ``loss`` and ``wnue`` heed the priorities. ``reason`` says why it could not be elected; None where it could.
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
    ) -> Candidate:
        """Measure a plan."""
        released, cells = plan.released(), Recoded.by(plan)
        left = entropy(cells, weights)
        return cls(
            method=method,
            name=name,
            singletons=released.singletons,
            k=int(released.weights.min()) if released.tuples else None,
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
    """A plan that keeps what its method promises, why it was elected, and what else was tried."""

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
