"""The seams of the product: where privacy models, methods, portals, sources and engines are found by their keys.

A DAG file reads these tables every few seconds, so this module imports none of the members. A member is a light class
or object: it imports what it works with only inside its functions.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache, cached_property
from importlib import import_module
from importlib.metadata import EntryPoint, PackageNotFoundError, entry_points, version
from typing import Any

from anon_core.errors import InvalidInputError

__all__ = ["ANY_ENGINE", "ENGINES", "METHODS", "MODELS", "PORTALS", "SOURCES", "Provider", "Registry"]

ANY_ENGINE = "auto"
"""What a publication file says for the first engine that reads its source."""
_KEY = re.compile(r"[a-z][a-z0-9]*(_[a-z0-9]+)*")
OURS = "anonflow"
"""The package that our own members come with."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Provider:
    """The installed package that a member comes with."""

    package: str
    version: str


class Registry:
    """
    The members of one seam by their keys: our own first, in the order given, then those of other packages by key.

    ``own`` names ours as ``module:attribute``. Other packages declare an entry point in ``group``, whose name is the
    key, so that every process finds them. ``noun`` is what a member is called in messages. ``called`` names the
    attributes by which a member says its key itself: a member that says another one could stand for that.
    """

    def __init__(self, group: str, noun: str, own: Mapping[str, str], called: tuple[str, ...] = ()) -> None:
        self.group = group
        self.noun = noun
        self._own = dict(own)
        self._called = called
        self._loaded: dict[str, Any] = {}
        self._registered: dict[str, Provider] = {}

    @cached_property
    def _installed(self) -> dict[str, EntryPoint]:
        found: dict[str, EntryPoint] = {}
        for one in sorted(entry_points(group=self.group), key=lambda one: one.name):
            self._refuse_twice(one.name, _provider_of(one), found)
            found[one.name] = one
        return found

    def keys(self) -> tuple[str, ...]:
        """
        Return the keys of all members, none of which is imported.

        :raises InvalidInputError: two packages bring a member of one key.
        """
        return (*self._own, *self.foreign())

    def foreign(self) -> tuple[str, ...]:
        """Return the keys of the members that are not ours."""
        return (*self._installed, *self._registered)

    def __contains__(self, key: object) -> bool:
        return key in self.keys()

    def get(self, key: str) -> Any:
        """
        Return the member of a key.

        :raises InvalidInputError: there is none, or the package that brings it cannot be imported.
        """
        if key not in self._loaded:
            if key in self._own:
                module, _, name = self._own[key].partition(":")
                self._loaded[key] = getattr(import_module(module), name)
            elif key in self._installed:
                self._loaded[key] = self._load(key)
            else:
                raise InvalidInputError(self.absent(key))
        return self._loaded[key]

    def members(self) -> dict[str, Any]:
        """Return all members by key."""
        return {key: self.get(key) for key in self.keys()}

    def absent(self, key: str) -> str:
        """Return the sentence that says that no installed package brings a member."""
        return (
            f"no installed package brings the {self.noun} `{key[:80]}`; install the one that does, or use one of "
            f"{', '.join(self.keys())}"
        )

    def provider(self, key: str) -> Provider:
        """
        Return the package that brings a member, and its version.

        :raises InvalidInputError: there is no such member.
        """
        if key in self._own:
            return _ours()
        if key in self._installed:
            return _provider_of(self._installed[key])
        if key in self._registered:
            return self._registered[key]
        raise InvalidInputError(self.absent(key))

    def register(self, key: str, member: Any) -> None:
        """
        Add a member in this process only, such as one of a notebook; a task that Airflow runs needs an entry point.

        :raises InvalidInputError: there is a member of this key already.
        """
        provider = Provider(package=f"{getattr(member, '__module__', 'unknown')}, not installed", version="unknown")
        self._refuse_twice(key, provider, self._installed)
        self._refuse_name(key, member, provider)
        self._refuse_settings(key, member, provider)
        self._loaded[key] = member
        self._registered[key] = provider

    @contextmanager
    def registered(self, key: str, member: Any) -> Iterator[None]:
        """Add a member as long as the block lasts."""
        self.register(key, member)
        try:
            yield
        finally:
            del self._loaded[key], self._registered[key]

    def _refuse_twice(self, key: str, provider: Provider, installed: Mapping[str, EntryPoint]) -> None:
        before = _ours() if key in self._own else self._registered.get(key)
        if key in installed:
            before = _provider_of(installed[key])
        if before is not None:
            raise InvalidInputError(
                f"two packages bring a {self.noun} `{key}`: {before.package} {before.version} and {provider.package} "
                f"{provider.version}; uninstall one of them"
            )

    def _refuse_name(self, key: str, member: Any, provider: Provider) -> None:
        said = [getattr(member, name, None) for name in self._called]
        if not _KEY.fullmatch(key) or any(one != key for one in said):
            raise InvalidInputError(
                f"the {self.noun} `{key[:80]}` of {provider.package} {provider.version} cannot be used: a key is small "
                "letters, digits and single underscores, and what the member calls itself must be the same"
            )

    def _refuse_settings(self, key: str, member: Any, provider: Provider) -> None:
        from anon_core.unknown_keys import types_that_ignore_keys

        if loose := types_that_ignore_keys(getattr(member, "settings", None)):
            raise InvalidInputError(
                f"the {self.noun} `{key}` of {provider.package} {provider.version} cannot be used: {', '.join(loose)}, "
                "by which its settings are read, would let a misspelt key pass; make it a subclass of "
                "anon_core.settings.Settings"
            )

    def _load(self, key: str) -> Any:
        provider = self.provider(key)
        try:
            member = self._installed[key].load()
        except Exception as error:
            raise InvalidInputError(
                f"the {self.noun} `{key}` of {provider.package} {provider.version} cannot be imported "
                f"({type(error).__name__}); repair or uninstall that package"
            ) from error
        self._refuse_name(key, member, provider)
        self._refuse_settings(key, member, provider)
        return member


