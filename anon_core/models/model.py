"""The base of every privacy model: how a policy requires it, what its check is called, and how it is measured."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from datetime import date
from enum import Enum, Flag, auto
from math import isfinite
from typing import TYPE_CHECKING, Any, ClassVar, Self

from anon_core.errors import InvalidInputError
from anon_core.models.measurement import Figure, Measurement, NotMeasurableError
from anon_core.policy import CountedValues
from anon_core.registry import MODELS
from anon_core.waivers import waiver_of

if TYPE_CHECKING:
    from anon_core.models.policy_context import PolicyContext
    from anon_core.models.subject import Classes, Subject
    from anon_core.policy import PartialPolicy, Waiver
    from anon_core.table import Mask


class Need(Flag):
    """
    What a model needs beside the counts over its columns.

    ``NAMES``: only the names of all columns, and no counts. ``SENSITIVE``: counts with a sensitive column.
    ``ORIGINAL``: counts of the table as collected. ``PAIRING``: what each released row was before recoding.
    """

    NOTHING = 0
    NAMES = auto()
    SENSITIVE = auto()
    ORIGINAL = auto()
    PAIRING = auto()


class Over(Enum):
    """Which columns a model is about if a call names none: quasi-identifiers, the sensitive ones, or all."""

    QUASI = "quasi"
    SENSITIVE = "sensitive"
    ALL = "all"


@dataclass(frozen=True, kw_only=True)
class PrivacyModel(ABC):
    """
    One requirement of a table. Its fields are plain data: a suite holds them, and the model is rebuilt from them.

    ``key`` is the name of its checks. ``title`` and ``promise`` describe it; a promise has names of fields in braces.
    ``page`` has, by name of the check, what the published page says. ``over`` says which ``columns``
    :func:`anon_core.measure` fills in where a call names none.

    ``section`` is the key of ``privacy`` that requires it; None if every publication does. ``settings`` is the pydantic
    type of that section; a model of another package uses one word for key and section. ``off`` is the value of the
    section that requires nothing.

    ``waivable``: a named person may let its check fail; if not, ``instead`` says what to do. ``monotone``: the union of
    two classes that keep the model keeps it too; ``monotone_by_people``: also where people are counted, who may be in
    both. ``relative``: whether a class keeps it depends on all other classes. ``of_release``: only released files show
    it, so recoding does not have to reach it. ``by_column``: it judges columns one by one. ``counts_people``: it counts
    people where they are known.

    ``of_bytes``: all that it reports follows from the published rows and from its fields, so the public may read it; of
    every other model the public reads the promise only. ``stated_limit``: what it requires stands in the publication
    file or is the same for every table, so the public may read that as well. ``resists`` names the attacks in
    :mod:`anon_core.report.public` that it measures, so that the page does not list them as not measured.

    :raises InvalidInputError: a limit is no finite number, or columns are no tuple of names.
    """

    key: ClassVar[str]
    title: ClassVar[str]
    promise: ClassVar[str]
    page: ClassVar[Mapping[str, str]] = {}
    section: ClassVar[str | None] = None
    settings: ClassVar[Any] = None
    off: ClassVar[Any] = None
    needs: ClassVar[Need] = Need.NOTHING
    waivable: ClassVar[bool] = False
    instead: ClassVar[str] = "it is required of every release; correct what it finds"
    monotone: ClassVar[bool] = False
    monotone_by_people: ClassVar[bool] = False
    relative: ClassVar[bool] = False
    of_release: ClassVar[bool] = False
    by_column: ClassVar[bool] = False
    counts_people: ClassVar[bool] = False
    of_bytes: ClassVar[bool] = False
    stated_limit: ClassVar[bool] = False
    resists: ClassVar[tuple[str, ...]] = ()
    over: ClassVar[Over] = Over.QUASI

    columns: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        wrong = [one.name for one in fields(self) if not _fits(getattr(self, one.name), str(one.type))]
        if wrong:
            raise InvalidInputError(f"{self.title}: {', '.join(wrong)} must be a finite number, or a tuple of names")

    @classmethod
    @abstractmethod
    def required_by(cls, context: PolicyContext) -> Iterator[Self]:
        """Yield the models that a policy requires of a table, one for each time that the policy has it."""

    @abstractmethod
    def measure(self, subject: Subject) -> Measurement:
        """
        Measure a table.

        :raises NotMeasurableError: the table lacks what the model needs; any other error is a bug of the model.
        """

    @classmethod
    def written_in(cls, privacy: Mapping[str, Any], columns: Mapping[str, Any]) -> Iterator[tuple[str, str | None]]:
        """Yield the name and the column of each of its checks, from a file that may have mistakes elsewhere."""
        written = privacy.get(str(cls.section))
        if written is not None and written is not False:
            yield cls.key, None

    @classmethod
    def unwaived(cls, policy: PartialPolicy) -> Any:
        """Return what its section requires, without what a waiver excuses."""
        return cls.off if waiver_of(policy, cls.key) else getattr(policy, str(cls.section), None)

    @property
    def name(self) -> str:
        """The name of its check, unless another check of the policy has the same name."""
        return self.key

    @property
    def column(self) -> str | None:
        """The sensitive column that it is about, if it is about one."""
        return None

    @property
    def counted_values(self) -> CountedValues:
        """What counts as one value of that column."""
        return CountedValues.EACH

    @property
    def climbed(self) -> tuple[str, ...]:
        """The sensitive columns whose hierarchies it needs to measure."""
        return ()

    @property
    def limits(self) -> str:
        """Its limits in words, which tell two checks of the same name apart."""
        return ""

    @property
    def goal(self) -> str:
        """What a recoding has to reach, in a few words."""
        return self.name

    @property
    def min_rows(self) -> int:
        """How many rows every class needs at least to keep this model."""
        return 1

    @property
    def absorbing(self) -> bool:
        """Whether a class that keeps it still keeps it after a merge with any other class."""
        return False

    def safe(self, classes: Classes) -> Mask:
        """Return which classes keep it, so that recoding can reach it; by default those with enough rows."""
        return classes.sizes >= self.min_rows

    def out_of_reach(self, classes: Classes) -> str:
        """Return why no recoding can keep it, and what to change; ``classes`` is all rows as one class."""
        return f"even the whole table as one class does not keep it: require less in privacy.{self.section}"

    def promised(self, *, people: bool = False) -> str:
        """Return its promise with its fields filled in; ``{counted}`` becomes rows, or people."""
        return readable(self.promise, {**self.arguments(), "counted": "people" if people else "rows"})

    def arguments(self) -> dict[str, Any]:
        """Return its fields as JSON has them."""
        return {one.name: _plain(getattr(self, one.name)) for one in fields(self)}

    @classmethod
    def of_arguments(cls, arguments: dict[str, Any]) -> Self:
        """
        Return the requirement with these fields, as JSON has them.

        No field may be missing: a model without its columns would be measured over no column, and pass.

        :raises TypeError: a field is missing, or the model has no such field.
        """
        if missing := [one.name for one in fields(cls) if one.name not in arguments]:
            raise TypeError(f"{cls.__name__} lacks {', '.join(missing)}")
        return cls(**{name: _frozen(value) for name, value in arguments.items()})

    def measurement(
        self,
        *,
        passed: bool,
        observed: Figure,
        required: Figure,
        sentence: str,
        counts: dict[str, Any] | None = None,
        rows_at_risk: int = 0,
        goal: str | None = None,
        reached: str | None = None,
    ) -> Measurement:
        """Return what was found, as a measurement of this model."""
        return Measurement(
            model=self.key,
            name=self.name,
            columns=self.columns,
            column=self.column,
            passed=passed,
            observed=observed,
            required=required,
            sentence=f"{self.title}: {sentence}",
            counts=counts or {},
            rows_at_risk=rows_at_risk,
            goal=self.goal if goal is None else goal,
            reached=_figure(observed) if reached is None else reached,
        )

    def measured(self, subject: Subject) -> Measurement:
        """Measure a table; if the model cannot, return a measurement that says why and has not passed."""
        try:
            return self.measure(subject)
        except NotMeasurableError as error:
            return self.unmeasured(str(error))

    def unmeasured(self, reason: str) -> Measurement:
        """Return a measurement that has not passed, because the model could not measure."""
        sentence = f"not measured, {reason}"
        nothing = self.measurement(passed=False, observed=None, required=None, sentence=sentence, goal="", reached="")
        return replace(nothing, measured=False)


def readable(promise: str, arguments: Mapping[str, Any]) -> str:
    """Return a promise with its arguments filled in; ``{counted}`` is rows if they do not have it."""
    return promise.format_map(_Readable(arguments))


class _Readable(dict[str, Any]):
    """Arguments as a sentence shows them: lists with commas, ``?`` for what is not given."""

    def __getitem__(self, key: str) -> Any:
        value = self.get(key, "rows" if key == "counted" else None)
        if isinstance(value, (list, tuple)):
            return ", ".join(map(str, value)) or "no column"
        if isinstance(value, float):
            return f"{value:g}"
        return "?" if value is None else value


def _figure(observed: Figure) -> str:
    if observed is None:
        return "no class"
    return f"{observed:g}" if isinstance(observed, float) else str(observed)


def _fits(value: Any, kind: str) -> bool:
    """Whether a field has a value of its kind: a limit that is no number would limit nothing, and True is no count."""
    if kind in ("int", "float", "float | None"):
        whole = isinstance(value, int) and not isinstance(value, bool)
        finite = isinstance(value, float) and kind != "int" and isfinite(value)
        return whole or finite or (value is None and "None" in kind)
    if kind == "tuple[str, ...]":
        return isinstance(value, tuple) and all(isinstance(item, str) for item in value)
    return True


def _plain(value: Any) -> Any:
    if isinstance(value, (tuple, list)):
        return [_plain(item) for item in value]
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    return value


def _frozen(value: Any) -> Any:
    return tuple(map(_frozen, value)) if isinstance(value, (list, tuple)) else value


@dataclass(frozen=True, slots=True, kw_only=True)
class Requirement:
    """A model that is required of a table, with the name of its check."""

    model: PrivacyModel
    name: str

    def measured(self, subject: Subject) -> Measurement:
        """Measure a table; what the model cannot measure has not passed."""
        return replace(self.model.measured(subject), name=self.name, waiver=None, waived_by=None)

    def waiver(self, policy: PartialPolicy, today: date) -> Waiver | None:
        """Return the waiver by which a person lets the check fail today, if there is one."""
        found = waiver_of(policy, self.name, self.model.column) if self.model.waivable else None
        return found if found and found.until >= today else None


def required(context: PolicyContext) -> tuple[Requirement, ...]:
    """
    Return everything that a policy requires of a table.

    :raises InvalidInputError: the policy requires a model that no installed package brings.
    :raises HierarchyError: a hierarchy file that a model needs cannot be read.
    """
    members = MODELS.members()
    if taken := [key for key in MODELS.foreign() if key in type(context.policy).model_fields]:
        raise InvalidInputError(
            f"a package brings privacy models with keys of anonflow: {', '.join(taken)}; uninstall that package"
        )
    if absent := [key for key in context.policy.model_extra or () if key not in members or members[key].section != key]:
        raise InvalidInputError(
            f"privacy.{', privacy.'.join(absent)}: no installed package brings such a privacy model; install the one "
            "that does, or remove the key"
        )
    return with_unique_names([one for model in members.values() for one in model.required_by(context)])


def with_unique_names(models: Sequence[PrivacyModel]) -> tuple[Requirement, ...]:
    """Return the models with names for their checks; where two would have the same name, it has their limits too."""
    times = Counter(one.name for at, one in enumerate(models) if one not in models[:at])
    return tuple(Requirement(model=one, name=_full(one) if times[one.name] > 1 else one.name) for one in models)


def _full(model: PrivacyModel) -> str:
    return f"{model.name.removesuffix(')')}, {model.limits})" if model.limits else model.name
