"""A privacy model that is left out of a suite shuts the gate: what the policy asks is counted apart from the suite."""

from __future__ import annotations

from typing import Any

import pytest

from anon_core.models import MODELS
from tests.anon_airflow.gate.gate_publications import publisher

POLICIES: dict[str, dict[str, Any]] = {
    "no_undeclared_column": {},
    "no_singletons": {},
    "k_anonymity": {},
    "k_beside_original": {"k_means": "link"},
    "max_risk": {"max_risk": 1.0},
    "l_diversity": {"l_diversity": [{"column": "category", "l": 1.01, "kind": "entropy"}]},
    "t_closeness": {"t_closeness": [{"column": "category", "t": 1.0}]},
    "alpha": {"alpha": [{"column": "category", "alpha": 1.0}]},
    "no_published_identifier": {},
    "published_uniqueness": {},
    "personal_patterns": {},
    "max_sensitivity": {"max_sensitivity": 1.0},
    "rows_suppressed_at_most": {},
    "common_values": {"unit": "id", "l_diversity": [{"column": "category", "l": 2}]},
    "half_of_class": {"unit": "id"},
    "row_sets": {"unit": "id"},
    "max_rows_per_person": {"unit": "id", "max_rows_per_person": 3},
    "restored_values": {"unit": "id"},
    "removal": {"unit": "id"},
    "joint_classes": {},
    "joint_beside_original": {"k_means": "link"},
    "sensitive_alone": {},
    "unique_with_sensitive": {},
    "homogeneity": {},
}
ELSEWHERE = {
    "declared_types": "tests/anon_airflow/gate/test_gate.py has columns with types",
    "no_freeform_breach": "tests/anon_airflow/run/test_freeform_publication.py has hierarchy files",
    "made_from_original": "no publication asks for it",
}


def test_every_model_is_tried() -> None:
    assert set(MODELS.keys()) == {*POLICIES, *ELSEWHERE}


@pytest.mark.parametrize("key", POLICIES)
def test_a_model_that_is_left_out_shuts_the_gate(tmp_path, monkeypatch, key):
    # Not `delitem`: putting it back would change the order of the models, and so of every later report.
    monkeypatch.setattr(MODELS, "_own", {name: model for name, model in MODELS._own.items() if name != key})
    verdict = publisher(tmp_path)(**POLICIES[key])
    assert not verdict.passed
    assert [check.name for check in verdict.checks if not check.passed and check.name == "suite"]
