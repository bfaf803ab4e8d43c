"""The pages of the seams: privacy models, recoding methods, sources, engines and portals, from their registries."""

from __future__ import annotations

import inspect
import re
from dataclasses import MISSING, fields
from typing import Any

from anon_core.registry import ENGINES, METHODS, MODELS, PORTALS, SOURCES
from docs.site.reference.markdown import code, docstring, plain, table

_SEEN_BY_PEOPLE = {True: "yes", False: "no"}


def models_page() -> str:
    """Return every privacy model in the order of the reports."""
    parts = [
        "Made from the registry of privacy models when this site was built, in the order in which reports show them. "
        "[Measures](../measures.md) explains the figures, [what can be waived](../gate.md#waivers-and-acceptances) "
        "the rules of waivers."
    ]
    for key, model in MODELS.members().items():
        parts += [f"## {key}", _promise(model), docstring(model.__doc__)]
        parts.append(table(["property", "value"], _facts(model)))
        own = [one for one in fields(model) if one.name != "columns"]
        if own:
            parts.append(
                table(
                    ["field", "type", "default"], [[code(one.name), code(str(one.type)), _default(one)] for one in own]
                )
            )
    return "\n\n".join(parts) + "\n"


def _promise(model: Any) -> str:
    title = plain(model.title)
    promise = plain(re.sub(r"{(.+?)}", r"`\1`", model.promise))
    return f"**{title[0].upper()}{title[1:]}**: {promise}."


def _facts(model: Any) -> list[list[str]]:
    asked = f"`privacy.{model.section}`" if model.section else "every publication"
    waived = "yes" if model.waivable else f"no: {plain(model.instead)}"
    return [
        ["asked for by", asked],
        ["counts people where these are known", _SEEN_BY_PEOPLE[model.counts_people]],
        ["can be waived", waived],
        ["merging two classes that keep it keeps it", _SEEN_BY_PEOPLE[model.monotone]],
        ["its figures are public", _SEEN_BY_PEOPLE[model.of_bytes]],
        ["class", code(f"{model.__module__}.{model.__name__}")],
    ]


def _default(one: Any) -> str:
    if one.default is not MISSING:
        return code(str(one.default))
    return "" if one.default_factory is not MISSING else "required"


def others_page() -> str:
    """Return every recoding method, source, engine and portal."""
    parts = ["Made from the registries when this site was built. [Other packages](../extending.md) can bring more."]
    for title, registry, asked in (
        ("Recoding methods", METHODS, "recode.method: {}"),
        ("Sources", SOURCES, "source: {{{}: ...}}"),
        ("Engines", ENGINES, "engine: {}"),
        ("Portals", PORTALS, "portal: {{{}: ...}}"),
    ):
        parts.append(f"## {title}")
        for key, member in registry.members().items():
            cls = member if inspect.isclass(member) else type(member)
            parts += [f"### {key}", f"In a publication file: {code(asked.format(key))}.", docstring(cls.__doc__)]
            parts.append(f"Class: {code(f'{cls.__module__}.{cls.__name__}')}.")
    return "\n\n".join(parts) + "\n"
