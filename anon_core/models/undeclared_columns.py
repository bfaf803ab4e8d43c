"""The published table has the declared columns and no other."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar, Self

from anon_core.models import Measurement, Need, PolicyContext, PrivacyModel, Subject


@dataclass(frozen=True, kw_only=True)
class NoUndeclaredColumn(PrivacyModel):
    """
    The columns of the table are exactly ``columns``, each once, in any order.

    The sentence gives undeclared columns by their position: in a file that lost its header, names are cells. It names
    columns that are declared and must not be published because of their role.
    """

    key: ClassVar[str] = "no_undeclared_column"
    title: ClassVar[str] = "columns"
    stated_limit: ClassVar[bool] = True
    promise: ClassVar[str] = "the columns are exactly {columns}"
    page: ClassVar[Mapping[str, str]] = {"no_undeclared_column": "Only the announced columns are published"}
    instead: ClassVar[str] = "declare the column in `columns`, or give it the role drop"
    of_release: ClassVar[bool] = True
    needs: ClassVar[Need] = Need.NAMES
    of_bytes: ClassVar[bool] = True

    @classmethod
    def required_by(cls, context: PolicyContext) -> Iterator[Self]:
        if context.publication is not None:
            yield cls(columns=context.published)

    def measure(self, subject: Subject) -> Measurement:
        seen: Counter[str] = Counter()
        undeclared, kept_back = [], []
        for place, name in enumerate(subject.names, 1):
            seen[name] += 1
            if name in subject.unpublished and name not in subject.besides and seen[name] == 1:
                kept_back.append(name)
            elif name not in (*self.columns, *subject.besides) or seen[name] > 1:
                undeclared.append(place)
        missing = [name for name in self.columns if name not in seen]
        return self.measurement(
            passed=not undeclared and not kept_back and not missing,
            observed=len(undeclared) + len(kept_back) + len(missing),
            required=0,
            sentence=self._sentence(undeclared, kept_back, missing)
            + (f"; not counted, and not to be published: {', '.join(subject.besides)}" if subject.besides else ""),
            counts={
                "columns": len(subject.names),
                "undeclared_at": undeclared,
                "missing": missing,
                **({"not_to_be_published": kept_back} if kept_back else {}),
            },
        )

    def _sentence(self, undeclared: list[int], kept_back: list[str], missing: list[str]) -> str:
        parts = []
        if kept_back:
            parts.append(
                f"{len(kept_back)} not to be published by their role (identifier, drop): {', '.join(kept_back)}: take "
                "them out, as a run does"
            )
        if undeclared:
            parts.append(
                f"{len(undeclared)} undeclared or doubled, at place {', '.join(map(str, undeclared))}: drop them or "
                "declare them in the publication file"
            )
        if missing:
            parts.append(f"{len(missing)} declared but missing ({', '.join(missing)}): write the file again")
        return "; ".join(parts) or f"exactly the {len(self.columns)} declared ones"
