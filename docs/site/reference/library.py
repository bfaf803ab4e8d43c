"""The page of the library, from the names that ``import anon_core`` gives."""

from __future__ import annotations

import inspect

from docs.site.reference.markdown import code, docstring, plain, signature

KINDS = ("Verbs", "Privacy models", "Results and types", "Errors")


def page() -> str:
    """Return every public name with its signature and docstring, and what its objects have."""
    import anon_core as ac

    parts = [
        "Made from the docstrings of `import anon_core as ac` when this site was built. "
        "[The library](../api.md) shows sessions."
    ]
    for kind in KINDS:
        parts.append(f"## {kind}")
        for name in ac.__all__:
            thing = getattr(ac, name)
            if kind_of(thing) == kind:
                parts += [f"### {name}", *_described(name, thing)]
    return "\n\n".join(parts) + "\n"


def kind_of(thing: object) -> str:
    """Return under which heading a name stands."""
    import anon_core as ac

    if not inspect.isclass(thing):
        return KINDS[0]
    if issubclass(thing, ac.PrivacyModel) and thing is not ac.PrivacyModel:
        return KINDS[1]
    return KINDS[3] if issubclass(thing, Exception) else KINDS[2]


def _described(name: str, thing: object) -> list[str]:
    if not inspect.isclass(thing):
        return [signature(name, thing), docstring(thing.__doc__)]
    parts = [docstring(thing.__doc__)]
    if kind_of(thing) == KINDS[1]:
        parts.insert(0, signature(name, thing))
    if issubclass(thing, Exception):
        above = next(base for base in thing.__mro__[1:] if not base.__name__.startswith("_"))
        parts.append(f"A kind of {code(above.__name__)}.")
    if members := [*_members(thing)] if kind_of(thing) != KINDS[1] else []:
        parts.append("\n".join(members))
    return parts


def _members(thing: type) -> list[str]:
    """Return the properties and methods that a class or a base of ours documents, each with its first sentence."""
    found = {}
    for owner in reversed(thing.__mro__):
        if owner.__module__.startswith("anon_core"):
            found |= {name: one for name, one in vars(owner).items() if not name.startswith("_")}
    lines = []
    for name, one in sorted(found.items()):
        one = getattr(one, "__func__", one)
        text = inspect.getdoc(one) if isinstance(one, property) or inspect.isfunction(one) else None
        if text:
            first = plain(text.split("\n\n")[0].replace("``", "`"))
            lines.append(f"- {code(name if isinstance(one, property) else name + '()')}: {first}")
    return lines
