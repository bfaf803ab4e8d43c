"""What every privacy model is: one requirement of a table, how it is asked for and named, and how it is measured."""

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
    from anon_core.models.asked import Asked
    from anon_core.models.subject import Classes, Subject
    from anon_core.policy import PartialPolicy, Waiver
    from anon_core.table import Mask


class Need(Flag):
    """
    What a model needs beside its columns, counted.

    ``NAMES``: the names of all columns, and nothing counted. ``ORIGINAL``: the table as collected, counted.
    ``PAIRING``: what each released row was.
    """

    NOTHING = 0
    NAMES = auto()
    SENSITIVE = auto()
    ORIGINAL = auto()
    PAIRING = auto()


class Over(Enum):
    """Which columns a model is about where nobody names them: quasi-identifiers, the sensitive ones, or all."""

    QUASI = "quasi"
    SENSITIVE = "sensitive"
    ALL = "all"


@dataclass(frozen=True, kw_only=True)
class PrivacyModel(ABC):
    """
    One requirement. Its fields are plain data: they stand in a suite, and rebuild it from there.

    ``key`` is what checks of it are called. ``title`` and ``promise`` describe it; a promise has names of fields in
    braces. ``page`` has the words of the published page by name of the check. ``over`` says which ``columns`` it is
    about where they are left open: :func:`anon_core.measure` then fills them in.

    ``section`` is the key of ``privacy`` that asks for it, None where every publication does. ``settings`` is the
    pydantic type of what stands there; a model of another package has the same word for key and section. ``off`` is
    what the section says when it asks for nothing.

    ``waivable``: a named person may let it fail; where not, ``instead`` says what to do. ``monotone``: the union of two
    classes that keep it keeps it; ``monotone_by_people``: also where people are counted, who may be in both.
    ``relative``: whether a class keeps it depends on all others, too. ``of_release``: only released files show it, so
    no recoding is held to it. ``by_column``: it is asked of columns one by one. ``counts_people``: it counts people
    where these are known.

    ``of_bytes``: everything that it tells is a function of the published rows and of its fields, so the public may read
    it; of any other model the public reads the promise. ``resists`` names what it measures of the attacks in
    :mod:`anon_core.report.public`, so that the page does not call them not measured.

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
    resists: ClassVar[tuple[str, ...]] = ()
    over: ClassVar[Over] = Over.QUASI

    columns: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        wrong = [one.name for one in fields(self) if not _fits(getattr(self, one.name), str(one.type))]
        if wrong:
            raise InvalidInputError(f"{self.title} cannot be required like that; correct {', '.join(wrong)}")

    @classmethod
    @abstractmethod
    def required_by(cls, asked: Asked) -> Iterator[Self]:
        """Yield what is required of a table by what is asked of it, as often as the policy has it."""

    @abstractmethod
    def measure(self, subject: Subject) -> Measurement:
        """
        Measure it.

        :raises NotMeasurableError: something that it needs is not there; what raises anything else is a defect.
        """

    @classmethod
    def written_in(cls, privacy: Mapping[str, Any], columns: Mapping[str, Any]) -> Iterator[tuple[str, str | None]]:
        """Yield the name of each of its checks, and its column, as far as a file tells that may be wrong elsewhere."""
        written = privacy.get(str(cls.section))
        if written is not None and written is not False:
            yield cls.key, None

    @classmethod
    def unwaived(cls, policy: PartialPolicy) -> Any:
        """Return what its section asks for that no waiver excuses."""
        return cls.off if waiver_of(policy, cls.key) else getattr(policy, str(cls.section), None)

    @property
    def name(self) -> str:
        """What its check is called, unless another one of the policy is called the same."""
        return self.key

    @property
    def column(self) -> str | None:
        """The sensitive column that it is about, where it is about one."""
        return None

    @property
    def counted_values(self) -> CountedValues:
        """What counts as one value of that column."""
        return CountedValues.EACH

    @property
    def climbed(self) -> tuple[str, ...]:
        """The sensitive columns whose hierarchies it measures by."""
        return ()

    @property
    def limits(self) -> str:
        """What tells it from another one of the same name."""
        return ""

    @property
    def goal(self) -> str:
        """What a recoding has to reach, in a few words."""
        return self.name

    @property
    def min_rows(self) -> int:
        """How many rows every class needs by this model alone."""
        return 1

    @property
    def absorbing(self) -> bool:
        """Whether a class that keeps it goes on to keep it, whatever class it is merged with."""
        return False

    def safe(self, classes: Classes) -> Mask:
        """Return which classes keep it, for a recoding to reach; by default those with enough rows."""
        return classes.sizes >= self.min_rows

    def out_of_reach(self, classes: Classes) -> str:
        """Return why no recoding can keep it, where all rows as one class, ``classes``, do not, and what to change."""
        return f"even the whole table as one class does not keep it: ask for less in privacy.{self.section}"

    def promised(self, *, people: bool = False) -> str:
        """Return its promise with its fields in place; ``{counted}`` stands for rows, or for people."""
        return readable(self.promise, {**self.arguments(), "counted": "people" if people else "rows"})

    def arguments(self) -> dict[str, Any]:
        """Return its fields as JSON has them."""
        return {one.name: _plain(getattr(self, one.name)) for one in fields(self)}

    @classmethod
    def of_arguments(cls, arguments: dict[str, Any]) -> Self:
        """
        Return the requirement with these fields, as JSON has them.

        All of them: a suite in which the columns are missing would be judged over none, and pass.

        :raises TypeError: a field is missing, or there is no such field.
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
        """Measure it; where that cannot be done, return a measurement that says why and has not passed."""
        try:
            return self.measure(subject)
        except NotMeasurableError as error:
            return self.unmeasured(str(error))

    def unmeasured(self, reason: str) -> Measurement:
        """Return a measurement that has not passed, because nothing could be measured."""
        sentence = f"not measured, {reason}"
        nothing = self.measurement(passed=False, observed=None, required=None, sentence=sentence, goal="", reached="")
        return replace(nothing, measured=False)


