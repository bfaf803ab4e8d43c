"""The site has every document once, and its reference every key, command, model, operator and name of the library."""

from __future__ import annotations

import re
from dataclasses import fields
from pathlib import Path

import click
import pytest

import anon_core as ac
from anon_airflow.cli import COMMANDS, anon
from anon_core.registry import ENGINES, METHODS, MODELS, PORTALS, SOURCES
from docs.site.__main__ import loaded_from_outside
from docs.site.assemble import ROOT, assemble, on_the_site, places, sections
from docs.site.reference import GENERATED, commands, keys, library, markdown, members, operators
from docs.site.reference.keys import Row

WRITTEN = keys.rows()
KEYS = keys.keys()


def test_every_document_is_in_the_table_of_contents_once() -> None:
    listed = [document for section in sections() for document in section.documents]
    assert len(listed) == len(set(listed))
    written = {*(ROOT / "docs").glob("*.md"), *ROOT.glob("*.md")}
    assert {*listed, ROOT / "README.md", ROOT / "docs/README.md"} == written


def test_the_site_has_a_page_for_every_document_and_for_every_part_of_the_reference(tmp_path: Path) -> None:
    assemble(tmp_path / "source")
    pages = {str(page.relative_to(tmp_path / "source")) for page in (tmp_path / "source").rglob("*.md")}
    assert pages == {
        *(f"{page}.md" for page in places().values()),
        *(f"{section.page}.md" for section in sections()),
        *(f"reference/{one.page}.md" for one in GENERATED),
    }
    contents = (tmp_path / "source/reference.md").read_text(encoding="utf-8")
    assert all(f"(reference/{one.page}.md)" in contents for one in GENERATED)


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("[the gate](docs/gate.md#keys)", "[the gate](gate.md#keys)"),
        ("[docs/gate.md](docs/gate.md)", "[The gate](gate.md)"),
        ("[what is allowed](SECURITY.md)", "[what is allowed](security.md)"),
        ("![a picture](docs/architecture.svg)", "![a picture](architecture.svg)"),
        ("[the DAG file](dags/publications.py)", "the DAG file"),
        ("[below](#here) and [away](https://example.org/a.md)", "[below](#here) and [away](https://example.org/a.md)"),
        ("```\n[x](docs/gate.md)\n```", "```\n[x](docs/gate.md)\n```"),
    ],
)
def test_links_lead_to_where_their_targets_are_on_the_site(written: str, shown: str) -> None:
    assert on_the_site(written, ROOT / "README.md", places()) == shown


def test_every_key_of_the_publication_file_has_its_row() -> None:
    sections_of_keys = {re.split(r"\.|\[\]\.", key.path)[0] for key in KEYS} | {
        key.path for key in KEYS if any(one.path.startswith(f"{key.path}.") for one in KEYS)
    }
    missing = [key.path for key in KEYS if keys.row_of(key, WRITTEN)[0] is None and key.path not in sections_of_keys]
    assert missing == []


def test_a_key_without_a_row_is_found() -> None:
    without = tuple(row for row in WRITTEN if "detect.approximate" not in row.paths)
    assert len(without) == len(WRITTEN) - 1
    assert [key.path for key in KEYS if key.path.startswith("detect.") and not keys.row_of(key, without)[0]] == [
        "detect.approximate"
    ]


def test_no_row_is_about_a_key_that_is_not_there() -> None:
    known = {key.path.replace("[]", "") for key in KEYS} | {"source.<key>", "portal.<key>", "privacy.<key>"}
    known |= {f"{path}.<name>" for path in known}
    assert [path for row in WRITTEN for path in row.paths if path not in known] == []


def test_a_default_in_the_document_is_that_of_the_code() -> None:
    differ = []
    for key in KEYS:
        row, own = keys.row_of(key, WRITTEN)
        told = row.default.strip("`") if row and own else ""
        if re.fullmatch(r"[\w.@-]+|\[.*\]", told) and told not in ("lowest", "on"):
            differ += [] if told == key.default.strip("`") else [(key.path, told, key.default)]
    assert differ == [("approval.timeout", "7d", "`null`")], "no timeout means seven days; all others are written out"


def test_the_page_of_keys_has_every_key_with_what_it_takes() -> None:
    page = keys.page()
    assert [key.path for key in KEYS if f"| `{key.path}` | {key.takes} |" not in page] == []
    assert "`privacy.k` | whole number, at least 2 | required |" in page
    assert "| `missing` | `category`, `drop`, `wildcard` | `category` | what a gap" in page


