"""Checks of a publication file beyond single fields: features not built yet, and keys that must fit each other.

These checks read the parsed YAML and not the models, so that they also run when other fields are wrong.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pydantic import BaseModel, ValidationError

from anon_core.errors import InvalidInputError, Problem
from anon_core.files.formula_signs import begins_a_formula
from anon_core.files.name_rules import fault_of_name
from anon_core.files.yaml_lines import Document, Location, as_text, name_of
from anon_core.registry import METHODS
from anon_core.settings import quoted
from anon_core.spec.coarsen import coarsen_problems
from anon_core.spec.guards import freeform_problems, guarded_names, waiver_problems
from anon_core.spec.parts import decompose_problems, with_parts
from anon_core.spec.raised import raised_problems
from anon_core.spec.uniqueness import uniqueness_problems
from anon_core.spec.unit import unit_problems
from anon_core.spec.written import ROLES, Found, Written, at, did_you_mean, list_at, text_at, unknown_column

_REMOVE = "remove it or set it to null"
_ANY = None

# Key, the values of it that this version does not have (_ANY: every value that does not mean "off"), what to do.
# Building a feature ends with deleting its line.
NOT_BUILT: tuple[tuple[str, tuple[object, ...] | None, str], ...] = (
    ("missing", ("wildcard",), "use category or drop"),
    ("privacy.earlier_releases", _ANY, _REMOVE),
    ("recode.sticky", _ANY, _REMOVE),
)

_KINDS = ("intervals", "file", "root", "prefix", "date")
_AS_A_FILE = ("cuts", "frequency", "groups", "rules")
"""Hierarchies that `anon hierarchy build` makes, or people write, as a file of their own."""


def not_built_problems(document: Document) -> list[Problem]:
    """Refuse by name every key whose feature is not built, and blank the ones that are written but off."""
    problems = []
    for pattern, refused, advice in NOT_BUILT:
        for location, value in _find(document.content, tuple(pattern.split(".")), ()):
            if refused is _ANY and _is_off(value):
                at(document.content, location[:-1])[location[-1]] = None
            elif refused is _ANY or any(type(value) is type(one) and value == one for one in refused):
                name = name_of(location) if refused is _ANY else f"{name_of(location)}: {quoted(value)[1:-1]}"
                what = f"`{name}` is not supported yet; {advice}"
                problems.append(Problem(document.line(location), name_of(location), what))
    return problems


def _is_off(value: Any) -> bool:
    return value is None or value is False or value in ([], {})


def _find(value: Any, pattern: tuple[str, ...], location: Location) -> Iterator[tuple[Location, Any]]:
    if not pattern:
        yield location, value
    elif isinstance(value, dict):
        for key in list(value) if pattern[0] == "*" else [pattern[0]] if pattern[0] in value else []:
            yield from _find(value[key], pattern[1:], (*location, key))


def cross_problems(document: Document, *, partial: bool) -> list[Problem]:
    """Return what is wrong between keys: columns that do not exist, roles and methods that do not fit."""
    columns = at(document.content, ("columns",))
    found = [*_approval_problems(document.content), *_formula_problems(document.content)]
    found += [*waiver_problems(document.content), *raised_problems(document.content)]
    if isinstance(columns, dict) and columns:
        roles = {name: text_at(column, ("role",)) for name, column in columns.items()}
        found += _name_problems(columns)
        found += _column_problems(columns, roles, _climbed(document.content), guarded_names(document.content))
        found += decompose_problems(columns)
        found += coarsen_problems(document.content, columns)
        found += freeform_problems(document.content, columns, partial=partial)
        found += _reference_problems(document.content, columns)
        found += unit_problems(document.content, columns)
        found += uniqueness_problems(document.content, columns, partial=partial)
        if not partial or at(document.content, ("recode",)) is not None:
            found += _method_problems(Written(content=document.content, partial=partial))
    if not partial:
        found += _mode_problems(document.content)
    return [Problem(document.line(location), name_of(location), what) for location, what in found]


def _approval_problems(content: Any) -> Found:
    """Yield the settings of an approval that is not required: the author of the file may believe that it is."""
    approval = at(content, ("approval",))
    if isinstance(approval, dict) and approval.get("required") is not True:
        for key in ("users", "four_eyes", "timeout"):
            if not _is_off(approval.get(key)):
                what = "has no effect, because no approval is required; set `required: true` or remove it"
                yield ("approval", key), what


def _name_problems(columns: Mapping[str, Any]) -> Found:
    """Yield the columns whose names a table cannot have: logs, reports and the page of the release repeat names."""
    try:
        faults = [(place, fault_of_name(str(name))) for place, name in enumerate({**columns, **with_parts(columns)}, 1)]
    except InvalidInputError as error:  # The setting of the limit is wrong.
        yield ("columns",), str(error)
        return
    for place, fault in faults:
        if fault:
            yield ("columns",), f"the name of column {place} {fault}; rename it, here and in the table"


def _formula_problems(content: Any) -> Found:
    """Yield the columns whose names a spreadsheet would run; a release cannot change names in the first line."""
    columns = at(content, ("columns",))
    if at(content, ("csv", "escape_formulas")) is not True or not isinstance(columns, dict):
        return
    for name in with_parts(columns):
        if begins_a_formula(str(name)):
            what = "a spreadsheet would run this name as a formula, in the file's first line; rename the column"
            yield ("columns", name), what


def _climbed(content: Any) -> list[str]:
    """Return the sensitive columns whose t-closeness needs their hierarchy."""
    entries = list_at(content, ("privacy", "t_closeness"))
    return [text_at(one, ("column",)) for one in entries if text_at(one, ("distance",)) == "hierarchical"]


def _column_problems(
    columns: Mapping[str, Any], roles: Mapping[str, str], climbed: Sequence[str], guarded: Sequence[str]
) -> Found:
    for name, column in columns.items():
        role, hierarchy = roles[name], at(column, ("hierarchy",))
        if role in ROLES and role != "quasi" and at(column, ("priority",)) is not None:
            yield ("columns", name, "priority"), "only a quasi column has a priority; remove it or set `role: quasi`"
        if at(column, ("type",)) is not None and role in ("identifier", "drop", "quasi"):
            why = "may be generalised, and labels have no type" if role == "quasi" else "is never published"
            yield ("columns", name, "type"), f"a column of role `{role}` {why}; remove it"
        if role in ("identifier", "drop") and hierarchy is not None:
            what = f"a column of role `{role}` is never published, so a hierarchy has no use; remove it"
            yield ("columns", name, "hierarchy"), what
        applied = name in [*climbed, *guarded] or at(column, ("coarsen", "level")) is not None
        if role in ("sensitive", "other") and hierarchy is not None and not applied:
            what = (
                f"a hierarchy of a column of role `{role}` would not be applied: remove it, or guard values of the "
                "column in `privacy.freeform`"
            )
            yield ("columns", name, "hierarchy"), what
        if name in climbed and hierarchy is None:
            yield ("columns", name), "`distance: hierarchical` in `privacy.t_closeness` needs a hierarchy of the column"
        for location in _hierarchies(name, column):
            written = at(columns, location[1:])
            kinds = [kind for kind in _KINDS if written.get(kind) is not None]
            if len(kinds) != 1 and not (set(written) & set(_AS_A_FILE)):  # These are reported as unknown keys.
                yield location, f"needs exactly one of {', '.join(_KINDS)}; it has {' and '.join(kinds) or 'none'}"
            if written.get("levels") is not None and written.get("file") is None:
                yield (*location, "levels"), "names the levels of a hierarchy file; set `file` too, or remove it"
    # A misspelt role may mean any role, and is reported elsewhere.
    if set(roles.values()) <= {"identifier", "drop"}:
        yield ("columns",), "no column would be published; give at least one the role quasi, sensitive or other"


def _hierarchies(name: str, column: Any) -> Iterator[Location]:
    """Yield where the hierarchies of a column and of its parts are written."""
    below: Location = ("decompose", "hierarchies")
    parts = at(column, below)
    for place in (("hierarchy",), *((*below, part) for part in (parts if isinstance(parts, dict) else ()))):
        if isinstance(at(column, place), dict):
            yield ("columns", name, *place)


def _reference_problems(content: Any, declared: Mapping[str, Any]) -> Found:
    columns = with_parts(declared)
    roles = {name: text_at(column, ("role",)) for name, column in columns.items()}
    quasi = "quasi" in roles.values()
    for location, written in _references(content):
        name = as_text(written)
        if not isinstance(name, str):
            continue
        if (unknown := unknown_column(name, declared)) is not None:
            yield location, unknown
        elif location[1:2] in (("l_diversity",), ("t_closeness",), ("alpha",)):
            if roles[name] not in ("sensitive", "other"):
                yield location, f"column {quoted(name)} should have the role sensitive, not {roles[name]}"
        elif location[:3] == ("privacy", "patterns", "accept") and roles[name] in ("identifier", "drop"):
            yield location, f"column {quoted(name)} of role {roles[name]} is never published: nothing is to be accepted"
        elif location[:3] == ("privacy", "published_uniqueness", "accept"):
            alone = len(list_at(content, location[:-1])) == 1
            if roles[name] in ("identifier", "drop") or (roles[name] == "sensitive" and quasi and not alone):
                what = (
                    f"column {quoted(name)} of role {roles[name]} is not searched in a set: nothing is to be accepted"
                )
                yield location, what


def _references(content: Any) -> Iterator[tuple[Location, Any]]:
    """Yield every location that names a column, and what is written there."""
    accept: Location = ("privacy", "published_uniqueness", "accept")
    single: list[Location] = []
    for key in ("l_diversity", "t_closeness", "alpha"):
        single += [("privacy", key, index, "column") for index, _ in enumerate(list_at(content, ("privacy", key)))]
    for location in single:
        yield location, at(content, location)
    patterns: Location = ("privacy", "patterns", "accept")
    for index, _ in enumerate(list_at(content, patterns)):
        yield (*patterns, index, "column"), at(content, (*patterns, index, "column"))
    several: list[Location] = [(*accept, index, "columns") for index, _ in enumerate(list_at(content, accept))]
    for location in several:
        yield from (((*location, index), name) for index, name in enumerate(list_at(content, location)))
    keyed: list[Location] = [("privacy", "freeform", "columns"), ("detect", "reveal_probability")]
    for location in keyed:
        keys = at(content, location)
        # `default` stands for every column that is not named.
        yield from (((*location, key), key) for key in (keys if isinstance(keys, dict) else ())
                    if (location[0], key) != ("detect", "default"))  # fmt: skip


def _method_problems(file: Written) -> Found:
    """Yield the problems that the recoding method, and methods with a section in the file, find in it."""
    if file.method in METHODS:
        yield from METHODS.get(file.method)().problems(file)
    for key in file.sections:
        yield from METHODS.get(key)().section_problems(file)


def _mode_problems(content: Any) -> Found:
    """Yield settings whose result the gate would refuse: modes paper and link do not reach exact k."""
    mode = text_at(content, ("recode", "mode"))
    if mode in ("paper", "link") and text_at(content, ("privacy", "k_means")) != "link":
        what = (
            f"`mode: {mode}` does not reach the exact k that is required; set `privacy.k_means: link`, or `mode: safe`"
        )
        yield ("recode", "mode"), what


def plain_sentences(
    error: ValidationError, document: Document, models: Mapping[int, type[BaseModel]], *, below: Location = ()
) -> list[Problem]:
    """
    Translate pydantic's errors about what stands ``below`` a location.

    ``models`` tells which model read which mapping, by the mapping's id.
    """
    problems = []
    for one in error.errors(include_url=False, include_input=True):
        location = _without_tags((*below, *one["loc"]), document.content)
        what = _sentence(one["type"], one.get("ctx", {}), one["input"], one["msg"])
        if one["type"] == "extra_forbidden":
            model = models.get(id(at(document.content, location[:-1])))
            known = model.model_fields if model else ()
            what = f"unknown key {quoted(location[-1])}{did_you_mean(str(location[-1]), known)}"
            if location[-1] in _AS_A_FILE and "intervals" in known:
                what = _as_a_file(str(location[-1]))
        problems.append(Problem(document.line(location), name_of(location), what))
    return problems


def _as_a_file(key: str) -> str:
    built = f"not written here; build it as a file with `anon hierarchy build --{key}`"
    return f"{'rules stand in a file of their own' if key == 'rules' else built}; name that: `hierarchy: {{file: ...}}`"


def _without_tags(loc: Location, content: Any) -> Location:
    location: Location = ()
    for part in loc:
        here = at(content, location)
        if part not in ("<value>", "<mapping>") or (isinstance(here, dict) and part in here):
            location = (*location, part)
    return location


def _sentence(kind: str, context: Mapping[str, Any], value: Any, message: str) -> str:
    wanted = {
        "string_type": "text",
        "int_type": "a whole number",
        "bool_type": "true or false",
        "tuple_type": "a list",
        "dict_type": "a mapping (`key: value`)",
        "model_type": "a mapping (`key: value`)",
        "greater_than_equal": f"at least {context.get('ge')}",
        "greater_than": f"more than {context.get('gt')}",
        "less_than": f"less than {context.get('lt')}",
        "less_than_equal": f"at most {context.get('le')}",
        "enum": f"one of {context.get('expected')}",
        "literal_error": context.get("expected"),
    }.get(kind, "a date such as 2027-12-31" if kind.startswith("date") else None)
    if kind == "missing":
        return "is required"
    if kind == "value_error":
        return str(context["error"])
    if wanted is None:
        return message[:1].lower() + message[1:]
    quotes = "; write it in quotes" if kind == "string_type" and not isinstance(value, dict | list | None) else ""
    return f"should be {wanted}, not {quoted(value)}{quotes}"
