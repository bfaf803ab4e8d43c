"""The pages of the folder portal: HTML from manifests and public reports; the same input gives the same bytes."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import quote

from jinja2 import ChainableUndefined, Environment, FileSystemLoader
from markupsafe import Markup, escape

from anon_airflow.portals import words
from anon_airflow.portals.folder.preview import Preview
from anon_airflow.portals.folder.shelf import Shelf
from anon_airflow.portals.manifest import Manifest, metadata_of
from anon_airflow.portals.tombstone import Tombstone
from anon_airflow.portals.vocabulary import LICENCES
from anon_airflow.portals.words import figure, percent
from anon_core.models.measurement import counts_as_check
from anon_core.report.meant_k import meant_k
from anon_core.spec.columns import AS_COLLECTED

TEMPLATES = Path(__file__).parent / "templates"
Report = Mapping[str, Any]
WIDTH = 300
"""Width of a picture: that of a phone; on a wide screen pictures are shown side by side."""
MAX_VERSIONS = 12
_LETTER = 6.6
"""The approximate width of a letter in a picture."""


def index_page(datasets: Sequence[tuple[Sequence[Manifest], Report]], gone: Sequence[Shelf]) -> str:
    """Return the front page: every dataset with its newest version, and the datasets without any version left."""
    ordered = sorted(datasets, key=lambda one: (one[0][0]["title"].casefold(), one[0][0]["dataset"]))
    entries = [
        {"manifest": manifests[0], "versions": len(manifests), "searched": _searched(manifests[0], report)}
        for manifests, report in ordered
    ]
    publishers = {metadata_of(manifests[0]).get("publisher") for manifests, _ in datasets}
    publisher = publishers.pop() if len(publishers) == 1 else None
    return _rendered("index.html", entries=entries, publisher=publisher, gone=gone, scripts=["search.js"])


def _searched(manifest: Manifest, report: Report) -> str:
    """Return the text for the search: the description of a dataset and of its columns."""
    metadata = metadata_of(manifest)
    texts = [
        manifest["title"],
        manifest["dataset"],
        *(metadata.get(key) for key in ("description", "publisher", "theme")),
    ]
    texts += metadata.get("keywords") or ()
    for column in _columns(report):
        texts += [column.get("name"), column.get("description")]
    return " ".join(str(one) for one in texts if one)


def dataset_page(
    versions: Sequence[tuple[Manifest, Report]],
    tombstones: Sequence[Tombstone],
    notes: Mapping[str, Sequence[str]],
    preview: Preview | None,
) -> str:
    """Return the page of a dataset: its newest version with the report, and the earlier versions, newest first."""
    newest, report = versions[0]
    columns = _columns(report)
    privacy = _mapping(report.get("privacy"))
    quasi = [each for each in columns if each.get("role") == "quasi"]
    checks = merged_checks(privacy.get("checks") or ())
    charts = [group_chart(versions), detail_chart(columns), rows_chart([manifest for manifest, _ in versions])]
    return _rendered(
        "dataset.html",
        manifest=newest,
        metadata=metadata_of(newest),
        report=report,
        history=[{"manifest": manifest, "changes": notes.get(manifest["version"], ())} for manifest, _ in versions],
        tombstones=tombstones,
        checks=checks,
        meant=least_k(report),
        noun=noun_of(report),
        quasi_identifiers=quasi,
        coarsened=_coarsened(columns),
        without_diversity=_without_diversity(columns, checks),
        preview=preview,
        starred=preview is not None and _starred(preview, columns),
        charts=[chart for chart in charts if chart],
    )


def noun_of(report: Report) -> str:
    """Return what the checks of a release count: people or rows."""
    return "people" if _mapping(report.get("people")).get("counted") == "people" else "rows"


def least_k(report: Report) -> dict[str, int]:
    """
    Return each k that the rule means, as a reader may rely on it: as counted in the rows, or at least as required.

    k can be neither waived nor accepted, so the requirement holds. A table without quasi-identifiers has no classes.
    """
    privacy = _mapping(report.get("privacy"))
    meant = meant_k(str(privacy.get("k_means")), privacy.get("k_required"), _mapping(privacy.get("k")))
    grouped = any(each.get("role") == "quasi" for each in _columns(report))
    found = {one.kind: one.required if one.measured is None and grouped else one.measured for one in meant}
    return {kind: k for kind, k in found.items() if isinstance(k, int)}


def _coarsened(columns: Iterable[Mapping[str, Any]]) -> list[str]:
    """Return the columns that `coarsen` made coarser in every row before recoding."""
    levels = {str(each.get("name")): each.get("levels") for each in columns if each.get("role") != "quasi"}
    return [name for name, found in levels.items() if found and found[0].get("name") not in (AS_COLLECTED, None)]


def _without_diversity(columns: Iterable[Mapping[str, Any]], checks: Iterable[Mapping[str, Any]]) -> list[str]:
    """Return the sensitive columns without a check that passed: all people of a group may share one value of them."""
    about = [str(check["name"]).partition("(")[2] for check in checks if check["passed"]]
    names = [str(each.get("name")) for each in columns if each.get("role") == "sensitive"]
    return [name for name in names if not any(one.startswith((f"{name},", f"{name})")) for one in about)]


def _starred(preview: Preview, columns: Iterable[Mapping[str, Any]]) -> bool:
    """Whether the first rows have cells that were suppressed; a column as collected may have stars of its own."""
    suppressed = {
        column.get("name")
        for column in columns
        if any(level.get("name") == "suppressed" and level.get("rows") for level in column.get("levels") or ())
    }
    return any(
        cell == "*" and name in suppressed
        for row in preview.rows
        for name, cell in zip(preview.names, row, strict=True)
    )


def empty_dataset_page(dataset: str, tombstones: Sequence[Tombstone]) -> str:
    """Return the page of a dataset without any version left."""
    title = tombstones[0]["title"] if tombstones else dataset
    return _rendered("tombstone.html", title=title, tombstones=tombstones, index="../index.html", page=None)


def tombstone_page(tombstone: Tombstone) -> str:
    """Return the page in the place of a version that was taken off."""
    index = "../../../index.html"
    return _rendered(
        "tombstone.html", title=tombstone["title"], tombstones=[tombstone], index=index, page="../../index.html"
    )


def _columns(report: Report) -> Sequence[Mapping[str, Any]]:
    return (report.get("recoding") or {}).get("columns") or ()


def _rendered(template: str, *, scripts: Sequence[str] = (), **context: Any) -> str:
    """
    Fill in a template.

    The page forbids all content from elsewhere: whatever text a publication file contains, only our own script runs,
    which the page names by its digest, and nothing else is loaded.
    """
    content = [(TEMPLATES / name).read_text(encoding="utf-8") for name in scripts]
    digests = [base64.b64encode(hashlib.sha256(one.encode()).digest()).decode() for one in content]
    allowed = " ".join(f"'sha256-{digest}'" for digest in digests) or "'none'"
    policy = (
        f"default-src 'none'; script-src {allowed}; style-src 'unsafe-inline'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )
    return _environment().get_template(template).render(context, policy=policy, scripts=content)


def _mapping(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=ChainableUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    filters: dict[str, Callable[..., Any]] = {
        "address": words.address,
        "check": words.check,
        "day": words.day,
        "email": lambda text: text if words.is_email(text) else "",
        "figure": words.figure,
        "format": words.file_format,
        "language": lambda text: text if re.fullmatch(r"[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8})*", str(text)) else "en",
        "licence": lambda text: LICENCES.get(str(text), (str(text), "")),
        "moment": words.moment,
        "path": lambda text: quote(str(text), safe=""),
        "percent": words.percent,
        "phrase": words.phrase,
        "rounded": words.rounded,
        "size": words.size,
    }
    environment.filters |= filters
    return environment


def merged_checks(checks: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the checks in their order; a check with the same sentence for several files only once."""
    merged: dict[tuple[str, ...], dict[str, Any]] = {}
    for each in checks:
        sentence = (
            each.get("message")
            or f"measured {words.figure(each.get('observed'))}, required {words.figure(each.get('required'))}"
        )
        found: dict[str, Any] = {
            "name": each.get("name"),
            "said": sentence,
            "passed": each.get("passed") is True,
            "counted": counts_as_check(passed=each.get("passed") is True, required=each.get("required", "")),
            "waived_by": each.get("waived_by"),
            "files": [],
        }
        entry = merged.setdefault(
            (str(each.get("name")), str(sentence), f"{found['passed']} {found['waived_by']}"), found
        )
        if (file := each.get("distribution")) and file != "all":
            entry["files"].append(file)
    return list(merged.values())


