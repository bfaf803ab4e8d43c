"""The publication file: all settings of one dataset, parsed and checked once.

A DAG file loads every publication at every parse, so nothing heavy is imported here, and hierarchy files are read only
by :meth:`PartialPublication.digest`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import Annotated, Any, Literal, overload

from pydantic import Field, PrivateAttr, ValidationError

from anon_core.errors import HierarchyError, InvalidInputError, Problem, SpecError
from anon_core.files.regular import FileTooLargeError, NotRegularError, read_whole
from anon_core.files.storage import digest
from anon_core.files.yaml_lines import name_of, parse_yaml
from anon_core.limits import HIERARCHY_FILE, PUBLICATION_FILE
from anon_core.policy import CountedValues, KMeans, PartialPolicy, Policy
from anon_core.registry import ANY_ENGINE, ENGINES, PORTALS
from anon_core.role import Role
from anon_core.settings import NOT_EMPTY, Filled, Flag, Settings, Share
from anon_core.spec.checks import cross_problems, not_built_problems, plain_sentences
from anon_core.spec.columns import DeclaredColumn
from anon_core.spec.member_sections import (
    PortalSection,
    PortalSettings,
    SourceSection,
    SourceSettings,
    key_in,
    read_foreign_models,
    unread_in,
)
from anon_core.spec.private_folders import place_problem, private_folders
from anon_core.spec.recode import Recode
from anon_core.spec.review import ReviewSection
from anon_core.spec.sections import (
    AirflowSettings,
    Approval,
    Csv,
    Detect,
    EngineKey,
    Expectation,
    Metadata,
    Missing,
    Schedule,
    Slug,
)
from anon_core.spec.unit import UnitSection
from anon_core.spec.written import Unread
from anon_core.waivers import without_waived
from anon_core.wording import counted

_REVIEWED = {"columns", "unit", "privacy", "recode", "missing", "sampling_fraction"}
"""The sections that a review covers: how columns are published, whose the rows are, what a release must keep."""
_PUBLISHED = (Role.QUASI, Role.SENSITIVE, Role.OTHER)


class PartialPublication(Settings):
    """A publication file of which only ``columns`` is required, for commands that get a table of their own."""

    dataset: Slug | None = None
    title: Filled | None = None
    schedule: Schedule | None = None
    airflow: AirflowSettings = AirflowSettings()
    source: SourceSection | None = None
    engine: EngineKey = ANY_ENGINE
    missing: Missing = Missing.CATEGORY
    unit: UnitSection | None = None
    reviewed: ReviewSection | None = None
    sampling_fraction: Annotated[Share, Field(gt=0)] | None = None
    columns: Annotated[dict[str, DeclaredColumn], NOT_EMPTY]
    detect: Detect = Detect()
    privacy: PartialPolicy | None = None
    recode: Recode = Recode()
    expectations: tuple[Expectation, ...] = ()
    csv: Csv = Csv()
    approval: Approval = Approval()
    portal: PortalSection | None = None
    metadata: Metadata = Metadata()
    keep_staging: Flag = False
    _file: Path = PrivateAttr(default=Path())

    @property
    def file(self) -> Path:
        """The file this was loaded from, as an absolute path."""
        return self._file

    @property
    def root(self) -> Path:
        """The folder where relative paths start: the one that contains `publications`, else the file's own."""
        folder = self._file.parent
        return folder.parent if folder.name == "publications" else folder

    def resolve(self, path: str) -> Path:
        """Return the path that a text in the file means; absolute ones stay as they are."""
        return self.root / path

    @property
    def files(self) -> tuple[Path, ...]:
        """The hierarchies and lookups that the file refers to; they may not exist."""
        return tuple(self.resolve(path) for _, path in self._referred_files())

    @property
    def effective_columns(self) -> dict[str, DeclaredColumn]:
        """The columns in the order of the file, the published parts of a decomposed one in its place.

        ``columns`` are those of the source; all steps after decomposition use these columns.
        """
        return {
            name: column
            for declared, whole in self.columns.items()
            for name, column in whole.published_as(declared).items()
        }

    def names_with_role(self, role: Role) -> tuple[str, ...]:
        """Return the columns of a role, in the order of the file."""
        return tuple(name for name, column in self.effective_columns.items() if column.role == role)

    @property
    def quasi_identifiers(self) -> tuple[str, ...]:
        """The quasi-identifying columns, in the order of the file."""
        return self.names_with_role(Role.QUASI)

    @property
    def published(self) -> tuple[str, ...]:
        """The columns that a release has, in the order of the file."""
        return tuple(name for name, column in self.effective_columns.items() if column.role in _PUBLISHED)

    @property
    def counted_values(self) -> dict[str, CountedValues]:
        """What counts as one value of each column where its diversity is judged."""
        return {name: column.counted_values for name, column in self.effective_columns.items()}

    @property
    def searched(self) -> tuple[str, ...]:
        """The columns among which the search looks for sets that single people out.

        Sensitive columns are left out: others are not expected to know them, and diversity protects them. If no column
        is quasi, no other check protects people, so all published columns are searched.
        """
        if not self.quasi_identifiers:
            return self.published
        columns = self.effective_columns
        return tuple(name for name in self.published if columns[name].role is not Role.SENSITIVE)

    @property
    def in_classes_of_k(self) -> tuple[str, ...]:
        """The columns whose published combinations all have k people; none where the policy means link k."""
        exact = self.privacy is None or self.privacy.k_means is KMeans.EXACT
        return self.quasi_identifiers if exact else ()

    @property
    def required_of_recoding(self) -> PartialPolicy:
        """
        What recoding has to reach: the policy without what is waived, which the gate still measures.

        :raises InvalidInputError: no installed package brings the recoding method.
        """
        return without_waived(self.privacy or PartialPolicy(), keep_freeform=self.recode.member.guards)

    def as_collected(self, today: date) -> tuple[str, ...]:
        """Return the columns that are published as collected, without those that a person accepted by name, each alone.

        None of them may identify people by itself, even if the policy allows much for sets of columns.
        Quasi-identifiers are not among them: they are recoded, and their classes are measured.
        """
        accept = self.privacy.published_uniqueness.accept if self.privacy else ()
        accepted = [list(one.columns) for one in accept if one.until >= today]
        quasi = self.quasi_identifiers
        return tuple(name for name in self.published if name not in quasi and [name] not in accepted)

    def judged_others(self, today: date) -> tuple[str, ...]:
        """Return the columns declared other that no person accepts: with the quasi-identifiers they need k people.

        An acceptance covers every such column that it names, until the end of its last day.
        """
        accept = self.privacy.published_uniqueness.accept if self.privacy else ()
        accepted = {name for one in accept if one.until >= today for name in one.columns}
        return tuple(name for name in self.names_with_role(Role.OTHER) if name not in accepted)

    @property
    def priority_weights(self) -> dict[str, float]:
        """How much each quasi-identifier matters, from 1 downwards.

        w = (P - p + 1) / P, where P is the number of distinct priorities and p the rank of the column's own among
        them. A column without a priority ranks with the least important; without any priority all weigh 1.
        """
        columns = self.effective_columns
        priorities = {name: columns[name].priority for name in self.quasi_identifiers}
        levels = sorted({priority for priority in priorities.values() if priority is not None}) or [1]
        ranks = {name: levels.index(own or levels[-1]) for name, own in priorities.items()}
        return {name: (len(levels) - rank) / len(levels) for name, rank in ranks.items()}

    def reviewed_digest(self) -> str:
        """
        Return a SHA-256 of what a review covers: columns with their hierarchies, unit, privacy and recoding.

        Defaults are left out, so that a newer version with more settings needs no new review.

        :raises HierarchyError: a hierarchy file cannot be read.
        """
        content = self.model_dump(mode="json", include=_REVIEWED, exclude_defaults=True)
        return self._digest_of(content)

    def digest(self) -> str:
        """Return a SHA-256 of what the file says and of the hierarchy files it refers to.

        Comments, formatting, the order of keys and spelled-out defaults do not change it; the order of columns does,
        because it is the order of the released file.

        :raises HierarchyError: a hierarchy file cannot be read.
        """
        content = self.model_dump(mode="json")
        if self.csv == Csv():  # A file without this section keeps the digest that it always had.
            content.pop("csv", None)
        content["recode"].setdefault("singletons", None)  # The same for a file without this section of a method.
        return self._digest_of(content)

    def _digest_of(self, content: dict[str, Any]) -> str:
        for column in content["columns"].values():
            if column.get("coarsen") is None:
                column.pop("coarsen", None)
            for hierarchy in (
                column.get("hierarchy"),
                *((column.get("decompose") or {}).get("hierarchies") or {}).values(),
            ):
                if hierarchy and hierarchy.get("levels") is None:  # A file without names has the digest it always had.
                    hierarchy.pop("levels", None)
        content["columns"] = list(content["columns"].items())
        content["files"] = {where: self.file_digest(where, path) for where, path in self._referred_files()}
        text = json.dumps(content, sort_keys=True, separators=(",", ":"))
        return digest(text)

    def _referred_files(self) -> Iterator[tuple[str, str]]:
        for name, column in self.columns.items():
            if column.hierarchy and column.hierarchy.file:
                yield f"columns.{name}.hierarchy.file", column.hierarchy.file
            for part, path in (column.decompose.lookup if column.decompose else {}).items():
                yield f"columns.{name}.decompose.lookup.{part}", path
            for part, hierarchy in (column.decompose.hierarchies if column.decompose else {}).items():
                if hierarchy.file:
                    yield f"columns.{name}.decompose.hierarchies.{part}.file", hierarchy.file

    def check_files(self) -> None:
        """
        Check that every hierarchy and lookup can be read.

        :raises HierarchyError: some cannot; all of them are named, each by its key.
        """
        problems = []
        for where, path in self._referred_files():
            try:
                self.file_digest(where, path)
            except HierarchyError as error:
                problems += [f"{where}: {problem}" for problem in error.problems]
        if problems:
            raise HierarchyError(self.file.name, problems)

    def file_digest(self, where: str, path: str) -> str:
        """
        Return the SHA-256 of a file that the publication file refers to.

        :raises HierarchyError: it cannot be read.
        """
        try:
            return digest(read_whole(self.resolve(path), HIERARCHY_FILE))
        except (NotRegularError, FileTooLargeError, OSError, ValueError) as error:
            raise HierarchyError(where, [f"`{path}` cannot be read: {_reason(error)}"]) from None


