"""The pages of the reference that code writes, so that they say what the code does."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from docs.site.reference import commands, keys, library, members, operators

__all__ = ["GENERATED", "Generated"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Generated:
    """A page that is made from the code."""

    page: str
    title: str
    summary: str
    text: Callable[[], str]


GENERATED = (
    Generated(
        page="commands",
        title="Every command and option",
        summary="the help of `anon` and all its commands on one page.",
        text=commands.page,
    ),
    Generated(
        page="keys",
        title="Every key of the publication file",
        summary="with what it takes, its default, and its meaning.",
        text=keys.page,
    ),
    Generated(
        page="models",
        title="Every privacy model",
        summary="what it promises, what asks for it, whether it can be waived.",
        text=members.models_page,
    ),
    Generated(
        page="members",
        title="Every recoding method, source, engine and portal",
        summary="the other parts that a publication file names.",
        text=members.others_page,
    ),
    Generated(
        page="operators",
        title="Every operator",
        summary="the steps as Airflow operators, and the functions that make DAGs.",
        text=operators.page,
    ),
    Generated(
        page="library",
        title="Every name of the library",
        summary="signatures, docstrings and errors of `anon_core`.",
        text=library.page,
    ),
)
