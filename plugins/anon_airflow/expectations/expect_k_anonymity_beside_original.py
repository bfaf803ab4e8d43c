"""People hide among enough rows from whoever compares the release with what they know of everybody."""

from __future__ import annotations

from itertools import product
from pathlib import Path
from typing import ClassVar

from anon_airflow.expectations.hierarchies import GROUPS, NO_FOLDER, WITHHELD, hierarchy_named
from anon_airflow.expectations.inputs import hierarchy_folder
from anon_airflow.expectations.measured_expectation import (
    ColumnName,
    ColumnNames,
    Finding,
    Hierarchies,
    KMeaning,
    MeasuredExpectation,
    NotMeasurableError,
    PositiveCount,
)
from anon_core.comparison import compare_frequencies
from anon_core.errors import HierarchyError, InvalidInputError, UnknownLabelsError
from anon_core.frequency import FrequencyTable
from anon_core.hierarchy.build import ladder
from anon_core.hierarchy.kinds.published_groups import ladders_leading_to
from anon_core.hierarchy.ladder import Ladder
from anon_core.score.linkage import FourK, four_k
from anon_core.score.worst_case import worst_case
from anon_core.table import Column
from anon_core.wording import clause, counted


class ExpectKAnonymityBesideOriginal(MeasuredExpectation):
    """
    Expect at least ``k`` by one of the meanings that need the originals.

    ``means: link``: whoever knows a person finds k published rows; ``source``: every published row may be k people;
    ``concealment``: link, counting only rows that no comparison of everybody with everything rules out. ``original``
    names the table as collected: given with ``originals``, or in the same database. ``hierarchies`` has for each of
    ``columns`` how it was generalised, written as in a publication file; a file with its sha256. With ``groups: true``
    beside it the column may instead have been grouped by its own values, if its labels are ranges; where both are
    possible the worse counts. Which row became which is not known, as of any sorted release. Rows that cannot have been
    made from the original fail.
    """

    columns: ColumnNames
    k: PositiveCount
    means: KMeaning
    original: ColumnName
    hierarchies: Hierarchies

    title: ClassVar[str] = "k-anonymity beside the original"
    promise: ClassVar[str] = "{means} k over {columns}, beside the original, is at least {k}"
    metric_dependencies: ClassVar[tuple[str, ...]] = ("anon.frequencies", "anon.original_frequencies")
    success_keys: ClassVar[tuple[str, ...]] = ("columns", "k", "means", "original", "hierarchies", "weight_column")
    args_keys: ClassVar[tuple[str, ...]] = success_keys

    def _judge(self, published: FrequencyTable, original: FrequencyTable) -> Finding:
        four = self._measured(published, original)
        observed = {"link": four.link, "source": four.source, "concealment": four.concealment}[self.means]
        if observed is None:
            raise NotMeasurableError(four.reason or "it is not defined here")
        below = four.rows_below[self.means]
        passed = observed >= self.k and four.fits
        sentence = f"{self.means} k is {observed:,}, {self.k:,} required over {', '.join(self.columns)}"
        if observed < self.k:
            sentence += f"; {clause(below or 0, 'row')} below it: generalise these columns further"
        if not four.fits:
            sentence += f"; {four.reason}: write the file again from its source"
        return Finding(
            passed=passed,
            measured=observed,
            required=self.k,
            observed={
                "k": observed,
                "rows": published.rows,
                "rows_before": original.rows,
                "rows_below_k": below,
                "made_from_original": four.fits,
            },
            sentence=sentence,
        )

    def _measured(self, published: FrequencyTable, original: FrequencyTable) -> FourK:
        if set(self.hierarchies) != set(self.columns):
            raise NotMeasurableError("every column needs its hierarchy, and nothing else has one")
        alike = [
            name
            for table in (published, original)
            for name, domain in zip(table.names, table.domains, strict=True)
            if len(set(domain.to_pylist())) < len(domain)
        ]
        if alike:
            raise NotMeasurableError(f"cells of different kinds read the same in {', '.join(sorted(set(alike)))}")
        try:
            ways = product(*(self._ladders(name, published, original) for name in self.columns))
            compared = [compare_frequencies(original, published, built) for built in ways]
            return four_k(worst_case(compared, k=self.k, means=[self.means]), k=self.k)
        except HierarchyError:
            raise NotMeasurableError("a hierarchy cannot be used; `anon hierarchy check` tells why") from None
        except UnknownLabelsError as error:
            unknown = "; ".join(
                f"{counted(labels, 'distinct label')} of {name}, in {counted(rows, 'row')}"
                for name, (labels, rows) in error.unknown.items()
            )
            raise NotMeasurableError(
                f"neither values of the original nor labels of its hierarchies: {unknown}; name the `hierarchies` that "
                "made them, and give the very table that was recoded"
            ) from None
        except InvalidInputError as error:  # Its words are ours, and tell columns and counts.
            raise NotMeasurableError(str(error)) from None

    def _ladders(self, name: str, published: FrequencyTable, original: FrequencyTable) -> list[Ladder]:
        """Return the ladder of a column; two where it may have been grouped and nobody can tell."""
        (at,), (there,) = original.positions([name]), published.positions([name])
        column = Column(name=name, codes=original.codes[at], domain=original.domains[at])
        given = self.hierarchies[name]
        folder: Path = hierarchy_folder() if "file" in given else NO_FOLDER
        declared = ladder(column, hierarchy_named(name, given), folder, withheld=given.get(WITHHELD))
        if not given.get(GROUPS):
            return [declared]
        return ladders_leading_to(column, published.domains[there].to_pylist(), declared)
