"""Text of the code as Markdown: help texts, docstrings, signatures, tables."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable, Sequence

_ROLE = re.compile(r":(?:\w+:)?\w+:`~?([^`<]+)`")


def plain(text: str) -> str:
    """Return a text in which only backticks have a meaning."""
    parts = re.split(r"(`+[^`]+`+)", " ".join(text.split()))
    return "".join(
        part if at % 2 else re.sub(r"([\\*_\[\]{}|$#~])", r"\\\1", part).replace("<", "&lt;")
        for at, part in enumerate(parts)
    )


def code(text: str) -> str:
    """Return a text as code."""
    return f"``{text}``" if "`" in text else f"`{text}`"


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table; cells are Markdown."""
    lines = [head, ["---"] * len(head), *rows]
    return "".join("| " + " | ".join(re.sub(r"(?<!\\)\|", r"\\|", cell) for cell in line) + " |\n" for line in lines)


def docstring(text: str | None) -> str:
    """Return a docstring as Markdown: paragraphs, examples, and what is raised as a list."""
    blocks = re.split(r"\n\s*\n", inspect.cleandoc(text or ""))
    return "\n\n".join(map(_block, blocks))


def _block(block: str) -> str:
    if block.startswith(">>>"):
        return f"```pycon\n{block}\n```"
    block = _ROLE.sub(lambda role: f"`{role[1].rpartition('.')[2]}`", block)
    fields = re.split(r"^:(raises|param|returns?) ?([\w.]*): ", block, flags=re.MULTILINE)
    text = plain(fields[0].replace("``", "`"))
    for kind, name, what in zip(fields[1::3], fields[2::3], fields[3::3], strict=True):
        said = plain(what.replace("``", "`"))
        text += f"\n- {'raises ' if kind == 'raises' else ''}`{name}`: {said}" if name else f"\n- {kind} {said}"
    return text


def signature(name: str, thing: object) -> str:
    """Return how something is called, with types, one argument per line where it is long."""
    found = inspect.signature(thing)  # type: ignore[arg-type]
    arguments = _arguments(found)
    end = "" if found.return_annotation is inspect.Signature.empty else f" -> {_type(found.return_annotation)}"
    written = f"{name}({', '.join(arguments)}){end}"
    if len(written) > 90:
        inside = "".join(f"    {one},\n" for one in arguments)
        written = f"{name}(\n{inside}){end}"
    return f"```python\n{written}\n```"


def _arguments(found: inspect.Signature) -> list[str]:
    shown: list[str] = []
    before: inspect.Parameter | None = None
    for one in found.parameters.values():
        if before is not None and before.kind is one.POSITIONAL_ONLY and one.kind is not one.POSITIONAL_ONLY:
            shown.append("/")
        starred = before is not None and before.kind in (one.VAR_POSITIONAL, one.KEYWORD_ONLY)
        if one.kind is one.KEYWORD_ONLY and not starred:
            shown.append("*")
        shown.append(_argument(one))
        before = one
    return shown


def _argument(one: inspect.Parameter) -> str:
    stars = {one.VAR_POSITIONAL: "*", one.VAR_KEYWORD: "**"}.get(one.kind, "")
    typed = "" if one.annotation is one.empty else f": {_type(one.annotation)}"
    equals = " = " if typed else "="
    return f"{stars}{one.name}{typed}" + ("" if one.default is one.empty else f"{equals}{one.default!r}")


def _type(annotation: object) -> str:
    return annotation.strip("'") if isinstance(annotation, str) else getattr(annotation, "__name__", str(annotation))
