"""The registry of privacy models: all of a policy is measured, and what is left out is noticed."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import Any

import pytest

from anon_core.errors import InvalidInputError
from anon_core.frequency import FrequencyTable
from anon_core.models import MODELS, PolicyContext, Subject, required
from anon_core.models.k_anonymity import KAnonymity
from anon_core.models.published_uniqueness import PublishedUniqueness
from anon_core.models.t_closeness import TCloseness
from anon_core.policy import Policy
from anon_core.spec import Publication, load_spec
from anon_core.waivers import waivable
from tests.golden.cases import CLIMBED, COLUMNS, FREEFORM, publication
from tests.properties.tables import table_of

TODAY = date(2026, 11, 18)
FIELDS: dict[str, tuple[Any, set[str]]] = {
    "k": (7, {"k_anonymity"}),
    "k_means": ("link", {"link_k", "source_k"}),
    "singletons": (3, {"no_singletons"}),
    "suppression_limit": (0.2, {"rows_suppressed_at_most"}),
    "l_diversity": ([{"column": "illness", "l": 2}], {"l_diversity(illness, distinct)", "common_values(illness)"}),
    "max_rows_per_person": (3, {"max_rows_per_person", "half_of_class", "row_sets"}),
    "t_closeness": ([{"column": "illness", "t": 0.4}], {"t_closeness(illness, equal)"}),
    "alpha": ([{"column": "illness", "alpha": 0.4}], {"alpha(illness)"}),
    "max_sensitivity": (0.5, {"max_sensitivity"}),
    "max_risk": (0.5, {"max_risk"}),
    "published_uniqueness": ({"max_size": 1}, {"published_uniqueness", "no_published_identifier"}),
    "patterns": ({"accept": []}, {"personal_patterns", "personal_names"}),
    "freeform": (FREEFORM, {"no_freeform_breach"}),
}
NOT_MEASURED = {
    "waivers": "it excuses what is measured",
    "raised": "it raises a limit of the site policy: tests/anon_airflow/run/test_site_policy.py",
    "earlier_releases": "runs refuse it: it is not built yet",
    "max_restored": "needs to know which row became which: tests/anon_core/measures/test_restored_values.py",
}


def context_of(folder: Path, **privacy: Any) -> PolicyContext:
    columns = {**CLIMBED, "born": {"role": "drop"}} if "freeform" in privacy else COLUMNS
    unit = "id" if {"l_diversity", "max_rows_per_person"} & set(privacy) else "row"
    spec: Publication = load_spec(publication(folder, {"privacy": privacy, "columns": columns, "unit": unit}))
    return PolicyContext(
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
    assert names <= {one.name for one in required(context_of(tmp_path, **{field: value}))}


def test_every_model_is_required_by_some_policy(tmp_path: Path) -> None:
    found = set()
    for at, (field, (value, _)) in enumerate(FIELDS.items()):
        (tmp_path / str(at)).mkdir()
        found |= {one.model.key for one in required(context_of(tmp_path / str(at), **{field: value}))}
    beside_original = {"made_from_original", "restored_values", "removal"}
    assert found == set(MODELS.keys()) - beside_original, "these are asked for where the originals are at hand only"


@pytest.mark.parametrize("field", FIELDS)
def test_a_requirement_is_rebuilt_from_its_settings(tmp_path: Path, field: str) -> None:
    for one in required(context_of(tmp_path, **{field: FIELDS[field][0]})):
        assert type(one.model).of_arguments(one.model.arguments()) == one.model


def test_what_can_be_waived_is_what_a_publication_file_may_waive() -> None:
    assert set(waivable()) == {
        "l_diversity", "t_closeness", "alpha", "max_risk", "max_sensitivity", "no_freeform_breach",
        "rows_suppressed_at_most", "declared_types"
    }  # fmt: skip


@pytest.mark.parametrize("wrong", [float("nan"), float("inf"), True, "0.5", None])
def test_a_limit_that_is_no_number_is_refused(wrong: Any) -> None:
    with pytest.raises(InvalidInputError, match="t-closeness: t must be a finite number"):
        TCloseness(columns=("a",), sensitive="s", t=wrong, distance="equal", hierarchy=None)
    with pytest.raises(InvalidInputError, match="columns, k must be"):
        KAnonymity(columns="a", k=wrong)  # type: ignore[arg-type]


def test_two_requirements_of_one_name_carry_their_limits(tmp_path: Path) -> None:
    twice = [{"column": "illness", "l": 2}, {"column": "illness", "l": 3}]
    names = [one.name for one in required(context_of(tmp_path, l_diversity=twice)) if one.model.key == "l_diversity"]
    assert names == ["l_diversity(illness, distinct, l=2)", "l_diversity(illness, distinct, l=3)"]


@pytest.mark.parametrize(
    ("columns", "quasi", "advice"),
    [
        (["office"], [], "declare these columns quasi so that they are generalised, drop one"),
        (["office"], ["born"], "declare these columns quasi so that they are generalised, drop one"),
        (["born"], ["born"], "generalise born further by recoding (quasi already), drop one"),
        (["born", "office"], ["born"], "declare office quasi, drop one"),
    ],
)
def test_what_to_do_about_a_set_that_singles_people_out_depends_on_what_is_quasi_already(
    columns: list[str], quasi: list[str], advice: str
) -> None:
    names = ["born", "office"]
    rows = [(str(at), "x") if columns == ["born"] else ("x", str(at)) for at in range(9)]
    if len(columns) == 2:
        rows = [(str(at % 3), str(at // 3)) for at in range(9)]
    table = FrequencyTable.of(table_of(names, rows))
    model = PublishedUniqueness(
        columns=tuple(names), max_size=2, max_share=0.0, accepted=(), together=(), protected=(), quasi=tuple(quasi)
    )
    found = model.measure(Subject(names=tuple(names), rows=table.project))
    assert [one["columns"] for one in found.counts["offending"]] == [columns]
    assert f": {advice}, or accept the set by name" in found.sentence


def test_of_several_sets_that_single_people_out_each_has_its_advice() -> None:
    names = ("born", "office")
    table = FrequencyTable.of(table_of(list(names), [(str(at), str(at)) for at in range(9)]))
    model = PublishedUniqueness(
        columns=names, max_size=2, max_share=0.0, accepted=(), together=(), protected=(), quasi=("born",)
    )
    sentence = model.measure(Subject(names=names, rows=table.project)).sentence
    assert "declare office quasi, generalise born further by recoding (quasi already), drop one" in sentence


def test_what_is_not_there_is_not_measured_and_has_not_passed(tmp_path: Path) -> None:
    context = context_of(tmp_path, l_diversity=[{"column": "illness", "l": 2}])
    for one in required(context):
        found = one.measured(Subject(names=(), rows=lambda _: pytest.fail("nothing is there to be counted")))
        assert not found.passed
        assert found.model == one.model.key and found.name == one.name


@pytest.mark.parametrize("together", [(), (("sex", "town"),)])
@pytest.mark.parametrize("accepted", [(), (("town",),)])
def test_the_sentence_on_uniqueness_has_a_comma_between_its_parts_and_no_two(
    together: tuple[tuple[str, ...], ...], accepted: tuple[tuple[str, ...], ...]
) -> None:
    table = table_of(("sex", "town"), [("F", "Alba"), ("M", "Bria")] * 3)
    model = PublishedUniqueness(
        columns=("sex", "town"), max_size=1, max_share=0.0, together=together, accepted=accepted
    )
    said = model.measure(Subject(names=table.names, rows=lambda names: FrequencyTable.of(table, names))).sentence
    parts = ["no set of up to 1 of 2 columns", *["nor one of 1 larger ones"] * bool(together)]
    parts += ["but for what is accepted"] * bool(accepted)
    assert f"{', '.join(parts)}{',' * (len(parts) > 1)} leaves more than 0.00% of 6 rows alone" in said
