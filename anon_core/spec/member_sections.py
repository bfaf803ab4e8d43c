"""Sections that members read with their own settings: ``source``, ``portal``, and ``privacy`` keys of other packages.

Members are found in their registries. A section for a member that is not installed is kept as :class:`Unread`: the file
can be read and its DAG drawn, and only a run refuses it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, Self

from pydantic import BeforeValidator, Field, SerializeAsAny, TypeAdapter, ValidationError, ValidationInfo

from anon_core.errors import InvalidInputError, Problem
from anon_core.files.yaml_lines import Document, Location, name_of, plain
from anon_core.policy import PartialPolicy
from anon_core.registry import MODELS, PORTALS, SOURCES, Registry
from anon_core.settings import Settings, Whole, quoted
from anon_core.spec.checks import plain_sentences
from anon_core.spec.private_folders import PrivateFolder
from anon_core.spec.written import Unread, misspelt


class SourceSettings(Settings):
    """The base of the settings of a source; every source has a subclass of its own."""

    @property
    def template(self) -> str:
        """The text that is filled in for each period and handed to the source; empty where it needs none."""
        return ""

    @property
    def reading(self) -> Mapping[str, Any]:
        """How a file with this table is read, as arguments of ``ReadOptions``: for commands that get such a file."""
        return {}

    @classmethod
    def private_folders(cls, root: Path, text: str, *, look: bool = False) -> Iterable[PrivateFolder]:
        """
        Return the folders on this machine that hold originals, which a portal must not show.

        ``text`` is what the file has under the key of the source, as written or filled in; it may be wrong, since it is
        not checked yet. With ``look`` the files are searched on disk, because they may be links.
        """
        return ()


class PortalSettings(Settings):
    """
    The base of the settings of a portal; every portal has a subclass of its own.

    ``keep`` is how many versions stay, None for all. The audit store records these settings: they must hold no secret.
    """

    keep: Annotated[Whole, Field(ge=1)] | None = None

    def resolved(self, root: Path) -> Self:
        """Return the settings with relative paths resolved from a folder, so that they are the same everywhere."""
        return self

    @property
    def shown_folder(self) -> Path | None:
        """The folder on this machine whose whole content readers see, resolved; None for a portal elsewhere."""
        return None

    @property
    def place(self) -> str | None:
        """The name by which a site policy allows a portal that is no folder; None if it has no name."""
        return None


def key_in(registry: Registry, section: Mapping[str, Any]) -> str | None:
    """
    Return the key of the member that a section names, None if it names none.

    :raises InvalidInputError: it names several.
    """
    named = [key for key in (*registry.keys(),) if section.get(key) is not None]
    if len(named) > 1:
        raise InvalidInputError(f"names {' and '.join(f'`{key}`' for key in named)}; it needs exactly one of them")
    return named[0] if named else None


def member_of(registry: Registry, section: Settings) -> Any:
    """
    Return the member that a section is for.

    :raises InvalidInputError: it is not installed.
    """
    if isinstance(section, Unread):
        raise section.refuse()
    return registry.get(key_in(registry, dict(section)) or "")


def _reader(registry: Registry, name: str, base: type[Settings]) -> Callable[[Any, ValidationInfo], Any]:
    """Return a function that reads a section: as settings of its member, or as unread if that is not installed."""

    def read(value: Any, info: ValidationInfo) -> Any:
        if isinstance(value, Settings):
            return value
        if not isinstance(value, dict):
            return base.model_validate(value, context=info.context)  # Its error says that it should be a mapping.
        key = key_in(registry, value) or _meant(registry, value)
        if key not in registry:
            return Unread.of(registry, key, (name, key), value)
        off = {*registry.keys()} & {*value} - {key}
        section = {each: one for each, one in value.items() if each not in off} if off else value
        return registry.get(key).settings.model_validate(section, context=info.context)

    def guarded(value: Any, info: ValidationInfo) -> Any:
        try:
            return read(value, info)
        except InvalidInputError as error:  # Two keys, a key that two packages bring, or one that cannot be imported.
            raise ValueError(str(error)) from None
        except (AttributeError, TypeError, LookupError) as error:  # One such package must not stop the other DAGs.
            raise ValueError(f"a package that brings a {registry.noun} fails ({type(error).__name__})") from None

    return guarded


def _meant(registry: Registry, section: Mapping[str, Any]) -> str:
    """
    Return the key that a section without an installed member means: a misspelt one, or one that is not installed.

    :raises ValueError: the section does not show it.
    """
    fields = {key: set(member.settings.model_fields) for key, member in registry.members().items()}
    known = set().union(*fields.values())
    strange = [str(key) for key in section if key not in known]
    if slips := [meant for key in strange if (meant := misspelt(key, registry))]:
        return slips[0]
    if strange and not any(misspelt(key, tuple(sorted(known))) for key in strange):
        return strange[0]
    fitting = [key for key, own in fields.items() if own >= {*section} - {*strange}]
    if len(fitting) != 1:
        raise ValueError(f"needs exactly one of {' and '.join(f'`{key}`' for key in fields)}")
    return fitting[0]


SourceSection = Annotated[
    SerializeAsAny[SourceSettings] | Unread, BeforeValidator(_reader(SOURCES, "source", SourceSettings))
]
PortalSection = Annotated[
    SerializeAsAny[PortalSettings] | Unread, BeforeValidator(_reader(PORTALS, "portal", PortalSettings))
]


def unread_in(value: Any) -> Iterator[Unread]:
    """Yield the parts of a publication file for members that are not installed, from all sections."""
    if isinstance(value, Unread):
        yield value
    elif isinstance(value, Settings):
        for name in (*type(value).model_fields, *(value.model_extra or ())):
            yield from unread_in(getattr(value, name))
    elif isinstance(value, dict | tuple | list):
        for one in value.values() if isinstance(value, dict) else value:
            yield from unread_in(one)


def read_foreign_models(document: Document, context: dict[int, Any]) -> list[Problem]:
    """
    Replace the keys of privacy models of other packages by their settings, and return what is wrong.

    A key of a package that is not installed stays as it is written; one that is nearly a known key is a mistake.
    """
    privacy = document.content.get("privacy")
    if not isinstance(privacy, dict):
        return []
    problems = []
    for key in [key for key in privacy if key not in PartialPolicy.model_fields]:
        location: Location = ("privacy", key)
        if privacy[key] is None:
            del privacy[key]
            continue
        model = MODELS.get(key) if key in MODELS else None
        if model is not None and model.section == key:
            try:
                privacy[key] = TypeAdapter(model.settings).validate_python(privacy[key], context=context)
                continue
            except ValidationError as error:
                problems += plain_sentences(error, document, context, below=location)
        elif not isinstance(key, str) or (meant := misspelt(key, (*PartialPolicy.model_fields, *MODELS.foreign()))):
            did_you_mean = f"; did you mean `{meant}`?" if isinstance(key, str) else ""
            what = f"unknown key {quoted(key)}{did_you_mean}"
            problems.append(Problem(document.line(location), name_of(location), what))
        else:
            reason = (
                f"no installed package brings the privacy model `{key[:80]}`; install the one that does, or remove it"
            )
            privacy[key] = Unread(where=name_of(location), reason=reason, content=plain(privacy[key]))
            continue
        del privacy[key]
    return problems
