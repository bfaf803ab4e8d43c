"""The criteria by which a table is judged: a publication file, or what a call gives in its place."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from anon_core.errors import InvalidInputError, UnknownColumnError
from anon_core.policy import PartialPolicy
from anon_core.role import Role
from anon_core.spec import PartialPublication

USUAL_K = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Criteria:
    """What a table is judged by; ``unit`` is the column whose people are counted in place of rows."""

    quasi_identifiers: tuple[str, ...]
    sensitive: tuple[str, ...] = ()
    k: int = USUAL_K
    policy: PartialPolicy = field(default_factory=PartialPolicy)
    publication: PartialPublication | None = None
    unit: tuple[str, ...] = ()
    sampling_fraction: float | None = None

    @classmethod
    def of(
        cls,
        publication: PartialPublication | None,
        *,
        quasi_identifiers: Sequence[str] = (),
        sensitive: Sequence[str] = (),
        k: int | None = None,
        unit: Sequence[str] = (),
        sampling_fraction: float | None = None,
    ) -> Criteria:
        """
        Ask what a publication file requires; what is given beside it counts in its place.

        :raises InvalidInputError: there is no quasi-identifier, or a column is named twice or as two things.
        """
        policy = (publication.privacy if publication else None) or PartialPolicy()
        quasi = tuple(quasi_identifiers) or (publication.quasi_identifiers if publication else ())
        declared = publication.names_with_role(Role.SENSITIVE) if publication else ()
        watched = tuple(sensitive) or tuple(name for name in declared if name not in quasi)
        people = tuple(unit) or (publication.unit.columns if publication and publication.unit else ())
        fraction = publication.sampling_fraction if sampling_fraction is None and publication else sampling_fraction
        if not quasi:
            raise InvalidInputError(
                "there is no quasi-identifier; name some with quasi=, or give a publication file that has some"
            )
        named = Counter([*quasi, *watched, *(people if len(people) == 1 else ())])
        if twice := sorted(name for name, times in named.items() if times > 1):
            raise InvalidInputError(
                f"named twice among quasi-identifiers, sensitive columns and the unit: {', '.join(twice)}; "
                "a column can be one of them, once"
            )
        return cls(
            quasi_identifiers=quasi,
            sensitive=watched,
            k=k or policy.k or USUAL_K,
            policy=policy,
            publication=publication,
            unit=people,
            sampling_fraction=fraction,
        )

    @property
    def counted(self) -> str:
        """What is counted, in words."""
        return "people" if self.unit else "rows"

    def of_columns(self, names: Sequence[str]) -> Criteria:
        """
        Ask it of a table with these columns: sensitive ones that are declared and not there are left to a check.

        :raises UnknownColumnError: a quasi-identifier, or a column that was named by hand, is not there.
        """
        declared = self.publication.names_with_role(Role.SENSITIVE) if self.publication else ()
        absent = [name for name in declared if name not in names]
        sensitive = tuple(name for name in self.sensitive if name not in absent)
        if unknown := [name for name in (*self.quasi_identifiers, *sensitive) if name not in names]:
            raise UnknownColumnError(unknown, names)
        return replace(self, sensitive=sensitive)
