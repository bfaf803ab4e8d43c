"""The registry of privacy models: all of a policy is measured, and what is left out is noticed."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import Any

import pytest

from anon_core.errors import InvalidInputError
from anon_core.models import MODELS, Asked, Subject, required
from anon_core.models.k_anonymity import KAnonymity
from anon_core.models.t_closeness import TCloseness
from anon_core.policy import Policy
from anon_core.spec import Publication, load_spec
from anon_core.waivers import waivable
from tests.golden.cases import CLIMBED, COLUMNS, FREEFORM, publication

TODAY = date(2026, 11, 18)
FIELDS: dict[str, tuple[Any, set[str]]] = {
    "k": (7, {"k_anonymity"}),
    "k_means": ("link", {"link_k", "source_k"}),
    "singletons": (3, {"no_singletons"}),
    "suppression_limit": (0.2, {"rows_suppressed_at_most"}),
    "l_diversity": ([{"column": "illness", "l": 2}], {"l_diversity(illness, distinct)"}),
    "t_closeness": ([{"column": "illness", "t": 0.4}], {"t_closeness(illness, equal)"}),
    "alpha": ([{"column": "illness", "alpha": 0.4}], {"alpha(illness)"}),
    "max_sensitivity": (0.5, {"max_sensitivity"}),
    "max_risk": (0.5, {"max_risk"}),
    "published_uniqueness": ({"max_size": 1}, {"published_uniqueness", "no_published_identifier"}),
    "freeform": (FREEFORM, {"no_freeform_breach"}),
}
NOT_MEASURED = {"waivers": "it excuses what is measured", "earlier_releases": "runs refuse it: it is not built yet"}


def asked_of(folder: Path, **privacy: Any) -> Asked:
    columns = {**CLIMBED, "born": {"role": "drop"}} if "freeform" in privacy else COLUMNS
    spec: Publication = load_spec(publication(folder, {"privacy": privacy, "columns": columns}))
    return Asked(
        policy=spec.privacy,
        quasi_identifiers=spec.quasi_identifiers,
        k=spec.privacy.k,
        today=TODAY,
        publication=spec,
        rows_before=600,
        original="sha256:0",
    )


def test_every_field_of_a_policy_is_known_here() -> None:
    """Whoever adds a field says here by what it is measured."""
    assert set(Policy.model_fields) == {*FIELDS, *NOT_MEASURED}


@pytest.mark.parametrize("field", FIELDS)
def test_every_field_of_a_policy_yields_a_measurement(tmp_path: Path, field: str) -> None:
    value, names = FIELDS[field]
    assert names <= {one.name for one in required(asked_of(tmp_path, **{field: value}))}


def test_every_model_is_required_by_some_policy(tmp_path: Path) -> None:
    found = set()
    for at, (field, (value, _)) in enumerate(FIELDS.items()):
        (tmp_path / str(at)).mkdir()
        found |= {one.model.key for one in required(asked_of(tmp_path / str(at), **{field: value}))}
    assert found == set(MODELS.keys()) - {"made_from_original"}, "the last is asked for by `anon check --original` only"


@pytest.mark.parametrize("field", FIELDS)
def test_a_requirement_is_rebuilt_from_its_settings(tmp_path: Path, field: str) -> None:
    for one in required(asked_of(tmp_path, **{field: FIELDS[field][0]})):
        assert type(one.model).of_arguments(one.model.arguments()) == one.model


def test_what_can_be_waived_is_what_a_publication_file_may_waive() -> None:
    assert set(waivable()) == {
        "l_diversity", "t_closeness", "alpha", "max_risk", "max_sensitivity", "no_freeform_breach",
        "rows_suppressed_at_most", "declared_types"
    }  # fmt: skip


@pytest.mark.parametrize("wrong", [float("nan"), float("inf"), True, "0.5", None])
def test_a_limit_that_is_no_number_is_refused(wrong: Any) -> None:
    with pytest.raises(InvalidInputError, match="t-closeness cannot be required like that; correct t"):
        TCloseness(columns=("a",), sensitive="s", t=wrong, distance="equal", hierarchy=None)
    with pytest.raises(InvalidInputError, match="correct columns, k"):
        KAnonymity(columns="a", k=wrong)  # type: ignore[arg-type]


def test_two_requirements_of_one_name_carry_their_limits(tmp_path: Path) -> None:
    twice = [{"column": "illness", "l": 2}, {"column": "illness", "l": 3}]
    names = [one.name for one in required(asked_of(tmp_path, l_diversity=twice)) if one.model.key == "l_diversity"]
    assert names == ["l_diversity(illness, distinct, l=2)", "l_diversity(illness, distinct, l=3)"]


def test_what_is_not_there_is_not_measured_and_has_not_passed(tmp_path: Path) -> None:
    asked = asked_of(tmp_path, l_diversity=[{"column": "illness", "l": 2}])
    for one in required(asked):
        found = one.measured(Subject(names=(), rows=lambda _: pytest.fail("nothing is there to be counted")))
        assert not found.passed
        assert found.model == one.model.key and found.name == one.name
