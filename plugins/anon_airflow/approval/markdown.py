"""Escape texts of a publication file, so that Airflow shows them as written and not as Markdown or HTML."""

from __future__ import annotations

import re

from anon_core.wording import printable

_SIGNS = frozenset("\\`*_[]<>#|!~&")
_AT_START = re.compile(r"^([-+=]|[0-9]+[.)])")


def plain(text: str) -> str:
    """
    Return a text on one line, with everything escaped that Markdown would turn into a link, heading, list or element.

    >>> plain("<b>[a](javascript:b)</b>\\n# c"), plain("- d"), plain("2. e")
    ('\\\\<b\\\\>\\\\[a\\\\](javascript:b)\\\\</b\\\\> \\\\# c', '\\\\- d', '2\\\\. e')
    """
    line = printable(" ".join(str(text).split()))
    escaped = "".join(f"\\{sign}" if sign in _SIGNS else sign for sign in line)
    return _AT_START.sub(lambda found: f"{found[0][:-1]}\\{found[0][-1]}", escaped)


def code(text: str) -> str:
    """
    Return a name as code, for a line or a cell of a table; a character that would end either is replaced.

    >>> code("a`b|c")
    "`a'b/c`"
    """
    line = printable(" ".join(str(text).split()))
    return "`" + line.replace("`", "'").replace("|", "/") + "`"


def fenced(text: str) -> str:
    """Return a text as a block of code. The fence is longer than any row of backticks in the text."""
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return "\n".join([fence, *map(printable, text.split("\n")), fence])
