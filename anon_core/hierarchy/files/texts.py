"""The text of a file that people wrote, or in one sentence why there is none."""

from __future__ import annotations

import re
from pathlib import Path

from anon_core.errors import HierarchyError
from anon_core.files.regular import FileTooLargeError, NotRegularError, read_whole
from anon_core.limits import HIERARCHY_FILE

LINE_END = re.compile(r"\r\n|\r|\n")


def text_in(path: Path, what: str) -> str:
    """
    Return the text of a file, with its line ends as they stand: inside quotes a line break is part of a value.

    ``what`` says what the file should be, such as "hierarchy file".

    :raises HierarchyError: the file cannot be read as UTF-8 text, is no regular file, or larger than allowed.
    """
    content = b""
    try:
        content = read_whole(path, HIERARCHY_FILE)
        return content.decode("utf-8-sig")
    except NotRegularError as error:
        problem = f"is {error.kind}; name a file"
    except FileTooLargeError as error:
        problem = f"{error.what}; {error.advice}"
    except FileNotFoundError:
        problem = (
            f"no such {what}; check the path (from where a publication file's paths start: docs/publication-file.md)"
        )
    except PermissionError:
        problem = "may not be read by this user"
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        problem = f"line {line} cannot be read as UTF-8 text; save it as UTF-8"
    except (OSError, ValueError):
        problem = "cannot be read"
    raise HierarchyError(str(path), [problem])


def zeros_in(text: str) -> list[str]:
    """Return by line where a text holds the character zero: no label has it, but what is no text does."""
    if "\0" not in text:
        return []
    lines = enumerate(LINE_END.split(text), 1)
    return [
        f"line {number} has a zero byte (NUL); save the file as UTF-8 text" for number, line in lines if "\0" in line
    ]
