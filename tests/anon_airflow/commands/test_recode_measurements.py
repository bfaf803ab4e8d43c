"""``anon recode`` tells of its own result what the models measure, and no more than the method promises."""

from __future__ import annotations

from tests.faults.anon_process import anon


def test_a_value_that_reads_like_a_root_is_no_suppressed_row(tmp_path):
    """Found in review: a plan knows which rows it suppressed, and labels do not."""
    spec = "columns: {sex: {role: quasi, hierarchy: {root: any}}}\nprivacy: {k: 2}\nrecode: {method: global}\n"
    (tmp_path / "spec.yaml").write_text(spec)
    (tmp_path / "t.csv").write_text("sex\n" + "*\n" * 3 + "F\n" * 3 + "M\n" * 3)
    command = ("recode", tmp_path / "t.csv", "--spec", tmp_path / "spec.yaml", "--output", tmp_path / "out.csv")
    ended = anon(*command, "--json", home=tmp_path / "home")
    assert ended.code == 0, ended.err
    (suppressed,) = [one for one in ended.json["checks"] if one["name"] == "rows_suppressed_at_most"]
    assert (suppressed["passed"], suppressed["observed"]) == (True, 0)


def test_a_risk_is_told_and_no_error_where_freeform_recoding_reaches_no_k(tmp_path):
    """Found in review: that method promises nothing of classes, so the check tells it."""
    (tmp_path / "ill.csv").write_text("flu;common\ncold;common\ngout;rare\nAIDS;rare\n")
    (tmp_path / "spec.yaml").write_text(
        "columns:\n  town: {role: quasi, hierarchy: {root: any}}\n"
        "  illness: {role: sensitive, hierarchy: {file: ill.csv}}\n"
        "privacy: {k: 2, max_risk: 0.5, freeform: {sigma_o: 0.6, sigma_t: 0.9, columns: {illness: {guard: [AIDS]}}}}\n"
        "recode: {method: freeform}\n"
    )
    (tmp_path / "t.csv").write_text("town,illness\nA,cold\nC,flu\nC,flu\nC,gout\n" + "B,flu\n" * 3)
    command = ("recode", tmp_path / "t.csv", "--spec", tmp_path / "spec.yaml", "--output", tmp_path / "out.csv")
    ended = anon(*command, "--json", home=tmp_path / "home")
    failed = {one["name"] for one in ended.json["checks"] if not one["passed"]}
    assert {"max_risk", "k_anonymity"} <= failed, ended.err
