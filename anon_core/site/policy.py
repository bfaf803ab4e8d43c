"""The file of a site policy: its keys, and what holds without a file."""

from __future__ import annotations

import json
import re
from fractions import Fraction
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, Field, ValidationError

from anon_core.errors import InvalidInputError, Problem, SpecError
from anon_core.files.regular import FileTooLargeError, NotRegularError, read_whole
from anon_core.files.storage import digest
from anon_core.files.yaml_lines import as_text, parse_yaml
from anon_core.limits import PUBLICATION_FILE
from anon_core.registry import PORTALS
from anon_core.settings import NOT_EMPTY, Filled, Flag, Names, Number, Settings, Share, Whole, number, quoted
from anon_core.spec.checks import plain_sentences
from anon_core.spec.written import misspelt

PEOPLE_PER_K = 10
"""Without ``min_people``, a table has at least this many times k people."""
_GUIDANCE = {Fraction("0.09"): Fraction(1, 11), Fraction("0.33"): Fraction(1, 3)}
"""Guidance on health data rounds the risk in a class of 11, and in one of 3, to two digits."""


def exact_risk(value: float | str) -> Fraction:
    """
    Return a risk as the fraction that it stands for: guidance writes 1/11 as 0.09, and 1/3 as 0.33.

    >>> exact_risk(0.09), exact_risk("1/11"), exact_risk(0.2)
    (Fraction(1, 11), Fraction(1, 11), Fraction(1, 5))
    """
    written = Fraction(str(value))
    return _GUIDANCE.get(written, written)


def _risk(value: Any) -> float | str:
    text = as_text(value)
    if isinstance(text, str) and re.fullmatch(r"[1-9][0-9]{0,8}/[1-9][0-9]{0,8}", text):
        found: float | str = text
    else:
        found = number(value)
    if not 0 < Fraction(str(found)) <= 1:
        raise ValueError(f"should be a risk above 0 and at most 1, such as 0.2 or 1/11, not {quoted(value)}")
    return found


def _portals(value: dict[str, Any]) -> dict[str, Any]:
    for kind in value:
        if kind not in PORTALS and (meant := misspelt(kind, PORTALS)):
            raise ValueError(f"there is no kind of portal {quoted(kind)}; did you mean `{meant}`?")
    return value


class SiteDiversity(Settings):
    """The smallest ``l`` of every required l-diversity; ``required``: every sensitive column must have one."""

    l: Annotated[Number, Field(gt=1)] | None = None  # noqa: E741 - the name in the literature
    required: Flag = False


class SiteUniqueness(Settings):
    """How many people may stand alone by what is published; None: the publication file decides."""

    max_share: Share = 0.0
    max_share_alone: Share = 0.01
    max_share_with_sensitive: Share | None = None


class SiteApproval(Settings):
    """``required``: a person must approve every release."""

    required: Flag = False


class SitePolicy(Settings):
    """
    The limits that no publication file may undercut. A key has the same name here and in `privacy`.

    ``owner`` may change the policy, and is named in every refusal. ``portals`` are the kinds of portals that are
    allowed, each with the names of its places; None allows all.
    """

    owner: Filled = "the data protection officer"
    k: Annotated[Whole, Field(ge=2)] = 5
    min_people: Annotated[Whole, Field(ge=1)] | None = None
    l_diversity: SiteDiversity = SiteDiversity()
    suppression_limit: Share = 1.0
    published_uniqueness: SiteUniqueness = SiteUniqueness()
    max_restored: Annotated[Number, Field(ge=0)] = 0
    max_risk: Annotated[float | str, BeforeValidator(_risk)] | None = None
    longest_acceptance_days: Annotated[Whole, Field(ge=1, le=400_000)] = 366
    approval: SiteApproval = SiteApproval()
    portals: (
        Annotated[dict[str, Literal["any"] | Annotated[Names, NOT_EMPTY]], NOT_EMPTY, AfterValidator(_portals)] | None
    ) = None

    @property
    def digest(self) -> str:
        """Return a SHA-256 of what the policy says; comments, formatting and defaults written out do not change it."""
        return digest(json.dumps(self.model_dump(mode="json"), sort_keys=True, separators=(",", ":")))

    def people_for(self, k: int) -> int:
        """
        Return how many people a table must have at least, for the k of its publication file.

        >>> SitePolicy().people_for(11), SitePolicy(min_people=30).people_for(11)
        (110, 30)
        """
        return PEOPLE_PER_K * k if self.min_people is None else self.min_people


BUILT_IN = SitePolicy()
"""What holds without a file."""


def load_site_policy(path: Path, name: str) -> SitePolicy:
    """
    Read a site policy; ``name`` is what errors call it, for they are told to people who may not know the path.

    :raises SpecError: with every problem there is, each with its line.
    """
    try:
        text = read_whole(path, PUBLICATION_FILE).decode("utf-8-sig")
    except (NotRegularError, FileTooLargeError, OSError, ValueError, InvalidInputError) as error:
        why = error.strerror if isinstance(error, OSError) and error.strerror else type(error).__name__
        raise SpecError(name, [Problem(1, "", f"the file cannot be read: {why}")]) from None
    document = parse_yaml(text)
    if document.problems or not isinstance(document.content, dict):
        what = "should be a mapping with keys such as `k` and `min_people`; without a file the built-in policy holds"
        raise SpecError(name, document.problems or [Problem(1, "", what)])
    models: dict[int, type[BaseModel]] = {}
    try:
        return SitePolicy.model_validate(document.content, context=models)
    except ValidationError as error:
        raise SpecError(name, plain_sentences(error, document, models)) from None
