"""The site policy as a file, and publication files held against it: what undercuts a floor is named, all of it."""

from __future__ import annotations

from datetime import date, timedelta
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from anon_core.errors import SpecError
from anon_core.policy import PartialPolicy
from anon_core.site import BUILT_IN, SitePolicy, load_site_policy, smallest_table, undercuts
from anon_core.site.policy import exact_risk
from anon_core.spec import load_spec
from anon_core.spec.raised import LIMITS, NOT_THERE, value_at
from anon_core.waivers import ended, too_far

TODAY = date(2026, 11, 18)
BY = {"reason": "the register is public", "by": "R. Rossi", "until": TODAY + timedelta(30)}
COLUMNS = {"age": {"role": "quasi"}, "ill": {"role": "sensitive"}, "id": {"role": "identifier"}}


STATED = {"max_share_with_sensitive": 0.5}


def publication(folder: Path, privacy: dict[str, Any] | None = None, **changes: Any) -> Any:
    stated = privacy or {}
    spec = {
        "dataset": "people",
        "title": "People",
        "source": {"file": "people.csv"},
        "columns": COLUMNS,
        "unit": "row",
        "reviewed": {"by": "Ada", "on": "2026-01-02"},
        "privacy": {"k": 5, **stated, "published_uniqueness": {**STATED, **stated.get("published_uniqueness", {})}},
        "portal": {"folder": "portal"},
        **changes,
    }
    path = folder / "people.yaml"
    path.write_text(yaml.safe_dump(spec, sort_keys=False))
    return load_spec(path)


def policy(folder: Path, text: str) -> SitePolicy:
    (folder / "site.yaml").write_text(text)
    return load_site_policy(folder / "site.yaml", "site.yaml")


def found(folder: Path, privacy: dict[str, Any] | None = None, site: str = "k: 5", **changes: Any) -> str:
    return "\n".join(undercuts(publication(folder, privacy, **changes), policy(folder, site), TODAY))


def test_without_a_file_k_is_at_least_5_and_the_table_has_10_times_k_people() -> None:
    assert (BUILT_IN.k, BUILT_IN.people_for(5), BUILT_IN.people_for(11)) == (5, 50, 110)
    assert smallest_table(5, 50, BUILT_IN) is None
    assert "49 people" in (smallest_table(5, 49, BUILT_IN) or "") and "at least 50" in (
        smallest_table(5, 49, BUILT_IN) or ""
    )


@pytest.mark.parametrize(
    ("text", "where", "what"),
    [
        ("kk: 5", "kk", "did you mean `k`"),
        ("k: 1", "k", "at least 2"),
        ("k: true", "k", "a whole number"),
        ("suppresion_limit: 0.1", "suppresion_limit", "did you mean `suppression_limit`"),
        ("published_uniqueness: {max_shar: 0}", "published_uniqueness.max_shar", "did you mean `max_share`"),
        ("max_risk: 0", "max_risk", "a risk above 0"),
        ("max_risk: 3/2", "max_risk", "at most 1"),
        ("portals: {foldr: any}", "portals", "did you mean `folder`"),
        ("longest_acceptance_days: 0", "longest_acceptance_days", "at least 1"),
        ("[1, 2]", "", "should be a mapping"),
        ("", "", "the file is empty"),
    ],
)
def test_what_is_wrong_in_a_site_policy_is_told_with_its_key(tmp_path, text, where, what) -> None:
    with pytest.raises(SpecError) as caught:
        policy(tmp_path, text)
    (problem,) = caught.value.problems
    assert problem.where.startswith(where) and what in problem.what
    assert str(tmp_path) not in str(caught.value)


def test_a_site_policy_that_is_not_there_is_an_error_and_not_the_built_in_one(tmp_path) -> None:
    with pytest.raises(SpecError, match="cannot be read"):
        load_site_policy(tmp_path / "absent.yaml", "absent.yaml")


def test_the_digest_is_of_what_the_policy_says_and_not_of_how_it_is_written(tmp_path) -> None:
    assert policy(tmp_path, "# ours\nk: 5\n").digest == BUILT_IN.digest
    assert policy(tmp_path, "k: 6").digest != BUILT_IN.digest


def test_a_file_that_keeps_every_floor_is_told_nothing(tmp_path) -> None:
    assert found(tmp_path) == ""