def _provider_of(found: EntryPoint) -> Provider:
    distribution = found.dist
    if distribution is None:
        return Provider(package=found.value, version="unknown")
    return Provider(package=distribution.name, version=distribution.version)


@cache
def _ours() -> Provider:
    try:
        return Provider(package=OURS, version=version(OURS))
    except PackageNotFoundError:  # Run from a checkout that is not installed.
        from anon_core import __version__

        return Provider(package=OURS, version=__version__)


MODELS = Registry(
    "anonflow.models",
    "privacy model",
    {
        "no_undeclared_column": "anon_core.models.undeclared_columns:NoUndeclaredColumn",
        "declared_types": "anon_core.models.declared_types:DeclaredTypes",
        "no_singletons": "anon_core.models.singletons:Singletons",
        "k_anonymity": "anon_core.models.k_anonymity:KAnonymity",
        "k_beside_original": "anon_core.models.k_beside_original:KBesideOriginal",
        "joint_classes": "anon_core.models.joint_classes:JointClasses",
        "joint_beside_original": "anon_core.models.joint_classes:JointBesideOriginal",
        "made_from_original": "anon_core.models.made_from_original:MadeFromOriginal",
        "removal": "anon_core.models.removal:Removal",
        "max_risk": "anon_core.models.risk:MaxRisk",
        "l_diversity": "anon_core.models.l_diversity:LDiversity",
        "t_closeness": "anon_core.models.t_closeness:TCloseness",
        "alpha": "anon_core.models.alpha_anonymity:AlphaAnonymity",
        "common_values": "anon_core.models.common_values:CommonValues",
        "half_of_class": "anon_core.models.half_of_class:HalfOfClass",
        "max_rows_per_person": "anon_core.models.max_rows_per_person:MaxRowsPerPerson",
        "row_sets": "anon_core.models.row_sets:RowSets",
        "no_published_identifier": "anon_core.models.published_identifier:NoPublishedIdentifier",
        "published_uniqueness": "anon_core.models.published_uniqueness:PublishedUniqueness",
        "personal_patterns": "anon_core.models.personal_patterns:PersonalPatterns",
        "restored_values": "anon_core.models.restored_values:RestoredValues",
        "sensitive_alone": "anon_core.models.sensitive_alone:SensitiveAlone",
        "unique_with_sensitive": "anon_core.models.unique_with_sensitive:UniqueWithSensitive",
        "homogeneity": "anon_core.models.homogeneity:Homogeneity",
        "max_sensitivity": "anon_core.models.sensitivity:MaxSensitivity",
        "rows_suppressed_at_most": "anon_core.models.suppression:RowsSuppressedAtMost",
        "no_freeform_breach": "anon_core.models.freeform:NoFreeformBreach",
    },
    called=("key", "section"),
)
"""Every privacy model, in the order in which measurements are shown."""

METHODS = Registry(
    "anonflow.methods",
    "recoding method",
    {
        "none": "anon_core.recoding.none:NoRecoding",
        "singletons": "anon_core.recoding.singletons:SingletonRecoding",
        "global": "anon_core.recoding.lattice:GlobalRecoding",
        "prioritised": "anon_core.recoding.prioritised:PrioritisedRecoding",
        "freeform": "anon_core.recoding.freeform:FreeformRecoding",
        "best": "anon_core.recoding.best:BestRecoding",
    },
    called=("key",),
)
"""Every recoding method, in the order in which `best` tries them."""

PORTALS = Registry(
    "anonflow.portals",
    "portal",
    {
        "folder": "anon_airflow.portals.folder.portal:FolderPortal",
        "ckan": "anon_airflow.portals.ckan.portal:CkanPortal",
    },
)
SOURCES = Registry("anonflow.sources", "source", {"file": "anon_airflow.sources.file:FileSource"})
ENGINES = Registry("anonflow.engines", "engine", {"arrow": "anon_core.engines.arrow:ArrowEngine"})
"""What counts rows and makes the released ones, in the order in which `engine: auto` tries them."""