class Publication(PartialPublication):
    """A whole publication file."""

    dataset: Slug
    title: Filled
    source: SourceSection
    unit: UnitSection
    reviewed: ReviewSection
    privacy: Policy
    portal: PortalSection

    @property
    def dag_id(self) -> str:
        """The name of the DAG that publishes the dataset."""
        return "publish_" + self.dataset.replace("-", "_")

    @property
    def source_template(self) -> str:
        """The text that is filled in for each period and handed to the source."""
        return self.source.template if isinstance(self.source, SourceSettings) else ""

    @property
    def unread(self) -> tuple[str, ...]:
        """Why the publication cannot run here: a sentence for each of its members that is not installed."""
        found = [*unread_in(self), *self.recode.unread]
        if self.engine != ANY_ENGINE and self.engine not in ENGINES:
            found.append(Unread.of(ENGINES, self.engine, ("engine",), None))
        return tuple(f"{one.where}: {one.reason}" for one in found)

    def refuse_unread(self) -> None:
        """:raises InvalidInputError: a source, portal, method or privacy model of it is not installed."""
        if self.unread:
            raise InvalidInputError(f"{self.file.name} cannot run here: {'; '.join(self.unread)}")


@overload
def load_spec(path: Path | str, *, partial: Literal[False] = False) -> Publication: ...
@overload
def load_spec(path: Path | str, *, partial: Literal[True]) -> PartialPublication: ...
def load_spec(path: Path | str, *, partial: bool = False) -> PartialPublication:
    """
    Load a publication file and check all of it.

    With ``partial`` only ``columns`` is required, for commands that get a table of their own.

    :raises SpecError: with every problem there is, each with its line.
    """
    path = Path(path)
    document = parse_yaml(_read(path))
    content, problems = document.content, document.problems
    if not isinstance(content, dict):
        what = "should be a mapping with keys such as `dataset` and `columns`"
        raise SpecError(str(path), problems or [Problem(1, "", "the file is empty" if content is None else what)])
    if not set(content) & set(Publication.model_fields):
        # The file may be a table, whose cells would be the keys: the message does not repeat them.
        what = f"none of its {counted(len(content), 'key')} is one of a publication file; is it one?"
        raise SpecError(str(path), [Problem(1, "", what)])
    problems += not_built_problems(document)
    publication, models = None, dict[int, type[Settings]]()
    problems += read_foreign_models(document, models)
    try:
        problems += cross_problems(document, partial=partial)
        publication = (PartialPublication if partial else Publication).model_validate(content, context=models)
    except ValidationError as error:
        problems += plain_sentences(error, document, models)
    except InvalidInputError as error:  # Of a broken package, or two of one key: a DAG shows this only as SpecError.
        problems.append(Problem(1, "", str(error)))
    if problems or publication is None:
        raise SpecError(str(path), sorted(set(problems)))
    publication._file = path.absolute()
    if not partial and isinstance(publication.portal, PortalSettings):
        shown = publication.portal.resolved(publication.root).shown_folder
        if shown and (problem := place_problem(shown, private_folders(publication))):
            location = ("portal", key_in(PORTALS, content["portal"]) or "")
            raise SpecError(str(path), [Problem(document.line(location), name_of(location), problem)])
    return publication


def _read(path: Path) -> str:
    try:
        raw = read_whole(path, PUBLICATION_FILE)
    except (NotRegularError, FileTooLargeError, OSError, ValueError) as error:
        raise SpecError(str(path), [Problem(1, "", f"the file cannot be read: {_reason(error)}")]) from None
    except InvalidInputError as error:  # A limit is set wrong: a DAG shows what is wrong with a file only as SpecError.
        raise SpecError(str(path), [Problem(1, "", str(error))]) from None
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise SpecError(str(path), [Problem(line, "", "the file is not UTF-8; save it in that encoding")]) from None


def _reason(error: NotRegularError | FileTooLargeError | OSError | ValueError) -> str:
    if isinstance(error, NotRegularError):
        return f"it is {error.kind}"
    if isinstance(error, FileTooLargeError):
        return f"it {error.what}; {error.advice}"
    return (error.strerror if isinstance(error, OSError) else None) or "not a usable path"