UNDERCUT = [
    ({"k": 3}, "k: 5", "privacy.k is 3, and the site policy asks for at least 5"),
    ({"k": 3, "k_means": "link"}, "k: 5", "privacy.k is 3"),
    ({"k": 2, "singletons": 40}, "k: 5", "privacy.k is 2"),
    ({"suppression_limit": 1.0}, "suppression_limit: 0.05", "suppression_limit is 1, and the site policy allows at"),
    (
        {"suppression_limit": 0.01, "waivers": [{"check": "suppression_limit", **BY}]},
        "suppression_limit: 0.05",
        "privacy.waivers has suppression_limit",
    ),
    ({"l_diversity": [{"column": "ill", "l": 2}]}, "l_diversity: {l: 3}", "of ill has l 2"),
    ({}, "l_diversity: {l: 3, required: true}", "asks nothing of ill"),
    (
        {"l_diversity": [{"column": "ill", "l": 3}], "waivers": [{"check": "l_diversity(ill)", **BY}]},
        "l_diversity: {l: 3, required: true}",
        "privacy.waivers has l_diversity(ill)",
    ),
    ({"published_uniqueness": {"max_share": 0.01}}, "k: 5", "published_uniqueness.max_share is 0.01"),
    ({}, "max_risk: 0.09", "privacy.max_risk is not stated"),
    ({"max_risk": 0.1}, "max_risk: 0.09", "privacy.max_risk is 0.1, and the site policy allows at most 0.09"),
    ({"max_risk": 0.05, "waivers": [{"check": "max_risk", **BY}]}, "max_risk: 0.09", "0.05 and waived"),
    ({"k": 11, "k_means": "link"}, "max_risk: 1/11", "privacy.max_risk is not stated"),
    ({"k": 10}, "max_risk: 1/11", "privacy.max_risk is not stated"),
]


@pytest.mark.parametrize(("privacy", "site", "told"), UNDERCUT)
def test_an_undercut_floor_is_told_with_the_value_the_floor_and_who_may_change_it(tmp_path, privacy, site, told):
    sentence = found(tmp_path, privacy, f"owner: Ms. Dati\n{site}")
    assert told in sentence and "(Ms. Dati may change the site policy)" in sentence


@pytest.mark.parametrize(
    ("privacy", "site"),
    [
        ({"k": 11}, "max_risk: 0.09"),
        ({"k": 11}, "max_risk: 1/11"),
        ({"max_risk": 0.09}, "max_risk: 1/11"),
        ({"max_risk": 0.0909}, "max_risk: 0.09"),
        ({"max_risk": 0.33}, "max_risk: 1/3"),
        ({"l_diversity": [{"column": "ill", "l": 3}]}, "l_diversity: {l: 3, required: true}"),
        ({"suppression_limit": 0.05}, "suppression_limit: 0.05"),
    ],
)
def test_what_keeps_a_floor_exactly_is_let_through(tmp_path, privacy, site) -> None:
    assert found(tmp_path, privacy, site) == ""


def test_the_guidance_on_risk_is_read_as_fractions_and_nothing_else_is() -> None:
    assert [exact_risk(one) for one in (0.09, 0.33, "1/11", 0.0909, 0.34)] == [
        Fraction(1, 11), Fraction(1, 3), Fraction(1, 11), Fraction("0.0909"), Fraction("0.34"),
    ]  # fmt: skip


def test_everything_that_is_undercut_is_named_at_once(tmp_path) -> None:
    site = (
        "k: 11\nsuppression_limit: 0.0\nl_diversity: {required: true}\napproval: {required: true}\nportals: {ckan: any}"
    )
    text = found(tmp_path, {"k": 3, "suppression_limit": 0.2, "published_uniqueness": {"max_share": 0.5}}, site)
    assert len(text.splitlines()) == 6
    for key in ("privacy.k", "suppression_limit", "l_diversity", "max_share", "approval.required", "portal is of the"):
        assert key in text


def test_a_portal_is_allowed_by_its_place_links_followed(tmp_path) -> None:
    real, link = tmp_path / "portal", tmp_path / "elsewhere"
    real.mkdir()
    site = f"portals: {{folder: [{real}], ckan: [city]}}"
    assert found(tmp_path, site=site) == ""
    link.symlink_to(real)
    assert found(tmp_path, site=site, portal={"folder": "elsewhere"}) == ""
    link.unlink()
    link.symlink_to(tmp_path.parent / "outside")
    told = found(tmp_path, site=site, portal={"folder": "elsewhere"})
    assert "portal.folder is none of the 1 place" in told and str(tmp_path) not in told
    ckan = {"ckan": {"connection": "town", "organization": "it"}}
    assert "portal.ckan is none of the 1 place" in found(tmp_path, site=site, portal=ckan)
    ckan["ckan"]["connection"] = "city"
    assert found(tmp_path, site=site, portal=ckan) == ""
    assert found(tmp_path, site="portals: {folder: any}") == ""