def rows_chart(versions: Sequence[Mapping[str, Any]]) -> Markup:
    """Draw the rows of each version, oldest first; nothing for a single version."""
    shown = [one for one in reversed(versions[:MAX_VERSIONS]) if isinstance(_rows_of(one), int)]
    if len(shown) < 2:
        return Markup("")
    bars = [(_label(one), _rows_of(one), figure(_rows_of(one))) for one in shown]
    return _bar_chart("Rows in each version", bars, None)


def group_chart(versions: Sequence[tuple[Mapping[str, Any], Mapping[str, Any]]]) -> Markup:
    """Draw the k of each version, by the newest rule (if it means two k's, the smaller one), and the required k."""
    newest = _privacy(versions[0][1])
    rule, means = newest.get("k_required"), str(newest.get("k_means"))
    noun = noun_of(versions[0][1])
    bars = []
    for manifest, report in reversed(versions[:MAX_VERSIONS]):
        same = str(_privacy(report).get("k_means")) == means and noun_of(report) == noun
        if same and (found := least_k(report)):
            bars.append((_label(manifest), min(found.values()), figure(min(found.values()))))
    if not bars:
        return Markup("")
    title = (
        f"{noun.capitalize()} in the smallest group, at least"
        if len(meant_k(means, None)) == 1
        else "Rows or people that may be meant, at least"
    )
    return _bar_chart(title, bars, rule if isinstance(rule, int) else None)


