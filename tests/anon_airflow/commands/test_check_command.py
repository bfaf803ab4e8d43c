"""``anon check`` beside the original: the four k's, diversity, risk, utility, and what it refuses."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.anon_airflow.commands.check_specs import spec_with
from tests.faults.anon_process import anon

# The example of bampoulidis2019: whoever knows the man from Austria finds the one row with stars.
BEFORE = "id,sex,age,country,ill\n1,f,20,AT,flu\n2,f,20,AT,cold\n3,m,20,GR,flu\n4,m,20,GR,cold\n5,m,20,AT,flu\n"
AFTER = "id,sex,age,country,ill\n1,f,20,AT,flu\n2,f,20,AT,cold\n3,m,20,GR,flu\n4,m,20,GR,cold\n5,*,20,*,flu\n"


@pytest.fixture
def files(tmp_path) -> tuple[Path, Path]:
    """The released table and its original."""
    after, before = tmp_path / "after.csv", tmp_path / "before.csv"
    after.write_text(AFTER)
    before.write_text(BEFORE)
    return after, before


def released(path: Path, rows: str) -> Path:
    path.write_text("sex,age,country,ill\n" + rows)
    return path


QUASI = ("--quasi", "sex,age,country", "-k", "2", "--json")


@pytest.mark.parametrize("pairing", [[], ["--same-order"], ["--key", "id"]])
def test_the_four_ks_are_told_beside_the_original(home, files, pairing):
    after, before = files
    ended = anon("check", after, *QUASI, "--original", before, *pairing, home=home)
    assert ended.code == 1
    assert ended.json["k"] == {"exact": 1, "link": 1, "source": 2, "concealment": 1}
    beside = ended.json["beside_original"]
    assert beside["rows_below_k"] == {"exact": 1, "link": 1, "source": 0, "concealment": 1}
    assert (beside["paired"], beside["rows_removed"]) == (bool(pairing), 0)


def test_without_the_original_only_exact_k_is_told(home, files):
    shown = anon("check", files[0], *QUASI, home=home).json
    assert shown["k"] == {"exact": 1, "link": None, "source": None, "concealment": None}
    assert shown["beside_original"] is None
    assert shown["utility"] is None


def test_utility_needs_to_know_which_row_became_which(home, files):
    after, before = files
    paired = anon("check", after, *QUASI, "--original", before, "--same-order", home=home).json["utility"]
    # NUE counts inside the rows at the root: of the one that is there, nothing is mixed with anything.
    assert paired["nue"] == pytest.approx(1)
    assert paired["cells_changed_share"] == pytest.approx(2 / 15)
    unpaired = anon("check", after, *QUASI, "--original", before, home=home).json["utility"]
    assert unpaired["nue"] is None
    assert "not known which row" in unpaired["reason"]
    assert unpaired["loss"] == paired["loss"]


def test_labels_of_the_hierarchies_of_the_spec_are_understood_and_removed_rows_counted(tmp_path, home, files):
    after = released(tmp_path / "r.csv", "f,20,Europe,flu\nf,20,Europe,cold\nm,20,Europe,flu\nm,20,Europe,flu\n")
    ended = anon("check", after, "--spec", spec_with(tmp_path), "--original", files[1], "--json", home=home)
    assert ended.json["k"] == {"exact": 2, "link": 2, "source": 2, "concealment": 2}
    assert ended.json["beside_original"]["rows_removed"] == 1
    checks = {check["name"]: check for check in ended.json["checks"]}
    assert not checks["rows_suppressed_at_most"]["passed"]
    assert checks["rows_suppressed_at_most"]["observed"] == pytest.approx(0.2)
    assert checks["k_anonymity"]["passed"]
    loose = spec_with(tmp_path, "{k: 2, suppression_limit: 0.2}")
    assert anon("check", after, "--spec", loose, "--original", files[1], home=home).code == 0


def test_a_cell_that_no_hierarchy_leads_to_is_refused_with_counts_and_no_value(tmp_path, home, files):
    after = released(tmp_path / "r.csv", "f,20,Atlantis,flu\nf,20,Atlantis,cold\n")
    ended = anon("check", after, "--spec", spec_with(tmp_path), "--original", files[1], home=home)
    assert ended.code == 2
    assert "column 'country': 1 distinct value, 2 rows" in ended.err
    assert "Atlantis" not in ended.err


def test_link_k_is_what_is_checked_where_the_policy_means_it(tmp_path, home, files):
    spec = spec_with(tmp_path, "{k: 2, k_means: link}")
    ended = anon("check", files[0], "--spec", spec, "--original", files[1], "--json", home=home)
    checks = {check["name"]: (check["passed"], check["observed"]) for check in ended.json["checks"]}
    assert checks["link_k"] == (False, 1)
    assert checks["source_k"] == (True, 2)
    assert "k_anonymity" not in checks
    assert "no_singletons" not in checks
    alone = anon("check", files[0], "--spec", spec, home=home)
    assert alone.code == 2
    assert "--original" in alone.err


def test_what_a_policy_requires_of_sensitive_columns_and_risk_is_checked(tmp_path, home):
    after = released(tmp_path / "r.csv", "f,20,AT,flu\nf,20,AT,cold\nm,20,AT,flu\nm,20,AT,flu\n")
    policy = (
        "{k: 2, l_diversity: [{column: ill, l: 2}], t_closeness: [{column: ill, t: 0.3}], "
        "alpha: [{column: ill, alpha: 0.5}], max_risk: 0.5}"
    )
    shown = anon("check", after, "--spec", spec_with(tmp_path, policy), "--json", home=home).json
    checks = {check["name"]: (check["passed"], check["observed"]) for check in shown["checks"]}
    assert checks["l_diversity(ill, distinct)"] == (False, 1)
    assert checks["t_closeness(ill, equal)"] == (True, pytest.approx(0.25))
    assert checks["alpha(ill)"] == (False, 1.0)
    assert checks["max_risk"] == (True, 0.5)
    assert shown["sensitive"][0]["largest_share"] == 1.0


@pytest.mark.parametrize(
    ("last", "c", "expected"),
    [
        ("cold", 1, (False, 1.0, "needs c above 1, 1 given; 2 of 2 classes fail, 4 of 4 rows")),
        ("cold", 1.01, (True, 1.0, "needs c above 1, 1.01 given")),
        ("flu", 9, (False, None, "has too few values for any c, 9 given; 1 of 2 classes fail, 2 of 4 rows")),
    ],
)
def test_recursive_diversity_says_that_c_must_be_above_what_is_observed(tmp_path, home, last, c, expected):
    after = released(tmp_path / "r.csv", f"f,20,AT,flu\nf,20,AT,cold\nm,20,AT,flu\nm,20,AT,{last}\n")
    spec = spec_with(tmp_path, f"{{k: 2, l_diversity: [{{column: ill, kind: recursive, l: 2, c: {c}}}]}}")
    (diverse,) = [
        check
        for check in anon("check", after, "--spec", spec, "--json", home=home).json["checks"]
        if check["name"].startswith("l_diversity")
    ]
    assert (diverse["passed"], diverse["observed"]) == expected[:2]
    assert expected[2] in diverse["about"]


def test_the_uniques_of_the_population_are_estimated_only_with_a_sampling_fraction(home, files):
    shown = anon("check", files[0], *QUASI, home=home).json["risk"]
    assert shown["population_reason"] == "not assessed: no sampling fraction is declared"
    shown = anon("check", files[0], *QUASI, "--sampling-fraction", "0.5", home=home).json["risk"]
    assert {one["estimator"] for one in shown["population"]} >= {"Zayatz 1991", "Pitman (Hoshino 2001)"}
    assert shown["journalist"]["highest"] < shown["prosecutor"]["highest"]


def test_readable_output_says_what_each_k_means_and_holds_no_cell(home, files):
    ended = anon(
        "check", files[0], *QUASI[:-1], "--sensitive", "ill", "--original", files[1], "--same-order", home=home
    )
    for words in ("published rows that may be a person's, at least", "prosecutor", "by priority (wNUE)", "entropy l"):
        assert words in ended.out
    assert "GR" not in ended.out
    assert "flu" not in ended.out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--same-order"], "--original"),
        (["--key", "id"], "--original"),
        (["--column", "sex"], "--plot"),
        (["--show-values", "--plot", "p.svg"], "--column"),
        (["--sampling-fraction", "2"], "between 0 and 1"),
        (["--sampling-fraction", "0"], "above 0"),
        (["--same-order", "--key", "id"], "one of them"),
        (["--unit", "sex"], "named twice"),
        (["--sensitive", "sex"], "named twice"),
        (["--sensitive", "nothing"], "no column named 'nothing'"),
    ],
)
def test_options_without_effect_are_refused(home, files, words, said):
    ended = anon("check", files[0], *QUASI, *words, home=home)
    assert ended.code == 2
    assert said in ended.err


@pytest.mark.parametrize(
    ("pairing", "text", "said"),
    [
        (["--same-order"], BEFORE.replace("5,m,20,AT,flu\n", ""), "4 before, 5 after"),
        (["--key", "id"], BEFORE.replace("5,m", "6,m"), "1 of its values occur only after"),
        (["--key", "id"], BEFORE.replace("5,m", "4,m"), "the same value twice before"),
        (["--key", "who"], BEFORE, "the original and the released table does not have it"),
    ],
)
def test_rows_that_cannot_be_paired_as_asked_are_an_error(home, files, pairing, text, said):
    after, before = files
    before.write_text(text)
    ended = anon("check", after, *QUASI, "--original", before, *pairing, home=home)
    assert ended.code == 2
    assert said in ended.err


def test_pictures_are_drawn_and_show_values_only_when_asked(tmp_path, home, files):
    after, before = files
    drawn, hidden, shown = (tmp_path / f"{name}.svg" for name in ("all", "hidden", "shown"))
    anon("check", after, *QUASI, "--original", before, "--same-order", "--plot", drawn, home=home)
    assert "<svg" in drawn.read_text()
    anon("check", after, *QUASI, "--plot", hidden, "--column", "country", home=home)
    anon("check", after, *QUASI, "--plot", shown, "--column", "country", "--show-values", home=home)
    assert "GR" not in hidden.read_text()
    assert "GR" in shown.read_text()


def test_what_is_given_beside_the_file_counts_in_its_place(tmp_path, home):
    """Found by attack: k was measured over --quasi, diversity over the quasi-identifiers of the file."""
    table = tmp_path / "t.csv"
    table.write_text("a,s\n1,p\n1,p\n1,p\n2,q\n2,q\n2,q\n")
    spec = tmp_path / "s.yaml"
    policy = "privacy: {k: 3, l_diversity: [{column: s, l: 2}], alpha: [{column: s, alpha: 0.6}]}\n"
    spec.write_text("columns: {a: {role: other}, s: {role: sensitive}}\n" + policy)
    ended = anon("check", table, "--spec", spec, "--quasi", "a", "--json", home=home)
    assert ended.code == 1
    checks = {check["name"]: check["observed"] for check in ended.json["checks"] if not check["passed"]}
    assert checks == {"l_diversity(s, distinct)": 1, "alpha(s)": 1.0}


def test_what_only_the_gate_checked_before_is_checked_or_said(tmp_path, home):
    """Found by attack: names declared sensitive and an acceptance that had ended held."""
    table = tmp_path / "t.csv"
    table.write_text("a,who\n" + "".join(f"x,person {n}\n" for n in range(20)))
    spec = tmp_path / "s.yaml"
    spec.write_text(
        "columns: {a: {role: quasi}, who: {role: sensitive}}\n"
        "privacy: {k: 2, published_uniqueness: {accept: [{columns: [who], reason: a small register, "
        "by: me, until: 2020-01-01}]}}\n"
        "expectations: [{type: expect_table_row_count_to_be_between, kwargs: {min_value: 100}}]\n"
    )
    ended = anon("check", table, "--spec", spec, "--json", home=home)
    assert ended.code == 1
    failed = {check["name"] for check in ended.json["checks"] if not check["passed"]}
    assert failed == {"no_published_identifier", "sensitive_alone", "acceptances"}
    assert ended.json["not_checked"] == [
        "expectations (a run checks them)",
        "rows_suppressed_at_most (needs --original)",
    ]


def test_the_original_is_read_as_the_file_says(tmp_path, home):
    before, after = tmp_path / "b.csv", tmp_path / "a.csv"
    before.write_text("a;s\n1;p\n1;q\nn/a;p\nn/a;q\n")
    after.write_text("a,s\n1,p\n1,q\n,p\n,q\n")
    spec = tmp_path / "s.yaml"
    columns = "columns: {a: {role: quasi, hierarchy: {intervals: [5]}}, s: {role: sensitive}}\nprivacy: {k: 2}\n"
    spec.write_text(columns + 'source: {file: b.csv, delimiter: ";", missing_words: ["", n/a]}\n')
    ended = anon("check", after, "--spec", spec, "--original", before, "--same-order", "--json", home=home)
    assert ended.code == 0, ended.err
    assert ended.json["utility"]["nue"] == 1


def test_a_star_says_nothing_before_recoding_as_well(tmp_path, home):
    before, after = tmp_path / "b.csv", tmp_path / "a.csv"
    before.write_text("a\n1\n1\n2\n*\n")
    after.write_text("a\n1\n1\n*\n*\n")
    ended = anon("check", after, "--quasi", "a", "-k", "2", "--original", before, "--same-order", "--json", home=home)
    assert ended.json["k"] == {"exact": 2, "link": 2, "source": 2, "concealment": 2}
    assert ended.json["utility"]["loss"] > 0
