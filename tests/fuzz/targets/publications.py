"""Whole publication files with something changed in them; those that are accepted meet a small table of canaries."""

from __future__ import annotations

import datetime
from pathlib import Path
from typing import Any

import yaml

from anon_airflow.gate.suite import mandatory, render_suite, suite_digest, unmeasured
from anon_airflow.sources.staging import read_source, source_of
from anon_core.spec import Publication, load_spec
from tests.fuzz.drawing import Draw
from tests.fuzz.oddities import changed
from tests.fuzz.oracle import CANARY, judged, refuse_canary
from tests.fuzz.target import Target
from tests.fuzz.targets.publication_text import KEYS

TODAY = datetime.date(2026, 11, 1)
PEOPLE = {
    "dataset": "people",
    "title": "People",
    "source": {"file": "people.csv", "delimiter": ",", "encoding": "utf-8", "missing_words": [""]},
    "columns": {
        "id": {"role": "identifier"},
        "born": {"role": "quasi", "priority": 1, "hierarchy": {"intervals": [5, 10], "unmapped": "suppress"}},
        "town": {"role": "quasi", "priority": 2, "hierarchy": {"file": "towns.csv", "unmapped": "suppress"}},
        "code": {
            "role": "quasi",
            "priority": 3,
            "decompose": {"widths": [2, 3], "names": ["state", "local"], "publish": ["state"], "unmapped": "suppress"},
        },
        "moved": {"role": "quasi", "priority": 4, "hierarchy": {"date": ["month", "year"], "unmapped": "suppress"}},
        "points": {"role": "sensitive", "type": "text"},
        "notes": {"role": "other", "description": "what was said"},
    },
    "detect": {"max_size": 3, "reveal_probability": {"default": 0.5, "town": 0.9}},
    "privacy": {
        "k": 2,
        "suppression_limit": 0.1,
        "l_diversity": [{"column": "points", "kind": "distinct", "l": 2}],
        "t_closeness": [{"column": "points", "t": 0.2, "distance": "equal"}],
        "published_uniqueness": {"max_size": 2, "max_share": 0.0, "max_share_with_sensitive": 1.0, "accept": []},
        "waivers": [{"check": "t_closeness", "reason": "a reason of theirs", "by": "name", "until": "2026-12-31"}],
    },
    "recode": {"method": "global", "utility": "wnue"},
    "expectations": [{"type": "expect_column_values_to_be_unique", "kwargs": {"column": "notes"}}],
    "approval": {"required": False, "users": [], "four_eyes": False},
    "unit": "row",
    "reviewed": {"by": "Ada", "on": "2026-01-02"},
    "portal": {"folder": "portal"},
    "metadata": {"description": "d", "publisher": "p", "licence": "CC-BY-4.0", "keywords": ["a"], "language": "en"},
}
FREEFORM = {
    **PEOPLE,
    "columns": {
        "id": {"role": "drop"},
        "born": {"role": "other"},
        "town": {"role": "quasi", "hierarchy": {"file": "towns.csv", "unmapped": "suppress"}},
        "code": {"role": "quasi", "decompose": {"separator": "-", "names": ["a", "b"], "unmapped": "suppress"}},
        "moved": {"role": "other"},
        "points": {"role": "sensitive", "hierarchy": {"file": "points.txt"}},
        "notes": {"role": "drop"},
    },
    "privacy": {
        "k": 2,
        "k_means": "exact",
        "freeform": {"sigma_o": 1, "sigma_t": 0.5, "columns": {"points": {"guard": ["1"], "sensitivity": "aggregate"}}},
    },
    "recode": {"method": "freeform"},
    "expectations": [],
}
SINGLETONS = {
    **PEOPLE,
    "recode": {
        "method": "singletons",
        "singletons": {"columns": ["town"], "years": {"column": "born", "intervals": "rows", "size": 2}},
    },
}
ROWS = [
    ("id", "born", "town", "code", "moved", "points", "notes"),
    (CANARY, "1950", "Alba", "AO123", "2020-01-01", "1", CANARY),
    ("2", "1951", "Bria", "TO-12", "2020-02-30", "2", ""),
    ("3", CANARY, CANARY, CANARY, CANARY, "1", "é"),
    ("4", "", "", "", "", "", "=1"),
]
FILES = {
    "people.csv": "".join(",".join(row) + "\n" for row in ROWS),
    "towns.csv": "Alba;North;*\nBria;South;*\n",
    "points.txt": "{1, 2} => some\n",
}
WORDS = (*KEYS, "people.csv", "towns.csv", "points.txt", "global", "best", "prioritised", "freeform", "singletons", "none",
         "born", "town", "code", "moved", "points", "notes", "id", "exact", "link", "drop", "category", "entropy",
         "recursive", "ordered", "hierarchical", "day", "decade", "phone", "auto", "expect_column_values_to_match_regex",
         "{{ ds }}", "2026-11-01", "rows", "mean", "range", "integer")  # fmt: skip


def run(draw: Draw, folder: Path) -> None:
    document = changed(draw, draw.pick((PEOPLE, FREEFORM, SINGLETONS)), WORDS)
    for name, content in FILES.items():
        (folder / name).write_text(content)
    path = folder / "people.yaml"
    path.write_text(_yaml(document), encoding="utf-8", errors="replace")
    publication = judged(load_spec, path)
    if publication is None:
        judged(load_spec, path, partial=True)
        return
    judged(_used, publication)


def _yaml(document: Any) -> str:
    try:
        return yaml.dump(document, Dumper=yaml.CSafeDumper, sort_keys=False, allow_unicode=True)
    except UnicodeEncodeError:  # Half a surrogate pair.
        return yaml.safe_dump(document, sort_keys=False)


def _used(publication: Publication) -> None:
    """Do what a run does with a publication file before it recodes anything."""
    judged(publication.digest)
    collected = judged(read_source, publication, source_of(publication, publication.source_template))
    rows = collected.table.rows if collected else 4
    suite = judged(render_suite, publication, rows_before=rows, today=TODAY, original="0" * 64)
    judged(mandatory, publication, TODAY)
    judged(unmeasured, publication)
    if suite is not None:
        judged(suite_digest, suite)
        refuse_canary(repr(suite), "suite.py:render_suite")


TARGET = Target(run=run, share=0.04, drawn=0.1)
