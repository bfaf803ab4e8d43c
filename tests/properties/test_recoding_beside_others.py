"""Recoding beside columns declared other: they stay as collected, and classes count them."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from anon_core.engines.arrow import ArrowEngine
from anon_core.errors import PolicyNotMetError
from anon_core.report.recoding import recode_publication
from anon_core.spec import load_spec
from tests.properties.tables import rows_of, table_of

NAMES = ("born", "sex", "ring", "shoe", "ill")
COLUMNS: dict[str, Any] = {
    "born": {"role": "quasi", "priority": 1, "hierarchy": {"intervals": [2, 4]}},
    "sex": {"role": "quasi", "priority": 2},
    "ring": {"role": "other"},
    "shoe": {"role": "other"},
    "ill": {"role": "sensitive", "hierarchy": {"file": "ill.csv"}},
}
ILLNESSES = "flu;mild\ncold;mild\nhiv;severe\n"
METHODS: dict[str, dict[str, Any]] = {
    "global": {"recode": {"method": "global"}},
    "safe": {"recode": {"method": "prioritised", "improve": 3}},
    "link": {"recode": {"method": "prioritised", "mode": "link", "improve": 3}, "k_means": "link"},
    "paper": {"recode": {"method": "prioritised", "mode": "paper"}, "k_means": "link"},
    "best": {"recode": {"method": "best", "improve": 3}},
    "freeform": {"recode": {"method": "freeform", "then": "prioritised"}},
}
GUARD = {"sigma_o": 1, "sigma_t": 0.9, "columns": {"ill": {"guard": ["hiv"]}}}


def publication(folder: Path, *, recode: dict[str, Any], accept: list[str], **privacy: Any) -> Any:
    (folder / "ill.csv").write_text(ILLNESSES)
    accepted = [{"columns": accept, "reason": "a public list", "by": "A. Rossi", "until": "2999-12-31"}]
    guards = {"freeform": GUARD} if recode["method"] == "freeform" else {}
    columns = {name: dict(one) for name, one in COLUMNS.items()}
    if not guards:
        del columns["ill"]["hierarchy"]
    uniqueness = {"published_uniqueness": {"accept": accepted if accept else []}}
    spec = {"columns": columns, "privacy": {**privacy, **guards, **uniqueness}, "recode": recode}
    path = folder / "people.yaml"
    path.write_text(yaml.safe_dump(spec, sort_keys=False))
    return load_spec(path, partial=True)


@st.composite
def people(draw: st.DrawFn) -> list[tuple[str, ...]]:
    cells = [st.sampled_from(values) for values in (["1", "2", "3", "5"], "FM", "xyz", "ab", ["flu", "cold", "hiv"])]
    return draw(st.lists(st.tuples(*cells), min_size=4, max_size=40))


@pytest.mark.parametrize("method", METHODS)
@settings(max_examples=40, deadline=None)
@given(rows=people(), limit=st.sampled_from([0.0, 0.3, 0.9]), k=st.integers(2, 3), accept=st.booleans())
def test_other_columns_stay_as_collected_and_classes_with_them_have_k_rows(
    tmp_path_factory: pytest.TempPathFactory,
    method: str,
    rows: list[tuple[str, ...]],
    limit: float,
    k: int,
    accept: bool,
) -> None:
    folder = tmp_path_factory.mktemp("publication")
    accepted = ["shoe"] if accept else []
    spec = publication(folder, accept=accepted, k=k, suppression_limit=limit, **METHODS[method])
    engine = ArrowEngine(table=table_of(NAMES, rows))
    try:
        found = recode_publication(spec, engine)
    except PolicyNotMetError:
        return
    released = rows_of(found.released)
    whole = Counter((row[2], row[3], *((row[4],) if method != "freeform" else ())) for row in rows)
    kept = Counter((row[2], row[3], *((row[4],) if method != "freeform" else ())) for row in released)
    assert not kept - whole, "what is left was there"
    assert len(rows) - len(released) <= limit * len(rows)
    if method in ("link", "paper"):
        return
    joint = Counter(row[:3] if accept else row[:4] for row in released)
    assert min(joint.values()) >= k


def test_rows_that_no_class_can_take_are_removed(tmp_path: Path) -> None:
    rows = [("1", "F", "x", "a", "flu"), ("2", "F", "x", "a", "flu")] * 10 + [("1", "F", "z", "a", "flu")] * 2
    for method in ("global", "safe", "best"):
        spec = publication(tmp_path, accept=[], k=3, suppression_limit=0.1, **METHODS[method])
        released = rows_of(recode_publication(spec, ArrowEngine(table=table_of(NAMES, rows))).released)
        assert Counter(row[2] for row in released) == {"x": 20}, method
        strict = publication(tmp_path, accept=[], k=3, suppression_limit=0.0, **METHODS[method])
        with pytest.raises(PolicyNotMetError):
            recode_publication(strict, ArrowEngine(table=table_of(NAMES, rows)))


@pytest.mark.parametrize("method", ["global", "safe", "best", "link"])
@settings(max_examples=15, deadline=None)
@given(rows=people(), limit=st.sampled_from([0.0, 0.3, 0.9]), k=st.integers(2, 3), data=st.data())
def test_classes_with_other_columns_have_k_people_where_people_have_several_rows(
    tmp_path_factory: pytest.TempPathFactory,
    method: str,
    rows: list[tuple[str, ...]],
    limit: float,
    k: int,
    data: st.DataObject,
) -> None:
    folder = tmp_path_factory.mktemp("publication")
    spec = publication(folder, accept=[], k=k, suppression_limit=limit, **METHODS[method])
    persons = data.draw(st.lists(st.sampled_from("abcdefgh"), min_size=len(rows), max_size=len(rows)))
    table = table_of([*NAMES, "person"], [(*row, person) for row, person in zip(rows, persons, strict=True)])
    try:
        found = recode_publication(spec, ArrowEngine(table=table, unit="person"))
    except PolicyNotMetError:
        return
    assert found.witness is not None
    said = found.witness.select([*NAMES, "person"] if len(set(persons)) < len(rows) else NAMES)
    assert Counter(row[:5] for row in rows_of(said)) == Counter(rows_of(found.released))
    assert len(rows) - said.rows <= limit * len(rows)
    if method != "link" and "person" in said.names:
        classes: dict[tuple[str | None, ...], set[str | None]] = {}
        for row in rows_of(said):
            classes.setdefault(row[:4], set()).add(row[5])
        assert min(map(len, classes.values())) >= k
