"""Keys of ``privacy`` that belong to privacy models of other packages: read by the model's own settings."""

from __future__ import annotations

from typing import Any

from pydantic import TypeAdapter, ValidationError

from anon_core.errors import Problem
from anon_core.policy import PartialPolicy, quoted
from anon_core.registry import MODELS
from anon_core.spec.checks import plain_sentences
from anon_core.spec.written import Unread, misspelt
from anon_core.yaml_lines import Document, Location, name_of, plain


def read_foreign_models(document: Document, context: dict[int, Any]) -> list[Problem]:
    """
    Put the settings of privacy models of other packages in the place of what the file says, and return what is wrong.

    A key of a package that is not installed stays as it is written; one that is nearly a known key is a slip.
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
