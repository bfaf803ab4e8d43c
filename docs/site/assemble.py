"""The sources of the site: the documents of the repository by their sections, and the pages that code writes.

``docs/README.md`` says which page stands where, on the site as on a git forge. Documents keep their links: those to
other documents lead to their pages and have their names, those to other files of the repository become plain text.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path

from docs.site.reference import GENERATED

ROOT = Path(__file__).resolve().parents[2]
CONTENTS = ROOT / "docs/README.md"
FRONT = ROOT / "README.md"
_LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^)\s]+)\)")
_CODE = re.compile(r"^```.*?^```$", re.DOTALL | re.MULTILINE)
REFERENCE = "Reference"
"""The section of the table of contents that the generated pages stand in."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """One section of the table of contents: its heading, its text, and the documents that it lists."""

    title: str
    text: str
    documents: dict[Path, str]
    """Each document with the name that the table of contents gives it."""

    @property
    def page(self) -> str:
        """The name of its page, without an ending."""
        return re.sub(r"[^a-z0-9]+", "-", self.title.lower()).strip("-")


def sections() -> tuple[Section, ...]:
    """Return the sections of ``docs/README.md``, in its order."""
    parts = re.split(r"^## (.+)$", CONTENTS.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]
    return tuple(
        Section(title=title, text=text.strip(), documents=_listed(text))
        for title, text in zip(parts[::2], parts[1::2], strict=True)
    )


def _listed(text: str) -> dict[Path, str]:
    found = re.findall(r"^- \[([^\]]+)\]\(([^)#\s]+\.md)\)", text, re.MULTILINE)
    return {Path(os.path.normpath(CONTENTS.parent / target)): name for name, target in found}


def _names() -> dict[Path, str]:
    return {document: name for section in sections() for document, name in section.documents.items()}


def places() -> dict[Path, str]:
    """Return every document that has a page, and the page's name."""
    listed = [document for section in sections() for document in section.documents]
    return {FRONT: "index", CONTENTS: "index"} | {document: document.stem.lower() for document in listed}


def assemble(folder: Path) -> None:
    """Write the sources of the site into a new folder."""
    folder.mkdir(parents=True)
    pages = places()
    for document, page in pages.items():
        if document not in (FRONT, CONTENTS):
            _write(folder, page, on_the_site(document.read_text(encoding="utf-8"), document, pages))
    found = sections()
    front = on_the_site(FRONT.read_text(encoding="utf-8"), FRONT, pages)
    _write(folder, "index", front + _hidden([section.page for section in found]))
    for section in found:
        text = f"# {section.title}\n\n{on_the_site(section.text, CONTENTS, pages)}\n"
        children = [f"{name} <{pages[document]}>" for document, name in section.documents.items()]
        if section.title == REFERENCE:
            text += "\nMade from the code when this site was built:\n\n"
            text += "".join(f"- [{one.title}](reference/{one.page}.md): {one.summary}\n" for one in GENERATED)
            children += [f"reference/{one.page}" for one in GENERATED]
        _write(folder, section.page, text + _hidden(children))
    for one in GENERATED:
        _write(folder, f"reference/{one.page}", f"# {one.title}\n\n{_named(one.text())}")
    for file in (ROOT / "docs").iterdir():
        if file.suffix in (".png", ".svg", ".json"):
            (folder / file.name).write_bytes(file.read_bytes())


def on_the_site(text: str, document: Path, pages: dict[Path, str]) -> str:
    """Return a document with links to where its targets are on the site."""

    names = _names()

    def moved(link: re.Match[str]) -> str:
        picture, shown, target = link.groups()
        path, _, anchor = target.partition("#")
        if re.match(r"[a-z]+:", target) or not path:
            return link[0]
        file = Path(os.path.normpath(document.parent / path))
        if file in pages:
            if re.fullmatch(r"`?[\w./-]+\.md`?", shown):
                shown = names.get(file, shown)
            return f"{picture}[{shown}]({pages[file]}.md{'#' + anchor if anchor else ''})"
        if file.parent == ROOT / "docs" and file.is_file():
            return f"{picture}[{shown}]({file.name})"
        return shown  # A file of the repository that is not part of the site.

    at, parts = 0, []
    for block in _CODE.finditer(text):
        parts += [_LINK.sub(moved, text[at : block.start()]), block[0]]
        at = block.end()
    return "".join([*parts, _LINK.sub(moved, text[at:])])


def _named(text: str) -> str:
    """Return a generated page in which a link to a document has its name."""
    names = {document.stem.lower(): name for document, name in _names().items()}
    return re.sub(r"\[[\w-]+\.md\](?=\(\.\./([\w-]+)\.md)", lambda link: f"[{names.get(link[1], link[1])}]", text)


def _hidden(pages: list[str]) -> str:
    return "\n\n```{toctree}\n:hidden:\n\n" + "\n".join(pages) + "\n```\n"


def _write(folder: Path, page: str, text: str) -> None:
    file = folder / f"{page}.md"
    file.parent.mkdir(exist_ok=True)
    file.write_text(text, encoding="utf-8")
