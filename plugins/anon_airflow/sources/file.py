"""The source that is a file, or all files that a pattern matches: CSV, also compressed, or Parquet."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from pydantic import AfterValidator, BeforeValidator, ValidationInfo

from anon_core.errors import InvalidInputError, TableError
from anon_core.limits import missing_words_problem
from anon_core.publishing.source import Source
from anon_core.settings import Text, quoted
from anon_core.spec.member_sections import SourceSettings
from anon_core.spec.paths import FilePath, path_problem
from anon_core.spec.private_folders import PrivateFolder, real_path
from anon_core.spec.templates import is_template, static_part, template_problem

if TYPE_CHECKING:
    from anon_core.table import Table

_MAX_FILES = 1_000
"""At most so many files of a pattern are checked for links."""


def _template(value: str) -> str:
    if problem := template_problem(value):
        raise ValueError(problem)
    return value


def _delimiter(value: str) -> str:
    if value != "auto" and (len(value) != 1 or value in '"\r\n'):
        raise ValueError(f'should be `auto` or exactly one character, such as ";" or "\\t", not {quoted(value)}')
    return value


def _encoding(value: str) -> str:
    try:
        "".encode(value)  # Unlike `codecs.lookup` this also rejects codecs that do not encode text, such as base64.
    except (LookupError, ValueError):
        raise ValueError(
            f"should be an encoding that Python knows, such as utf-8 or cp1252, not {quoted(value)}"
        ) from None
    return value


def _missing_words(words: tuple[str, ...]) -> tuple[str, ...]:
    if problem := missing_words_problem(words):
        raise ValueError(problem)
    return words


def _not_built(value: Any, info: ValidationInfo) -> None:
    if value not in (None, False, [], {}):
        raise ValueError(f"`source.{info.field_name}` is not supported yet; use `source.file`")


NotBuilt = Annotated[None, BeforeValidator(_not_built)]


class FileSettings(SourceSettings):
    """Which file, and how it is read. Tables and queries of a connection are not supported yet."""

    file: Annotated[FilePath, AfterValidator(_template)]
    connection: NotBuilt = None
    table: NotBuilt = None
    query: NotBuilt = None
    delimiter: Annotated[Text, AfterValidator(_delimiter)] = "auto"
    encoding: Annotated[Text, AfterValidator(_encoding)] = "utf-8"
    missing_words: Annotated[tuple[Text, ...], AfterValidator(_missing_words)] = ("",)

    @property
    def template(self) -> str:
        """The path, filled in for each period."""
        return self.file

    @property
    def reading(self) -> Mapping[str, Any]:
        """How the file is read, as arguments of ``ReadOptions``."""
        return {"delimiter": self.delimiter, "encoding": self.encoding, "missing_words": tuple(self.missing_words)}

    @classmethod
    def private_folders(cls, root: Path, text: str, *, look: bool = False) -> Iterator[PrivateFolder]:
        """Yield the folders of the files; if the source is a folder, or a pattern of folders, all of it is private."""
        what = "the folder of the source"
        full = os.path.join(root, static_part(text))  # noqa: PTH118 - Its end is kept: `in/` is a folder itself.
        path = Path(full)
        if is_template(text):
            folder = _start_of_pattern(full) if glob.has_magic(full) else Path(os.path.dirname(full))  # noqa: PTH120
            yield PrivateFolder(what=what, folder=folder)
        elif glob.has_magic(full) and not os.path.lexists(full):
            # `in/*.csv` matches files beside a portal in the same folder, `in/*/*.csv` also files inside the portal.
            deep = glob.has_magic(str(path.parent))
            yield PrivateFolder(
                what="the folder that the pattern of the source starts at", folder=_start_of_pattern(full), whole=deep
            )
            matched = sorted(glob.glob(full))[:_MAX_FILES] if look else []  # noqa: PTH207 - The pattern may be absolute.
            for folder in {folder for file in matched for folder in (Path(file).parent, real_path(Path(file)).parent)}:
                yield PrivateFolder(what=what, folder=folder)
        elif path.is_dir():
            yield PrivateFolder(what=what, folder=path, whole=True)
        else:
            for folder in {path.parent, real_path(path).parent}:
                yield PrivateFolder(what=what, folder=folder)


class FileSource(Source):
    """A file, or all files that a pattern matches, one below the other."""

    settings: ClassVar[type[SourceSettings]] = FileSettings

    @property
    def name(self) -> str:
        """The name of the file, without its folder."""
        return Path(self.text).name

    @property
    def address(self) -> str:
        """The path."""
        return str(self.publication.resolve(self.text))

    def check(self) -> None:
        """
        Reject a text that is not a path: too long, or with characters that cannot be printed.

        In Airflow a DAG file may pass any template to the operator, so the filled-in text is checked too.

        :raises InvalidInputError: it is not a path; the message does not quote the text, which may be anything.
        """
        if problem := path_problem(self.text):
            raise InvalidInputError(f"source.file, filled in for its period, {problem}; correct the template")

    def read(self) -> Table:
        """
        Return the table of the file.

        :raises TableError: it cannot be read, or has a single column although several are declared.
        """
        from anon_core.table import ReadOptions, read

        options = ReadOptions(**self.section.reading, line_breaks=False, headless_from=1)
        table = read(self.publication.resolve(self.text), options)
        if len(table.names) == 1 and len(self.publication.columns) > 1:
            raise TableError(
                self.address,
                f"has a single column, {len(self.publication.columns)} are declared, so its fields are probably "
                f"separated by another character than {options.delimiter!r}",
                "set source.delimiter, or `delimiter: auto`",
            )
        return table


def _start_of_pattern(pattern: str) -> Path:
    """Return the folder that a pattern starts at: the path before its first part with a `*`, `?` or `[`."""
    path = Path(pattern)
    while glob.has_magic(str(path)):
        path = path.parent
    return path