def _privacy(report: Mapping[str, Any]) -> Mapping[str, Any]:
    return report.get("privacy") or {}


def detail_chart(columns: Sequence[Mapping[str, Any]]) -> Markup:
    """Draw for each quasi-identifier how many rows have it as collected, and how many coarser."""
    bars = []
    for column in columns:
        levels = [level for level in column.get("levels") or () if isinstance(level.get("rows"), int)]
        total = sum(level["rows"] for level in levels)
        if column.get("role") == "quasi" and total:
            exact = sum(level["rows"] for level in levels if level.get("level") == 0)
            bars.append((str(column.get("name")), exact / total, percent(exact / total)))
    if not bars:
        return Markup("")
    return _bar_chart("Rows with full detail, by column", bars, None, most=1.0)


def _bar_chart(
    title: str, bars: Sequence[tuple[str, float, str]], rule: int | None, *, most: float | None = None
) -> Markup:
    """Draw horizontal bars, one below the other, so that long labels fit on a phone too."""
    top = most or max([value for _, value, _ in bars] + ([rule] if rule else [])) or 1
    height = 34 * len(bars) + (26 if rule else 6)
    room = WIDTH - 2 - max(len(shown) for _, _, shown in bars) * _LETTER - 8
    described = f"{title}. {'; '.join(f'{label}: {shown}' for label, _, shown in bars)}."
    described += f" The rule requires at least {figure(rule)}." if rule else ""
    parts = [
        Markup('<figure class="chart"><figcaption>{}</figcaption>').format(title),
        Markup('<svg viewBox="0 0 {} {}" role="img" aria-label="{}">').format(WIDTH, height, described),
    ]
    for at, (label, value, shown) in enumerate(bars):
        y, length = 34 * at, max(1.5, room * value / top) if value else 0
        parts.append(Markup('<text x="0" y="{}">{}</text>').format(y + 12, _short(label)))
        parts.append(_rectangle("rest", room, y)) if most else None
        parts.append(_rectangle("value", length, y))
        x = (room if most else length) + 6
        parts.append(Markup('<text class="said" x="{:.1f}" y="{}">{}</text>').format(x, y + 28, shown))
    if rule:
        x, end = room * rule / top, 34 * len(bars)
        parts.append(Markup('<line x1="{0:.1f}" x2="{0:.1f}" y1="14" y2="{1}"/>').format(x, end))
        anchor, shift = ("end", -2) if x > WIDTH / 2 else ("start", 2)
        place = Markup('<text class="rule" x="{:.1f}" y="{}" text-anchor="{}">{}</text>')
        parts.append(place.format(x + shift, end + 14, anchor, f"the rule: at least {figure(rule)}"))
    return Markup("").join([*(part for part in parts if part), Markup("</svg></figure>")])


def _rectangle(kind: str, length: float, y: int) -> Markup:
    return Markup('<rect class="{}" x="0" y="{}" width="{:.1f}" height="12" rx="2"/>').format(kind, y + 17, length)


def _rows_of(manifest: Mapping[str, Any]) -> Any:
    return (manifest.get("distributions") or [{}])[0].get("rows")


def _label(manifest: Mapping[str, Any]) -> str:
    return str(manifest["period"] or manifest["version"])


def _short(text: str) -> Markup:
    return escape(text if len(text) <= 40 else f"{text[:39]}…")
