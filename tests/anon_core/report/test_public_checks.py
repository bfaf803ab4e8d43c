"""What is public of a check: its figures where its model vouches for them, else its promise."""

from __future__ import annotations

from dataclasses import fields, replace
from string import Formatter

from anon_core.models import MODELS, Measurement
from anon_core.models.k_anonymity import KAnonymity
from anon_core.models.suppression import RowsSuppressedAtMost
from anon_core.report.public import public_check


def test_a_model_that_does_not_vouch_for_its_figures_has_none_in_public() -> None:
    """Fails shut: what a package forgets to say is withheld; what only informs then says nothing at all."""
    counted = Measurement(
        model="k_anonymity", name="k", columns=("a",), passed=True, observed=7, required=5, sentence="7 of 12,345"
    )
    model = KAnonymity(columns=("a",), k=5)
    assert public_check(counted, model, people=False) == counted
    withheld = public_check(counted, model, people=True)
    assert withheld is not None
    assert (withheld.observed, withheld.counts) == (None, {})
    assert withheld.sentence == "k-anonymity: every class over a has at least 5 people: holds"
    limited = RowsSuppressedAtMost(columns=("a",), roots=(("*",),), rows_before=12_345, limit=0.05)
    told = public_check(replace(counted, passed=False, waived_by="Ada", waiver="k"), limited, people=False)
    assert told is not None and "12" not in told.sentence and told.sentence.endswith("does not hold")
    assert public_check(replace(counted, required=None), limited, people=False) is None
    gate = replace(counted, model="gate", name="witness", sentence="12,500 people agree")
    noted = public_check(gate, None, people=True)
    assert noted is not None and (noted.observed, noted.sentence) == (None, "holds")


def test_every_model_of_the_registry_says_a_promise_that_can_be_filled_in() -> None:
    for key, model in MODELS.members().items():
        words = {name for _, name, _, _ in Formatter().parse(model.promise) if name}
        assert words <= {one.name for one in fields(model)} | {"counted"}, key
        assert not words & {"rows_before", "original", "sha256"}, f"{key} tells of the originals in public"