def readable(promise: str, arguments: Mapping[str, Any]) -> str:
    """Return a promise with its arguments in place; ``{counted}`` is rows unless they say otherwise."""
    return promise.format_map(_Readable(arguments))


class _Readable(dict[str, Any]):
    """Arguments as a sentence has them: lists with commas, nothing for what is not given."""

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
    """Whether a field has a value of its kind: a limit that is no number would be none, and True is no count."""
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
    """One thing that is required of a table, under the name that its check has everywhere."""

    model: PrivacyModel
    name: str

    def measured(self, subject: Subject) -> Measurement:
        """Measure it; what cannot be measured has not passed."""
        return replace(self.model.measured(subject), name=self.name, waiver=None, waived_by=None)

    def waiver(self, policy: PartialPolicy, today: date) -> Waiver | None:
        """Return the waiver by which a person lets it fail today."""
        found = waiver_of(policy, self.name, self.model.column) if self.model.waivable else None
        return found if found and found.until >= today else None


def required(asked: Asked) -> tuple[Requirement, ...]:
    """
    Return everything that is required of a table.

    :raises InvalidInputError: the policy asks for a model that no installed package brings.
    :raises HierarchyError: a hierarchy file that a model needs cannot be read.
    """
    members = MODELS.members()
    if taken := [key for key in MODELS.foreign() if key in type(asked.policy).model_fields]:
        raise InvalidInputError(
            f"a package brings privacy models whose keys are ours: {', '.join(taken)}; uninstall it"
        )
    if absent := [key for key in asked.policy.model_extra or () if key not in members or members[key].section != key]:
        raise InvalidInputError(
            f"privacy.{', privacy.'.join(absent)}: no installed package brings such a privacy model; install the one "
            "that does, or remove the key"
        )
    return named([one for model in members.values() for one in model.required_by(asked)])


def named(models: Sequence[PrivacyModel]) -> tuple[Requirement, ...]:
    """Return requirements by their names; those that would have the same name carry their limits too."""
    times = Counter(one.name for at, one in enumerate(models) if one not in models[:at])
    return tuple(Requirement(model=one, name=_full(one) if times[one.name] > 1 else one.name) for one in models)


def _full(model: PrivacyModel) -> str:
    return f"{model.name.removesuffix(')')}, {model.limits})" if model.limits else model.name
