"""Checks ``privacy.published_uniqueness`` against the columns of a publication file."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from anon_core.files.yaml_lines import Location, as_text
from anon_core.spec.parts import with_parts
from anon_core.spec.written import ROLES, Found, at, list_at, text_at

_SECTION: Location = ("privacy", "published_uniqueness")


def uniqueness_problems(content: Any, declared: Mapping[str, Any], *, partial: bool) -> Found:
    """Yield acceptances of quasi-identifiers only, and the missing limit of a file with sensitive columns."""
    roles = {name: text_at(column, ("role",)) for name, column in with_parts(declared).items()}
    for index, _ in enumerate(list_at(content, (*_SECTION, "accept"))):
        place = (*_SECTION, "accept", index, "columns")
        names = [as_text(one) for one in list_at(content, place)]
        if names and all(roles.get(str(name)) == "quasi" for name in names):
            what = (
                "names quasi columns only, and k is not to be accepted: generalise them, lower `privacy.k`, or name a "
                "column of another role too"
            )
            yield place, what
    privacy = at(content, ("privacy",))
    if partial or not isinstance(privacy, dict) or not set(roles.values()) <= set(ROLES):
        return
    sensitive = [name for name, role in roles.items() if role == "sensitive"]
    if sensitive and at(content, (*_SECTION, "max_share_with_sensitive")) is None:
        what = (
            "state `privacy.published_uniqueness.max_share_with_sensitive`, the share of people (from 0 to 1) that may "
            f"be alone over all published columns: {len(sensitive)} of them {'is' if len(sensitive) == 1 else 'are'} "
            "sensitive, and only you can say how much of that others know"
        )
        yield (*_SECTION, "max_share_with_sensitive"), what