@given(
    k=st.integers(2, 40),
    floor=st.integers(2, 40),
    share=st.floats(0, 1).map(lambda x: round(x, 3)),
    most=st.floats(0, 1).map(lambda x: round(x, 3)),
)
def test_a_floor_is_undercut_exactly_if_the_value_is_beyond_it(tmp_path_factory, k, floor, share, most) -> None:
    file = publication(tmp_path_factory.getbasetemp(), {"k": k, "suppression_limit": share})
    site = SitePolicy(k=floor, suppression_limit=most)
    told = undercuts(file, site, TODAY)
    assert any("privacy.k " in one for one in told) == (k < floor)
    assert any("suppression_limit" in one for one in told) == (share > most)


def test_a_raised_limit_counts_until_its_last_day_and_only_for_its_own_limit(tmp_path) -> None:
    unique = {"published_uniqueness": {"max_share": 0.01}}
    raised = {"limit": "published_uniqueness.max_share", **BY}
    assert found(tmp_path, {**unique, "raised": [raised]}) == ""
    assert "max_share" in found(tmp_path, {**unique, "raised": [{**raised, "limit": "max_risk"}]})
    assert "max_share" in found(tmp_path, {**unique, "raised": [{**raised, "until": TODAY - timedelta(1)}]})
    over = publication(tmp_path, {**unique, "raised": [{**raised, "until": TODAY - timedelta(1)}]})
    (one,) = ended(over.privacy, TODAY)
    assert "limit published_uniqueness.max_share raised by R. Rossi expired on 2026-11-17" in one.sentence


@pytest.mark.parametrize(
    ("limit", "what"),
    [
        ("k", "`k` can be neither raised, waived nor accepted"),
        ("published_uniqueness.max_shar", "did you mean `published_uniqueness.max_share`"),
        ("zzz", "limits that can be raised: published_uniqueness.max_share,"),
        ("privacy.max_risk", "did you mean `max_risk`"),
        ("suppression_limit", "there is no limit `suppression_limit` to raise"),
    ],
)
def test_only_a_limit_can_be_raised(tmp_path, limit, what) -> None:
    with pytest.raises(SpecError) as caught:
        publication(tmp_path, {"raised": [{"limit": limit, **BY}]})
    (problem,) = caught.value.problems
    assert (problem.where, problem.what.count(what)) == ("privacy.raised[0].limit", 1)


def test_a_limit_is_raised_by_one_person_with_a_reason_of_ten_letters(tmp_path) -> None:
    one = {"limit": "max_risk", **BY}
    with pytest.raises(SpecError, match="raised already"):
        publication(tmp_path, {"raised": [one, one]})
    for section in (
        {"raised": [{**one, "reason": "it is so"}]},
        {"waivers": [{"check": "suppression_limit", **BY, "reason": "1234567890 ab"}]},
        {"published_uniqueness": {"accept": [{"columns": ["age"], **BY, "reason": "we may"}]}},
    ):
        with pytest.raises(SpecError, match="at least 10 letters"):
            publication(tmp_path, section)


def test_limits_of_later_versions_are_left_alone_where_they_are_not_built() -> None:
    known = [limit for limit in LIMITS if value_at(PartialPolicy(), limit) is not NOT_THERE]
    assert {"published_uniqueness.max_share", "max_risk"} <= set(known)
    assert all(value_at(BUILT_IN, limit) is not NOT_THERE for limit in LIMITS)


def test_whatever_is_answered_for_ends_within_the_longest_acceptance(tmp_path) -> None:
    far, last = TODAY + timedelta(367), TODAY + timedelta(366)
    privacy = {
        "raised": [{"limit": "max_risk", **BY, "until": far}],
        "waivers": [{"check": "suppression_limit", **BY, "until": far}],
        "published_uniqueness": {"accept": [{"columns": ["ill"], **BY, "until": far}]},
    }
    unit = {"rows_are_people": {**BY, "until": far}}
    file = publication(tmp_path, privacy, unit=unit)
    told = [one.sentence for one in too_far(file.privacy, TODAY, 366, file.unit)]
    places = ("published_uniqueness.accept[0]", "waivers[0]", "raised[0]", "unit.rows_are_people")
    assert len(told) == 4 and all(any(place in one for one in told) for place in places)
    assert all(f"`until: {last.isoformat()}`" in one for one in told)
    assert list(too_far(file.privacy, TODAY + timedelta(1), 366, file.unit)) == []
    assert len(list(too_far(file.privacy, TODAY + timedelta(1), 30, file.unit))) == 4


def test_an_answer_about_the_unit_ends_like_a_waiver(tmp_path) -> None:
    spanning = {"columns": ["id"], "may_span": [{"column": "id", **BY}]}
    file = publication(tmp_path, unit=spanning)
    assert list(ended(file.privacy, BY["until"], file.unit)) == []
    (one,) = ended(file.privacy, BY["until"] + timedelta(1), file.unit)
    assert "unit.may_span[0] expired" in one.sentence
