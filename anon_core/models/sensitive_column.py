"""What models of one sensitive column have in common: how they are asked for, named and told class by class."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING, Any, ClassVar, Self

from pydantic import ValidationError

from anon_core.errors import InternalError
from anon_core.files.yaml_lines import as_text
from anon_core.models import Asked, Classes, Measurement, Need, PrivacyModel, Subject
from anon_core.models.model import named
from anon_core.policy import PartialPolicy
from anon_core.settings import Settings
from anon_core.waivers import waiver_of

if TYPE_CHECKING:
    from anon_core.measures.classes import ClassMeasure, SensitiveClasses


@dataclass(frozen=True, kw_only=True)
class OfSensitiveColumn(PrivacyModel):
    """A requirement of the people in each class and of their values in one ``sensitive`` column."""

    needs: ClassVar[Need] = Need.SENSITIVE
    counts_people: ClassVar[bool] = True

    sensitive: str = ""

    @property
    def kind_of(self) -> str:
        """Which kind of the model is meant, where there are several."""
        return ""

    @property
    def name(self) -> str:
        return f"{self.key}({self.sensitive}{self.kind_of and ', '}{self.kind_of})"

    @property
    def column(self) -> str:
        return self.sensitive


@dataclass(frozen=True, kw_only=True)
class SensitiveColumnModel(OfSensitiveColumn):
    """A requirement that its section asks for in a list; ``entry`` is how the list asks for one."""

    waivable: ClassVar[bool] = True
    by_column: ClassVar[bool] = True
    entry: ClassVar[type[Settings]]

    @classmethod
    @abstractmethod
    def of_entry(cls, asked: Asked, entry: Any) -> Self:
        """Return what one entry of the section requires."""

    @classmethod
    def required_by(cls, asked: Asked) -> Iterator[Self]:
        return (cls.of_entry(asked, entry) for entry in asked.settings_of(cls) or ())

    @classmethod
    def written_in(cls, privacy: Mapping[str, Any], columns: Mapping[str, Any]) -> Iterator[tuple[str, str | None]]:
        written = privacy.get(str(cls.section))
        entries = []
        for one in written if isinstance(written, list) else []:
            try:
                entries.append(cls.entry.model_validate(one))
            except ValidationError:  # Reported as such; its column can be waived.
                column = as_text(one.get("column")) if isinstance(one, dict) else None
                if isinstance(column, str):
                    yield f"{cls.key}({column})", column
        yield from ((name, model.column) for name, model in cls._named(entries))

    @classmethod
    def unwaived(cls, policy: PartialPolicy) -> Any:
        entries = getattr(policy, str(cls.section), None) or ()
        named = cls._named(entries)
        return tuple(
            entry
            for entry, (name, model) in zip(entries, named, strict=True)
            if not waiver_of(policy, name, model.column)
        )

    @classmethod
    def _named(cls, entries: Any) -> list[tuple[str, Self]]:
        nothing = Asked(policy=PartialPolicy(), quasi_identifiers=(), k=1, today=date.min)
        models = [cls.of_entry(nothing, entry) for entry in entries]
        return [(one.name, model) for one, model in zip(named(models), models, strict=True)]

    def values_in(self, classes: Classes) -> SensitiveClasses:
        """Return the sensitive values of some classes, which a recoding has counted."""
        if classes.sensitive is None or classes.sensitive.column != self.sensitive:
            raise InternalError("classes without the sensitive values of their model", f"models.{self.key}")
        return classes.sensitive

    def counted(self, subject: Subject) -> SensitiveClasses:
        """Return the classes of a table with their sensitive values, counted."""
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
        Return the measurement: ``what`` was observed in the worst class, and what to do if it does not hold.

        ``at_most`` says that it may not be above what is required, rather than not below; ``said`` stands for both
        numbers where that is no comparison of the two.
        """
        if said is None:
            observed = "none" if found.observed is None else f"{'at least ' * found.at_least}{found.observed:.4g}"
            said = f"{observed}, {found.required:g} {'allowed' if at_most else 'required'}"
        fail = "class fails" if found.classes == 1 else "classes fail"
        failing = (
            f"{found.classes_failing:,} of {found.classes:,} {fail}, "
            f"{found.rows_failing:,} of {subject.told(found.rows)}"
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
