"""Publication files as bytes: every file is a publication, or gives a list of problems with their lines."""

from __future__ import annotations

from pathlib import Path

from anon_core.spec import load_spec
from tests.fuzz.drawing import Draw
from tests.fuzz.oracle import judged
from tests.fuzz.target import Target

KEYS = [
    "dataset",
    "title",
    "schedule",
    "airflow",
    "source",
    "engine",
    "missing",
    "unit",
    "sampling_fraction",
    "columns",
    "detect",
    "privacy",
    "recode",
    "expectations",
    "csv",
    "approval",
    "portal",
    "metadata",
    "keep_staging",
    "file",
    "delimiter",
    "encoding",
    "missing_words",
    "role",
    "quasi",
    "sensitive",
    "identifier",
    "other",
    "drop",
    "priority",
    "hierarchy",
    "intervals",
    "prefix",
    "date",
    "root",
    "unmapped",
    "suppress",
    "decompose",
    "widths",
    "separator",
    "pattern",
    "preset",
    "names",
    "lookup",
    "publish",
    "hierarchies",
    "k",
    "k_means",
    "singletons",
    "suppression_limit",
    "l_diversity",
    "t_closeness",
    "alpha",
    "max_risk",
    "max_sensitivity",
    "freeform",
    "sigma_o",
    "sigma_t",
    "guard",
    "belief",
    "boost",
    "published_uniqueness",
    "accept",
    "waivers",
    "by",
    "until",
    "raised",
    "limit",
    "reason",
    "method",
    "mode",
    "improve",
    "seed",
    "utility",
    "years",
    "size",
    "replace",
    "ckan",
    "connection",
    "organization",
    "folder",
    "keep",
    "description",
    "publisher",
    "licence",
    "keywords",
    "type",
    "kwargs",
    "column",
    "users",
    "required",
    "four_eyes",
    "asset",
]
SIGNS = (b": ", b"- ", b"{", b"}", b"[", b"]", b"&a ", b"*a", b"<<: ", b"!!", b"|\n", b">\n", b"\t", b"---\n", b"#",
         b'"', b"'", b"\\u", b"\xef\xbb\xbf", b"null", b"true", b".inf", b".nan", b"1e400", b"0x7f", b"@monthly",
         b"2026-12-31", b"? ", b"%YAML")  # fmt: skip


def run(draw: Draw, folder: Path) -> None:
    partial = draw.chance(2)
    path = folder / "people.yaml"
    path.write_bytes(draw.rest())
    publication = judged(load_spec, path, partial=partial)
    if publication is not None:
        judged(publication.digest)
        for name in ("quasi_identifiers", "published", "searched", "priority_weights", "files"):
            judged(getattr, publication, name)


TARGET = Target(run=run, share=0.16, words=(*SIGNS, *(f"{key}: ".encode() for key in KEYS)), max_length=4096)
