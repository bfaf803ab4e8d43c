"""The reports' JSON schema is published in docs, so that programs can rely on it."""

from __future__ import annotations

import json
from pathlib import Path

from pydantic.json_schema import models_json_schema

from anon_core.report.internal_report import InternalReport
from anon_core.report.public_report import PublicReport

SCHEMA = Path(__file__).resolve().parents[3] / "docs" / "report.schema.json"


def current_schema() -> str:
    _, schema = models_json_schema(
        [(PublicReport, "serialization"), (InternalReport, "serialization")], title="anonflow reports"
    )
    schema["oneOf"] = [{"$ref": "#/$defs/PublicReport"}, {"$ref": "#/$defs/InternalReport"}]
    schema["$schema"] = "https://json-schema.org/draft/2020-12/schema"
    return json.dumps(schema, indent=1, sort_keys=True) + "\n"


def test_the_published_schema_is_the_one_the_reports_follow() -> None:
    assert SCHEMA.read_text(encoding="utf-8") == current_schema(), (
        "write it anew: "
        "python -c 'from tests.anon_core.report.test_report import *; SCHEMA.write_text(current_schema())'"
    )
