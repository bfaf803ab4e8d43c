"""What ``anon recode`` is told on the command line, in place of what the publication file says."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import click

from anon_airflow.commands.output import names_in
from anon_core.errors import InvalidInputError
from anon_core.registry import METHODS
from anon_core.spec import Mode
from anon_core.spec.recode import MOST_SWEEPS

if TYPE_CHECKING:
    from anon_core.spec import PartialPublication, Recode

F = TypeVar("F", bound=Callable[..., Any])

MOST_SWEPT = 20


class Sizes(click.ParamType):  # type: ignore[type-arg]  # Generic only in some versions of click.
    """Several k with commas between them."""

    name = "2,3,5"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[int, ...]:
        """Refuse what is no whole number of at least 2, and more of them than anybody looks at."""
        try:
            sizes = tuple(sorted({int(one) for one in names_in(value)}))
        except ValueError:
            sizes = ()
        if not sizes or sizes[0] < 2 or len(sizes) > MOST_SWEPT:
            self.fail(f"give up to {MOST_SWEPT} whole numbers from 2 on, such as 2,3,5,10", param, ctx)
        return sizes


def trying_options(function: F) -> F:
    """Add the options that count in place of what the publication file says."""
    for option in (
        click.option(
            "-k", "k", type=click.IntRange(min=2), metavar="N", help="In place of privacy.k, which may be missing."
        ),
        click.option("--seed", type=click.IntRange(min=0), metavar="N", help="In place of recode.seed of the file."),
        click.option(
            "--improve",
            type=click.IntRange(min=0, max=MOST_SWEEPS),
            metavar="N",
            help="In place of recode.improve of the file.",
        ),
        click.option(
            "--mode", type=click.Choice([mode.value for mode in Mode]), help="In place of recode.mode of the file."
        ),
        click.option("--method", type=click.Choice(METHODS.keys()), help="In place of recode.method of the file."),
    ):
        function = option(function)
    return function


def as_called(
    publication: PartialPublication,
    *,
    method: str | None = None,
    mode: str | None = None,
    improve: int | None = None,
    seed: int | None = None,
    k: int | None = None,
    sweep: tuple[int, ...] | None = None,
) -> PartialPublication:
    """
    Return the publication with what the call says in place of the file.

    :raises InvalidInputError: there is no k, no quasi-identifier, a unit, or nothing for the method to go by.
    :raises UsageError: an option would have no effect.
    """
    from anon_core.policy import PartialPolicy

    given = {"method": method, "mode": mode and Mode(mode), "improve": improve, "seed": seed}
    settings = publication.recode.model_copy(update={key: one for key, one in given.items() if one is not None})
    policy = publication.privacy or PartialPolicy()
    called = publication.model_copy(
        update={"recode": settings, "privacy": policy.model_copy(update={"k": k}) if k else policy}
    )
    _check_effect(settings, [key for key, one in given.items() if one is not None], sweep)
    _check_file(called)
    return called


def _check_effect(settings: Recode, given: Sequence[str], sweep: tuple[int, ...] | None) -> None:
    """Refuse options that would have no effect; `best` chooses the mode itself."""
    heeded = settings.member.heeds(settings)
    if useless := [f"--{key}" for key in given if key != "method" and key not in heeded]:
        mode = f", mode {settings.mode.value}" if "mode" in heeded else ""
        raise click.UsageError(f"{', '.join(useless)} would have no effect on method {settings.method}{mode}")
    if sweep and "k" not in heeded:
        raise click.UsageError(f"method {settings.method} does not heed k, so --sweep-k would show nothing")


def _check_file(publication: PartialPublication) -> None:
    name, settings = publication.file.name, publication.recode
    if publication.unit is not None:
        raise InvalidInputError(
            f"{name} has a `unit`, but recoding counts rows, and the rows of a class may all be one person's; "
            "remove it, and give every person one row"
        )
    if publication.privacy is None or publication.privacy.k is None:
        raise InvalidInputError(f"{name} has no privacy.k; write `privacy: {{k: 5}}` into it, or give -k 5")
    if not publication.quasi_identifiers:
        raise InvalidInputError(f"{name} has no column of role quasi, so there is nothing to recode; declare some")
    priorities = [publication.effective_columns[one].priority for one in publication.quasi_identifiers]
    if settings.member.needs_priorities and None in priorities and any(priorities):
        raise InvalidInputError(
            f"{name} gives a priority to some columns of role quasi and none to {priorities.count(None)}; method "
            f"{settings.method} needs one for all of them, or for none"
        )
    if settings.member.needs_section and settings.section(settings.method) is None:
        raise InvalidInputError(
            f"{name} has no recode.{settings.method}, by which method {settings.method} knows what to do; write that "
            "section into it"
        )
