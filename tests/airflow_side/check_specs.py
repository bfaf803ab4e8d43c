"""A publication file for the tables that ``anon check`` is given."""

from __future__ import annotations

from pathlib import Path

SPEC = """columns:
  id: {role: identifier}
  sex: {role: quasi, priority: 1}
  age: {role: quasi, priority: 2}
  country: {role: quasi, priority: 1, hierarchy: {file: countries.csv}}
  ill: {role: sensitive}
privacy: {k: 2}
"""


def spec_with(folder: Path, policy: str = "{k: 2}", text: str = SPEC) -> Path:
    (folder / "countries.csv").write_text("AT;Europe\nGR;Europe\nJP;Asia\n")
    path = folder / "spec.yaml"
    path.write_text(text.replace("{k: 2}", policy))
    return path
