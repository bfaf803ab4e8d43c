"""Expectations of privacy models of other packages: made from the model, so that the gate can evaluate them too."""

from __future__ import annotations

import types
from dataclasses import fields
from functools import cache
from typing import Any

from great_expectations.compatibility import pydantic
from great_expectations.expectations.registry import list_registered_expectation_implementations

from anon_airflow.expectations.model_expectation import ModelExpectation
from anon_core.errors import InvalidInputError
from anon_core.models import PrivacyModel
from anon_core.registry import MODELS

__all__ = ["expectation_of", "foreign_expectations"]


def foreign_expectations() -> dict[str, type[ModelExpectation]]:
    """Return the expectations of the models of other packages, by their registered names."""
    made = (expectation_of(MODELS.get(key)) for key in MODELS.foreign())
    return {str(kind.expectation_type): kind for kind in made}


@cache
def expectation_of(model: type[PrivacyModel]) -> type[ModelExpectation]:
    """
    Return the expectation of a model, ``ExpectDeltaPresence`` for the key ``delta_presence``.

    Its arguments are the model's fields, all required. The model itself checks their values.

    :raises InvalidInputError: one of our expectations, or of Great Expectations, has that name.
    """
    if f"expect_{model.key}" in list_registered_expectation_implementations():
        raise InvalidInputError(f"the privacy model `{model.key}` cannot be used: another expectation has its name")
    name = "Expect" + "".join(part.capitalize() for part in model.key.split("_"))
    arguments = [one.name for one in fields(model)]
    body: dict[str, Any] = {one: pydantic.Field(...) for one in arguments}
    body |= {"__annotations__": dict.fromkeys(arguments, Any), "__module__": model.__module__, "__doc__": model.__doc__}
    made: type[ModelExpectation] = types.new_class(
        name, (ModelExpectation,), exec_body=lambda space: space.update(body, model=model)
    )
    return made
