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
LENIENT = "published_uniqueness: {max_share_alone: 1.0}"
"""What a table of a few people needs: a value of some of them is shared by few."""


def spec_with(folder: Path, policy: str = "{k: 2}", text: str = SPEC) -> Path:
    (folder / "countries.csv").write_text("AT;Europe\nGR;Europe\nJP;Asia\n")
    path = folder / "spec.yaml"
    path.write_text(
        text.replace("{k: 2}", policy if "published_uniqueness" in policy else f"{policy[:-1]}, {LENIENT}}}")
    )
    return path
