"""What the documents name is there: links, headings, paths, modules, targets of make, commands; the map is complete."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from anon_airflow.cli import COMMANDS

ROOT = Path(__file__).resolve().parents[2]
DOCUMENTS = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").glob("**/*.md"), *(ROOT / ".github").glob("**/*.md")])
READ_BY_HAND = [path for path in DOCUMENTS if path.name != "CHANGELOG.md"]
"""The changelog names what was there when it was written."""
PACKAGES = {"anon_core": ROOT / "anon_core", "anon_airflow": ROOT / "plugins/anon_airflow"}
TOP = ("anon_core/", "plugins/", "tests/", "docs/", "dags/", "benchmarks/", ".ci/", ".github/")
"""How paths in the repository begin; what lies below `include/` may be made by a run."""
ARCHITECTURE = (ROOT / "docs/architecture.md").read_text(encoding="utf-8")


def prose(document: Path) -> str:
    """A document without its blocks of code."""
    return re.sub(r"^```.*?^```", "", document.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)


def quoted(document: Path) -> list[str]:
    """What stands between backticks in the prose, and each line of the sessions."""
    sessions = re.findall(r"^```console\n(.*?)^```", document.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
    lines = [line.removeprefix("$ ") for text in sessions for line in text.splitlines() if line.startswith("$ ")]
    return [*re.findall(r"`([^`\n]+)`", prose(document)), *lines]


def anchors(document: Path) -> set[str]:
    """The anchors that GitHub makes of the headings."""
    headings = re.findall(r"^#+ (.+)$", prose(document), re.MULTILINE)
    bare = (re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).lower() for heading in headings)
    return {re.sub(r"[^\w\- ]", "", heading).strip().replace(" ", "-") for heading in bare}


def names(document: Path) -> str:
    return str(document.relative_to(ROOT))


@pytest.mark.parametrize("document", DOCUMENTS, ids=names)
def test_every_link_leads_to_a_file_and_a_heading(document: Path) -> None:
    wrong = []
    for link in re.findall(r"\]\(([^)\s]+)\)", prose(document)):
        path, _, anchor = link.partition("#")
        if re.match(r"[a-z]+:", link):
            continue
        target = (document.parent / path) if path else document
        if not target.exists() or (anchor and target.suffix == ".md" and anchor not in anchors(target)):
            wrong.append(link)
    assert wrong == []


def paths_in(texts: list[str]) -> Iterator[str]:
    """Paths in the repository; words in capitals stand for a name that the reader chooses."""
    for text in texts:
        for word in re.findall(r"[\w./*-]+", text):
            if (
                word.startswith(TOP)
                and "__pycache__" not in word
                and not re.search(r"(^|[/_])[A-Z]{3,}(?=[_./]|$)", word.replace("README", ""))
            ):
                yield word.rstrip(".")


@pytest.mark.parametrize("document", READ_BY_HAND, ids=names)
def test_every_path_exists(document: Path) -> None:
    assert [path for path in paths_in(quoted(document)) if not list(ROOT.glob(path))] == []


@pytest.mark.parametrize("document", READ_BY_HAND, ids=names)
def test_every_module_exists(document: Path) -> None:
    """Also where its path starts from its package: `run/lease.py`."""
    wrong = []
    for text in quoted(document):
        if re.fullmatch(r"[a-z_]+(/[a-z_]+)+\.py", text) and not text.startswith(TOP):
            wrong += [] if any((one / text).exists() for one in PACKAGES.values()) else [text]
        if re.fullmatch(r"(anon_core|anon_airflow)(\.\w+)+", text) and not is_module_or_name(text):
            wrong.append(text)
    assert wrong == []


def is_module_or_name(dotted: str) -> bool:
    first, *rest = dotted.split(".")
    place, at = PACKAGES[first], 0
    while at < len(rest) and (place / rest[at]).is_dir():
        place, at = place / rest[at], at + 1
    if at < len(rest) and (place / f"{rest[at]}.py").exists():
        place, at = place / f"{rest[at]}.py", at + 1
    if at == len(rest):
        return True
    text = (place if place.suffix else place / "__init__.py").read_text(encoding="utf-8")
    return re.search(rf"\b{rest[at]}\b", text) is not None


@pytest.mark.parametrize("document", READ_BY_HAND, ids=names)
def test_every_target_of_make_exists(document: Path) -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    used = {word for text in quoted(document) for word in re.findall(r"(?:^|&& )make ([a-z-]+)", text)}
    assert used - targets == set()


@pytest.mark.parametrize("document", READ_BY_HAND, ids=names)
def test_every_command_exists(document: Path) -> None:
    used = {word for text in quoted(document) for word in re.findall(r"^(?:\.venv/bin/)?anon ([a-z]+)\b", text)}
    assert used - set(COMMANDS) == set()


def test_every_package_and_module_of_the_tree_is_on_the_map() -> None:
    told = set(re.findall(r"`((?:anon_core|anon_airflow)\.\w+)`", ARCHITECTURE[ARCHITECTURE.index("## The map") :]))
    there = {
        f"{package}.{path.stem}"
        for package, folder in PACKAGES.items()
        for path in folder.iterdir()
        if path.stem != "__init__" and (path.suffix == ".py" or (path / "__init__.py").exists())
    }
    assert told == there


def test_who_may_import_whom_is_what_the_contract_says() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    (layers,) = [one["layers"] for one in project["tool"]["importlinter"]["contracts"] if one["type"] == "layers"]
    (block,) = re.findall(r"```text\n(.*?)```", ARCHITECTURE, re.DOTALL)
    told = [line.split() for line in block.splitlines()]
    assert told == [[name.strip().removeprefix("anon_core.") for name in layer.split(":")] for layer in layers]


def test_the_picture_has_every_step_and_the_folders_of_a_run() -> None:
    picture = (ROOT / "docs/architecture.svg").read_text(encoding="utf-8")
    titles = {name for text in re.findall(r'class="title"[^>]*>([^<]+)<', picture) for name in text.split(", ")}
    operators = {path.stem for path in (PACKAGES["anon_airflow"] / "operators").glob("*.py")}
    assert titles >= operators - {"__init__", "dag_docs", "publication"}
    assert titles >= {"staging", "gated", "runs", "audit store", "portal", "publication file"}


def test_pre_commit_runs_what_make_check_runs() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    recipe = re.search(r"^check:.*\n((?:\t.*\n)+)", makefile, re.MULTILINE)
    assert recipe
    checked = set(re.findall(r"\$\(BIN\)/((?:ruff )?[a-z-]+)", recipe[1])) - {"uv"}
    (local,) = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text(encoding="utf-8"))["repos"]
    assert local["repo"] == "local", "nothing is downloaded"
    hooks = {re.sub(r" --.*", "", hook["entry"].removeprefix(".venv/bin/")) for hook in local["hooks"]}
    assert hooks == checked


@pytest.mark.parametrize("form", sorted((ROOT / ".github/ISSUE_TEMPLATE").glob("*_*.yml")), ids=lambda path: path.stem)
def test_every_form_of_an_issue_asks_for_no_data(form: Path) -> None:
    text = form.read_text(encoding="utf-8")
    assert {"name", "description", "body"} <= set(yaml.safe_load(text))
    assert "never by its rows" in text or "Never paste data" in text
