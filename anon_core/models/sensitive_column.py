"""The base of models of one sensitive column: their entries in a policy, their names, and how they count classes."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING, Any, ClassVar, Self

from pydantic import ValidationError

from anon_core.errors import InternalError
from anon_core.files.yaml_lines import as_text
from anon_core.models import Classes, Measurement, Need, PolicyContext, PrivacyModel, Subject
from anon_core.models.model import with_unique_names
from anon_core.policy import PartialPolicy
from anon_core.settings import Settings
from anon_core.waivers import waiver_of

if TYPE_CHECKING:
    from anon_core.measures.classes import ClassMeasure, SensitiveClasses


@dataclass(frozen=True, kw_only=True)
class OfSensitiveColumn(PrivacyModel):
    """A model of the people in each class and their values in one ``sensitive`` column."""

    needs: ClassVar[Need] = Need.SENSITIVE
    counts_people: ClassVar[bool] = True

    sensitive: str = ""

    @property
    def kind_of(self) -> str:
        """The kind of the model, if it has several."""
        return ""

    @property
    def name(self) -> str:
        return f"{self.key}({self.sensitive}{self.kind_of and ', '}{self.kind_of})"

    @property
    def column(self) -> str:
        return self.sensitive


@dataclass(frozen=True, kw_only=True)
class SensitiveColumnModel(OfSensitiveColumn):
    """A model that its section requires in a list; ``entry`` is the type of an entry of the list."""

    waivable: ClassVar[bool] = True
    by_column: ClassVar[bool] = True
    entry: ClassVar[type[Settings]]

    @classmethod
    @abstractmethod
    def of_entry(cls, context: PolicyContext, entry: Any) -> Self:
        """Return what one entry of the section requires."""

    @classmethod
    def required_by(cls, context: PolicyContext) -> Iterator[Self]:
        return (cls.of_entry(context, entry) for entry in context.settings_of(cls) or ())

    @classmethod
    def written_in(cls, privacy: Mapping[str, Any], columns: Mapping[str, Any]) -> Iterator[tuple[str, str | None]]:
        written = privacy.get(str(cls.section))
        entries = []
        for one in written if isinstance(written, list) else []:
            try:
                entries.append(cls.entry.model_validate(one))
            except ValidationError:  # It is reported elsewhere; its column can be waived all the same.
                column = as_text(one.get("column")) if isinstance(one, dict) else None
                if isinstance(column, str):
                    yield f"{cls.key}({column})", column
        yield from ((name, model.column) for name, model in cls._with_names(entries))

    @classmethod
    def unwaived(cls, policy: PartialPolicy) -> Any:
        entries = getattr(policy, str(cls.section), None) or ()
        named = cls._with_names(entries)
        return tuple(
            entry
            for entry, (name, model) in zip(entries, named, strict=True)
            if not waiver_of(policy, name, model.column)
        )

    @classmethod
    def _with_names(cls, entries: Any) -> list[tuple[str, Self]]:
        nothing = PolicyContext(policy=PartialPolicy(), quasi_identifiers=(), k=1, today=date.min)
        models = [cls.of_entry(nothing, entry) for entry in entries]
        return [(one.name, model) for one, model in zip(with_unique_names(models), models, strict=True)]

    def values_in(self, classes: Classes) -> SensitiveClasses:
        """Return the sensitive values in some classes, which recoding has counted."""
        if classes.sensitive is None or classes.sensitive.column != self.sensitive:
            raise InternalError("classes without the sensitive values of their model", f"models.{self.key}")
        return classes.sensitive

    def counted(self, subject: Subject) -> SensitiveClasses:
        """Return the classes of a table with the counts of their sensitive values."""
        from anon_core.measures.classes import sensitive_classes

        return sensitive_classes(subject.people_over((*self.columns, self.sensitive)), self.columns, self.sensitive)

    def class_measurement(
        self,
        subject: Subject,
        found: ClassMeasure,
        what: str,
        advice: str,
        *,
        at_most: bool = False,
        said: str | None = None,
    ) -> Measurement:
        """
        Return the measurement of the worst class: ``what`` is measured, ``advice`` is what to do if it does not hold.

        With ``at_most`` the observed figure must not be above the required one; without, not below. ``said`` replaces
        both figures in the sentence, where they are not simply compared.
        """
        if said is None:
            observed = "none" if found.observed is None else f"{'at least ' * found.at_least}{found.observed:.4g}"
            said = f"{observed}, {found.required:g} {'allowed' if at_most else 'required'}"
        fail = "class fails" if found.classes == 1 else "classes fail"
        failing = (
            f"{found.classes_failing:,} of {found.classes:,} {fail}, "
            f"{found.rows_failing:,} of {subject.in_words(found.rows)}"
        )
        return self.measurement(
            passed=found.holds,
            observed=found.observed,
            required=found.required,
            sentence=f"{what}: {said}" + ("" if found.holds else f"; {failing}: {advice}"),
            counts={
                "worst": found.observed,
                "classes": found.classes,
                "classes_failing": found.classes_failing,
                "rows": found.rows,
                "rows_failing": found.rows_failing,
            },
            rows_at_risk=found.rows_failing,
        )
