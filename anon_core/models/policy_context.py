"""A policy, the columns that it is about, and what the table is compared with: what the models derive checks from."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING, Any

from pydantic import TypeAdapter, ValidationError

from anon_core.errors import InvalidInputError
from anon_core.policy import PartialPolicy
from anon_core.role import Role
from anon_core.spec import PartialPublication

if TYPE_CHECKING:
    from anon_core.models.model import PrivacyModel

NOTHING = "*"
"""What a suppressed cell shows, unless its hierarchy has another word for the root."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyContext:
    """
    A policy with everything that decides which models it requires, and over which columns.

    ``quasi_identifiers`` and ``k`` are those of the publication file, or those that a command gives in their place. An
    acceptance that ended before ``today`` does not count. ``rows_before`` is how many rows were collected, ``original``
    the name of the table as collected; a model that needs one of them is not required without it. ``compared``: the
    table is compared with its original. ``paired``: it is known which original became which row. ``several_rows``:
    whether some people have several rows; None where only the publication file says it. ``present`` are the columns of
    a table that may lack some; None where it must have all.
    """

    policy: PartialPolicy
    quasi_identifiers: tuple[str, ...]
    k: int
    today: date
    publication: PartialPublication | None = None
    rows_before: int | None = None
    original: str | None = None
    compared: bool = False
    paired: bool = False
    several_rows: bool | None = None
    present: tuple[str, ...] | None = None

    def settings_of(self, model: type[PrivacyModel]) -> Any:
        """
        Return the settings of a model, as the policy has them; None where the policy does not ask for the model.

        :raises InvalidInputError: the model cannot read its section of the policy.
        """
        written = getattr(self.policy, str(model.section), None)
        if written is None or model.settings is None:
            return written
        try:
            return TypeAdapter(model.settings).validate_python(written)
        except ValidationError:
            raise InvalidInputError(f"privacy.{model.section} is not what {model.title} can read") from None

    @property
    def tells_people(self) -> bool:
        """Whether the publication has columns that tell people apart, so that a person may have several rows."""
        if self.several_rows is not None:
            return self.several_rows
        unit = None if self.publication is None else self.publication.unit
        return unit is not None and bool(unit.columns)

    def only_present(self, names: tuple[str, ...]) -> tuple[str, ...]:
        """Return the columns of ``names`` that the table has; all of them where it must have all."""
        return names if self.present is None else tuple(name for name in names if name in self.present)

    @property
    def published(self) -> tuple[str, ...]:
        return self.publication.published if self.publication else ()

    @property
    def searched(self) -> tuple[str, ...]:
        """The columns among which the search looks for sets that single people out, in the order of the table."""
        if self.publication is None:
            return ()
        if self.present is None:
            return self.publication.searched
        wanted = (*self.publication.searched, *self.quasi_identifiers)
        return tuple(name for name in self.present if name in wanted)

    @property
    def larger_sets(self) -> tuple[tuple[str, ...], ...]:
        """
        The sets of columns that are measured at any size: all quasi-identifiers with each column declared other.

        An attacker who knows all quasi-identifiers of a person may know this one more column, so the role `other` is
        checked. Where no column is quasi, the set of all searched columns is measured: no other check looks at whole
        rows.
        """
        if self.publication is None:
            return ()
        quasi = self.quasi_identifiers
        if not quasi:
            return (self.searched,)
        others = self.only_present(self.publication.names_with_role(Role.OTHER))
        return tuple((*quasi, name) for name in others if name not in quasi)

    @property
    def judged_others(self) -> tuple[str, ...]:
        """The columns declared other, without those that a person accepts today; only columns that the table has."""
        if self.publication is None:
            return ()
        names = self.only_present(self.publication.judged_others(self.today))
        return tuple(name for name in names if name not in self.quasi_identifiers)

    @property
    def sensitive(self) -> tuple[str, ...]:
        """The sensitive columns that the table has."""
        return self.only_present(self.publication.names_with_role(Role.SENSITIVE)) if self.publication else ()

    @property
    def as_collected(self) -> tuple[str, ...]:
        """The columns that are published as collected, without those that a person accepted by name, each alone."""
        if self.publication is None:
            return ()
        names = self.only_present(self.publication.as_collected(self.today))
        return tuple(name for name in names if name not in self.quasi_identifiers)

    @property
    def accepted(self) -> tuple[tuple[str, ...], ...]:
        """The sets of columns that a person accepts today, sorted."""
        accept = self.policy.published_uniqueness.accept
        return tuple(sorted(tuple(sorted(one.columns)) for one in accept if one.until >= self.today))

    def hierarchy(self, name: str) -> dict[str, Any]:
        """
        Return the hierarchy of a column as a suite holds it: the keys of the publication file, with a file's sha256.

        :raises HierarchyError: a hierarchy file cannot be read.
        """
        publication = self.publication
        column = publication.effective_columns.get(name) if publication else None
        if publication is None or column is None or column.hierarchy is None:
            written: dict[str, Any] = {"root": NOTHING}
        else:
            written = column.hierarchy.model_dump(mode="json", exclude_defaults=True)
        if "file" in written and publication is not None:
            written["sha256"] = publication.file_digest(f"columns.{name}.hierarchy.file", written["file"])
        if column is not None and column.withheld is not None:
            written["withheld"] = column.withheld
        if publication is not None and any(one.column == name for one in publication.recode.grouped):
            written["groups"] = True
        return written

    def roots(self, name: str) -> tuple[str, ...]:
        """
        Return the labels that say nothing about a cell: that of the root, and those of levels below it on which a
        hierarchy file has one label for all values.
        """
        publication = self.publication
        column = publication.effective_columns.get(name) if publication else None
        hierarchy = column.hierarchy if column else None
        if publication is None or hierarchy is None or hierarchy.file is None:
            return ((hierarchy.root if hierarchy else None) or NOTHING,)
        from anon_core.hierarchy.files import read_levels

        return (NOTHING, *read_levels(publication.resolve(hierarchy.file)).saying_nothing)
