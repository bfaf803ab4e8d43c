"""What is asked of a table: a policy, the columns that it is about, and what the table is compared with."""

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
"""What a cell says that says nothing any more, unless its hierarchy has another word."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyContext:
    """
    What a publication requires of its release, or a command of a table.

    ``quasi_identifiers`` and ``k`` are the file's own, or given in their place. Acceptances that ended before ``today``
    do not count. ``rows_before`` is how many rows were collected, ``original`` the name of the table as collected;
    without them what needs them is not asked. With ``paired`` it is known which original became which row;
    ``several_rows``: some people have several, None where only the publication file tells. ``present`` are the columns
    of a table that may lack some; None where it must have all.
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
        Return what the policy says to a model, as its settings; None where it says nothing.

        :raises InvalidInputError: that is not what the model can read.
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
        """Return those of some columns that the table has, or must have."""
        return names if self.present is None else tuple(name for name in names if name in self.present)

    @property
    def published(self) -> tuple[str, ...]:
        return self.publication.published if self.publication else ()

    @property
    def searched(self) -> tuple[str, ...]:
        """The columns in which sets that single people out are searched for, in the order of the table."""
        if self.publication is None:
            return ()
        if self.present is None:
            return self.publication.searched
        wanted = (*self.publication.searched, *self.quasi_identifiers)
        return tuple(name for name in self.present if name in wanted)

    @property
    def larger_sets(self) -> tuple[tuple[str, ...], ...]:
        """
        The sets of columns that are measured whatever their size: all quasi-identifiers with each column declared other.

        An attacker who knows all quasi-identifiers of a person may know this one more thing: `other` is a claim to be
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
        """The columns declared other that nobody accepts today, as far as they are there."""
        if self.publication is None:
            return ()
        names = self.only_present(self.publication.judged_others(self.today))
        return tuple(name for name in names if name not in self.quasi_identifiers)

    @property
    def sensitive(self) -> tuple[str, ...]:
        """The sensitive columns, as far as they are there."""
        return self.only_present(self.publication.names_with_role(Role.SENSITIVE)) if self.publication else ()

    @property
    def as_collected(self) -> tuple[str, ...]:
        """The columns that are published as they are, but those that somebody accepted by name, each alone."""
        if self.publication is None:
            return ()
        names = self.only_present(self.publication.as_collected(self.today))
        return tuple(name for name in names if name not in self.quasi_identifiers)

    @property
    def accepted(self) -> tuple[tuple[str, ...], ...]:
        """The sets of columns that somebody accepts today, sorted."""
        accept = self.policy.published_uniqueness.accept
        return tuple(sorted(tuple(sorted(one.columns)) for one in accept if one.until >= self.today))

    def hierarchy(self, name: str) -> dict[str, Any]:
        """
        Return a hierarchy as a suite has it, by the words of the file; a hierarchy file with its sha256.

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
        Return what a cell of a column says when it says nothing any more: the label of the root, and of levels below it
        on which a hierarchy file has one label for everything.
        """
        publication = self.publication
        column = publication.effective_columns.get(name) if publication else None
        hierarchy = column.hierarchy if column else None
        if publication is None or hierarchy is None or hierarchy.file is None:
            return ((hierarchy.root if hierarchy else None) or NOTHING,)
        from anon_core.hierarchy.files import read_levels

        return (NOTHING, *read_levels(publication.resolve(hierarchy.file)).saying_nothing)