def test_a_row_may_be_about_several_keys() -> None:
    row = Row(paths=("a.b", "a.c"), default="", meaning="either `x` or `y`")
    assert keys.row_of(keys.Key(path="a.c", takes="", default=""), (row,)) == (row, True)
    assert keys.row_of(keys.Key(path="a.c[].x", takes="", default=""), (row,)) == (row, False)
    assert keys.row_of(keys.Key(path="a.c.z", takes="", default=""), (row,)) == (None, False)


def test_every_command_and_option_is_on_its_page() -> None:
    page = commands.page()
    called = {" ".join(path): (command, context) for path, command, context in commands.all_commands(anon)}
    assert {path.split()[1] for path in called if " " in path} == set(COMMANDS)
    for path, (command, context) in called.items():
        assert re.search(rf"^#+ {path}$", page, re.MULTILINE)
        options = [name for one in command.get_params(context) if isinstance(one, click.Option) for name in one.opts]
        body = re.split(rf"^#+ {path}$", page, flags=re.MULTILINE)[1].split("\n#")[0]
        assert [name for name in options if name not in body] == []


def test_every_command_is_in_the_overview() -> None:
    overview = (ROOT / "docs/commands.md").read_text(encoding="utf-8")
    assert [name for name in COMMANDS if not re.search(rf"^\| `anon {name}\b", overview, re.MULTILINE)] == []


def test_every_model_is_on_its_page_with_its_fields() -> None:
    page = members.models_page()
    for key, model in MODELS.members().items():
        body = page.split(f"\n## {key}\n")[1].split("\n## ")[0]
        assert model.__doc__.strip().split(" ")[0].strip("`") in body
        assert f"| `{model.__module__}.{model.__name__}` |" in body
        assert [one.name for one in fields(model) if one.name != "columns" and f"| `{one.name}` |" not in body] == []


def test_every_member_of_the_other_seams_is_on_their_page() -> None:
    page = members.others_page()
    for registry in (METHODS, SOURCES, ENGINES, PORTALS):
        assert [key for key in registry.members() if f"\n### {key}\n" not in page] == []


def test_every_name_of_the_library_is_on_its_page() -> None:
    page = library.page()
    assert [name for name in ac.__all__ if f"\n### {name}\n" not in page] == []


def test_every_operator_is_on_its_page() -> None:
    page = operators.page()
    files = {path.stem for path in (ROOT / "plugins/anon_airflow/operators").glob("*.py")}
    verbs = files - {"__init__", "dag_docs", "publication"}
    assert {one.__name__ for one in operators.operators()} >= {f"{verb.capitalize()}Operator" for verb in verbs}
    assert [one.__name__ for one in operators.operators() if f"\n### {one.__name__}\n" not in page] == []


def test_in_a_text_of_the_code_only_backticks_have_a_meaning() -> None:
    assert markdown.plain("`a_b*` < *c* [d] ``e`f``") == r"`a_b*` &lt; \*c\* \[d\] ``e`f``"
    assert markdown.table(["x"], [["`a|b`"]]) == "| x |\n| --- |\n| `a\\|b` |\n"


def test_a_signature_has_its_types_and_kinds_of_arguments() -> None:
    def verb(source: str, /, *models: int, k: int | None = None, **rest: str) -> list[str]: ...

    shown = "verb(source: str, /, *models: int, k: int | None = None, **rest: str) -> list[str]"
    assert markdown.signature("verb", verb) == f"```python\n{shown}\n```"


@pytest.mark.parametrize(
    "page",
    [
        '<script src="https://cdn.example.org/x.js"></script>',
        '<link rel="stylesheet" href="//fonts.example.org/css">',
        '<img alt="" src="http://example.org/a.png">',
        '<style>@import "https://example.org/a.css"</style>',
        "<style>a { background: url(https://example.org/a.png) }</style>",
    ],
)
def test_a_page_that_loads_something_from_outside_is_found(page: str, tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text(page)
    assert len(loaded_from_outside(tmp_path)) == 1


def test_a_link_to_elsewhere_loads_nothing(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text('<a href="https://example.org">x</a><script src="_static/x.js"></script>')
    assert loaded_from_outside(tmp_path) == []
