"""Publication files to test with, and what is wrong with them."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import pytest
import yaml

from anon_core.errors import SpecError
from anon_core.spec import load_spec

MINIMAL = """\
dataset: driver-licences
title: Driver licences
source: {file: samples/driver_licences.csv}
columns:
  id: {role: identifier}
  birth_year: {role: quasi, priority: 2, hierarchy: {intervals: [5, 10, 20]}}
  sex: {role: quasi, priority: 1, hierarchy: {root: any gender}}
  points: {role: other}
privacy: {k: 5}
portal: {folder: portal}
unit: row
reviewed: {by: Ada, "on": 2026-01-02}
"""


# Section 13 of the design, every key of it.
FULL = """\
dataset: driver-licences
title: Driver licences
schedule: "@monthly"
airflow: {owner: open-data, retries: 2, pool: null, max_active_runs: 1, tags: [], deadline: null, notify: []}
source:
  file: samples/driver_licences.csv
  delimiter: auto
  encoding: utf-8
  missing_words: [""]
engine: auto
missing: category
sampling_fraction: null
columns:
  id:               {role: identifier}
  birth_year:       {role: quasi, priority: 2, hierarchy: {intervals: [5, 10, 20]}}
  municipality:     {role: quasi, priority: 1, hierarchy: {file: hierarchies/municipalities.csv, unmapped: error}}
  sex:              {role: quasi, priority: 3, hierarchy: {root: any gender}}
  postcode:         {role: quasi, priority: 4, hierarchy: {prefix: [4, 3, 2]},
                     decompose: {widths: [2, 3], names: [state, local],
                                 lookup: {state: hierarchies/states.csv}, publish: [state]}}
  issued:           {role: quasi, priority: 5, hierarchy: {date: [month, quarter, year]}}
  licence_category: {role: sensitive, hierarchy: {file: hierarchies/categories.csv}}
  points:           {role: other, description: points left}
  notes:            {role: drop}
detect: {max_size: 4, approximate: 0.001, ignore_duplicates: false, reveal_probability: 0.5}
privacy:
  k: 5
  k_means: exact
  singletons: 0
  suppression_limit: 0.01
  l_diversity: [{column: licence_category, kind: distinct, l: 2}]
  t_closeness: [{column: licence_category, t: 0.2, distance: equal}]
  alpha: [{column: licence_category, alpha: 0.5}]
  max_sensitivity: null
  max_risk: null
  published_uniqueness: {max_size: 3, max_share: 0.0, max_share_alone: 0.01, max_share_with_sensitive: 0.5,
                         accept: [{columns: [issued, points], reason: "people know it", by: name, until: 2027-12-31}]}
  freeform:
    sigma_o: 1
    sigma_t: 0.5
    columns: {licence_category: {guard: [CE, DE], sensitivity: aggregate, observability: sensitivity}}
  earlier_releases: {mode: snapshot, delta_k: 5, window: 3, on_breach: warn, unit_key: null}
  waivers: [{check: t_closeness, reason: "people know these", by: name, until: 2026-12-31}]
recode:
  method: prioritised
  mode: safe
  improve: auto
  seed: 0
  singletons: {columns: [municipality, sex], years: {column: birth_year, intervals: rows, size: 5, replace: range}}
  then: null
  sticky: false
  utility: wnue
expectations: []
approval: {required: false, users: [], four_eyes: false}
portal: {folder: portal}
unit: row
reviewed: {by: Ada, "on": 2026-01-02}
metadata: {description: ..., publisher: ..., licence: CC-BY-4.0, keywords: [...],
           frequency: monthly, contact: ..., language: en, theme: ...}
keep_staging: false
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """An `include` folder with a `publications` folder in it."""
    (tmp_path / "include" / "publications").mkdir(parents=True)
    return tmp_path / "include"


def load(folder: Path, text: str, *, partial: bool = False) -> Any:
    file = folder / "publications" / "licences.yaml"
    file.write_text(text, encoding="utf-8")
    return load_spec(file, partial=True) if partial else load_spec(file)


def problems(folder: Path, text: str, *, partial: bool = False) -> dict[str, tuple[int, str]]:
    with pytest.raises(SpecError) as caught:
        load(folder, text, partial=partial)
    return {problem.where: (problem.line, problem.what) for problem in caught.value.problems}


def changed(**sections: Any) -> str:
    """The minimal file with whole sections replaced; `None` removes one."""
    content = copy.deepcopy(yaml.safe_load(MINIMAL)) | sections
    return yaml.safe_dump({key: value for key, value in content.items() if value is not None}, sort_keys=False)


def with_column(**column: Any) -> str:
    return changed(columns=yaml.safe_load(MINIMAL)["columns"] | {"extra": column})
