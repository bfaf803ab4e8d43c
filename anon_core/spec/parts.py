"""The parts of a decomposed column, as far as the publication file shows them: their names, and what is wrong.

These checks read the parsed YAML and not the model, so that all problems are reported at once.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from typing import Any

from anon_core.files.yaml_lines import Location, as_text
from anon_core.settings import quoted
from anon_core.spec.patterns import groups_of, pattern_problem
from anon_core.wording import counted

WAYS = ("widths", "separator", "pattern", "preset")
"""The ways to split a value: exactly one is given."""


class Preset(StrEnum):
    """Codes whose structure is public; `anon_core.decompose` cuts and checks their parts."""

    TELEPHONE = "telephone"
    POSTCODE_AT = "postcode-at"
    POSTCODE_CA = "postcode-ca"
    POSTCODE_CH = "postcode-ch"
    POSTCODE_DE = "postcode-de"
    POSTCODE_ES = "postcode-es"
    POSTCODE_FR = "postcode-fr"
    POSTCODE_IT = "postcode-it"
    POSTCODE_NL = "postcode-nl"
    POSTCODE_UK = "postcode-uk"
    POSTCODE_US = "postcode-us"
    TAX_CODE_IT = "tax-code-it"


# Zone, area and place are steps of sorting mail, and need not follow borders; Spain and France sort by administration.
PRESET_PARTS: Mapping[Preset, tuple[str, ...]] = {
    Preset.TELEPHONE: ("country", "area", "number"),
    Preset.POSTCODE_AT: ("zone", "area", "place"),
    Preset.POSTCODE_CA: ("district", "area", "unit"),
    Preset.POSTCODE_CH: ("zone", "area", "place"),
    Preset.POSTCODE_DE: ("zone", "area", "place"),
    Preset.POSTCODE_ES: ("province", "place"),
    Preset.POSTCODE_FR: ("department", "office"),
    Preset.POSTCODE_IT: ("zone", "place"),
    Preset.POSTCODE_NL: ("zone", "area", "letters"),
    Preset.POSTCODE_UK: ("area", "district", "sector", "unit"),
    Preset.POSTCODE_US: ("section", "office", "extension"),
    # The check letter is no part: it is computed from all of them, so it would give away one that is left out or
    # coarser.
    Preset.TAX_CODE_IT: ("surname", "name", "birth_year", "birth_month", "birth_day", "sex", "birth_place"),
}


def part_names(*, names: Sequence[str], pattern: str | None, preset: str | None) -> tuple[str, ...]:
    """
    Return the names of the parts: as declared, else those of the groups of the pattern, or of the preset.

    >>> part_names(names=(), pattern=r"(?P<area>\\d{2})(?P<office>\\d+)", preset=None)
    ('area', 'office')

    A rule that cannot be used has no parts.
    """
    if names:
        return tuple(names)
    if pattern is not None:
        return groups_of(pattern)
    return next((parts for one, parts in PRESET_PARTS.items() if one == preset), ())


def parts_of(column: Any) -> tuple[str, ...] | None:
    """Return the published parts of a column as written, or None where it is not decomposed."""
    rule = column.get("decompose") if isinstance(column, dict) else None
    if not isinstance(rule, dict):
        return None
    publish = _texts(rule.get("publish"))
    return publish if publish else _written_parts(rule)


def with_parts(columns: Mapping[str, Any]) -> dict[str, Any]:
    """Return the columns as written, with published parts in place of their column."""
    found: dict[str, Any] = {}
    for name, column in columns.items():
        parts = parts_of(column)
        if parts is None:
            found[name] = column
        for part in parts or ():
            own = _mapping(column["decompose"].get("hierarchies")).get(part)
            inherited = None if part in _mapping(column["decompose"].get("lookup")) else column.get("hierarchy")
            found[part] = {"role": "quasi", "hierarchy": inherited if own is None else own}
    return found


_Found = Iterator[tuple[Location, str]]


def decompose_problems(columns: Mapping[str, Any]) -> _Found:
    """Yield what is wrong with the parts of all columns: the location, and the problem."""
    taken: dict[str, str] = dict.fromkeys(columns, "a column")
    for name, column in columns.items():
        rule = column.get("decompose") if isinstance(column, dict) else None
        if not isinstance(rule, dict):
            continue
        here: Location = ("columns", name, "decompose")
        if as_text(column.get("role")) in ("identifier", "sensitive", "other", "drop"):
            yield here, "only a column of role quasi is decomposed; set `role: quasi` or remove it"
        yield from (((*here, *location), what) for location, what in rule_problems(rule))
        for part in parts_of(column) or ():
            if part in taken:
                yield here, f"its part {quoted(part)} is called like {taken[part]}; give it another name in `names`"
            taken.setdefault(part, f"a part of {quoted(name)}")


def rule_problems(rule: Mapping[str, Any]) -> _Found:
    """Yield what is wrong within one `decompose`, locations from there."""
    given = [way for way in WAYS if rule.get(way) is not None]
    if len(given) != 1:
        yield (), f"needs exactly one of {', '.join(WAYS)}; it has {' and '.join(given) or 'none'}"
        return
    yield from _name_problems(rule, given[0])
    pattern = as_text(rule.get("pattern"))
    if isinstance(pattern, str) and (wrong := pattern_problem(pattern)):
        yield ("pattern",), wrong
    if rule.get("region") is not None and as_text(rule.get("preset")) != Preset.TELEPHONE:
        yield ("region",), "belongs to `preset: telephone`; remove it"
    parts = _written_parts(rule)
    if rule.get("publish") == []:
        yield ("publish",), "names no part: at least one must be published; without `publish` all are"
    for key in ("publish", "lookup", "hierarchies"):
        written = rule.get(key)
        for at, part in enumerate(written) if isinstance(written, list) else ((one, one) for one in _mapping(written)):
            part = as_text(part)
            if parts and isinstance(part, str) and part not in parts:
                yield (key, at), f"no part is called {quoted(part)}; the parts are {', '.join(map(quoted, parts))}"
            elif key != "publish" and isinstance(part, str) and part not in (parts_of({"decompose": rule}) or (part,)):
                yield (key, at), f"the part {quoted(part)} is not published, so this has no use; remove it"


def _name_problems(rule: Mapping[str, Any], way: str) -> _Found:
    """Yield where `names` does not fit the way to split."""
    names, written = _texts(rule.get("names")), rule[way]
    if not all(name.strip() for name in names):
        yield ("names",), "every part needs a name"
    if way == "pattern":
        if rule.get("names") is not None:
            yield ("names",), "the parts of a pattern are called like its groups; remove it"
    elif way == "preset":
        parts = part_names(names=(), pattern=None, preset=as_text(written))
        if names and parts and len(names) != len(parts):
            yield ("names",), f"should name all {len(parts)} parts of the preset: {', '.join(parts)}"
    elif not names:
        yield (), f"`{way}` needs `names` for its parts"
    elif way == "widths" and isinstance(written, list) and len(names) - len(written) not in (0, 1):
        yield ("names",), "should have one name for each of `widths`, and perhaps one more for the rest"
    elif way == "separator":
        if len(names) < 2:
            yield ("names",), "`separator` needs the names of at least two parts"
        elif isinstance(written, list) and len(written) != len(names) - 1:
            yield (
                ("separator",),
                f"{len(names)} parts have {counted(len(names) - 1, 'separator')} between them, {len(written)} given",
            )


def _written_parts(rule: Mapping[str, Any]) -> tuple[str, ...]:
    pattern = as_text(rule.get("pattern"))
    return part_names(
        names=_texts(rule.get("names")),
        pattern=pattern if isinstance(pattern, str) else None,
        preset=as_text(rule.get("preset")),
    )


def _texts(value: Any) -> tuple[str, ...]:
    """Return the texts of a list; an empty tuple if it is no list, or has something else in it."""
    texts = [as_text(one) for one in value] if isinstance(value, list) else []
    return tuple(texts) if all(isinstance(one, str) for one in texts) else ()


def _mapping(value: Any) -> Mapping[Any, Any]:
    return value if isinstance(value, dict) else {}
