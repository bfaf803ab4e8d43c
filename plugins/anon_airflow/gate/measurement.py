"""Measure the files to publish, and decide whether they may be published.

The gate fails closed: a missing, unreadable or unknown item, and any exception, is a failed check. The text of an
exception of a library never leaves this module, because it may quote cells. Importing this module is cheap:
:func:`measure` loads Great Expectations, pandas and the core.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any

from anon_airflow.gate.files import MeasuredFile, digest_of, reread, same_rows
from anon_airflow.gate.silence import quiet
from anon_airflow.gate.suite import FREQUENCIES, mandatory, render_suite, suite_digest, unmeasured
from anon_airflow.gate.verdict import EVERYWHERE, Verdict
from anon_airflow.gate.waivers import accepted_and_needed, without_effect
from anon_airflow.run.home import Home
from anon_airflow.run.safe_errors import reason_of
from anon_airflow.run.site_policy import policy_in_force
from anon_core.models.measurement import Measurement
from anon_core.policy import Waiver
from anon_core.site import smallest_table, undercuts
from anon_core.waivers import ended, too_far
from anon_core.wording import counted

if TYPE_CHECKING:
    from anon_airflow.gate.witness import CheckedWitness, Witness
    from anon_core.frequency import FrequencyTable
    from anon_core.site import SitePolicy
    from anon_core.spec import Publication
    from anon_core.table import Table

__all__ = ["MeasuredFile", "StagedOriginal", "Verdict", "measure", "render_suite", "suite_digest"]


@dataclass(frozen=True, slots=True, kw_only=True)
class StagedOriginal:
    """
    The table as collected: its digest, and while the file still exists its path and the counts made from it.

    ``surplus`` is the file with the rows that were left out because one person had too many.
    """

    sha256: str
    frequencies: FrequencyTable | None = None
    path: Path | None = None
    surplus: Path | None = None


def measure(
    publication: Publication,
    distributions: Sequence[Path],
    *,
    rows_before: int,
    today: date,
    original: StagedOriginal | None = None,
    witness: Witness | None = None,
    site: SitePolicy | None = None,
    people: int | None = None,
) -> Verdict:
    """
    Measure every distribution against the suite of its publication.

    ``witness`` says which person each released row belongs to, if people have several rows: then people are counted.
    ``rows_before`` is the number of rows of the source, ``today`` the day on which acceptances and waivers must still
    be valid. ``original`` is the table as collected, for checks that compare with it. If it is removed already, these
    checks are not evaluated but counted as ``vouched``: the caller then needs a receipt for the same bytes and suite.
    ``site`` is the site policy, by default the one in force here; ``people`` is the largest possible number of people,
    if rows are not people. Problems of the data, the files or the libraries are failed checks of the verdict, never
    exceptions.
    """
    paths = [Path(path) for path in distributions]
    gate = _Gate(publication, original, witness, today)
    try:
        digest = original.sha256 if original else None
        unit = witness.unit if witness else None
        paired = witness is not None
        gate.suite = render_suite(
            publication, rows_before=rows_before, today=today, original=digest, unit=unit, paired=paired
        )
        gate.digest = suite_digest(gate.suite)
        gate.check_policy(publication, today)
        gate.check_named(paths)
        gate.measure_files(paths)
        gate.check_site_policy(publication, site or policy_in_force(Home.find()).policy, today, people)
    except (Exception, SystemExit) as error:  # noqa: BLE001 - Importing a library may even exit with code 0.
        gate.fail(EVERYWHERE, "gate", f"the gate could not finish: {reason_of(error)}")
    gate.check_evaluated()
    return gate.verdict()


@dataclass(slots=True, kw_only=True)
class _File:
    """A file that was read back, with its digest and size; its rows are dropped when the next file is read."""

    path: Path
    digest: tuple[str, int]
    frequencies: FrequencyTable
    table: Table | None


class _Gate:
    """
    One measurement of all files: they are read and compared, and their content is measured once.

    ``checks`` collects the results; ``first`` keeps the content of the first file, to compare the others with it.
    """

    def __init__(
        self, publication: Publication, original: StagedOriginal | None, witness: Witness | None, today: date
    ) -> None:
        self.today = today
        self.publication, self.engine, self.folder = publication, publication.engine, publication.root
        self.original, self.witness = original, witness
        self.without_formulas = publication.csv.escape_formulas
        self.suite: dict[str, Any] = {}
        self.digest = ""
        self.checks: list[Measurement] = []
        self.files: list[MeasuredFile] = []
        self.evaluated = 0
        self.vouched = 0
        self.first: tuple[str, FrequencyTable] | None = None
        self.singled_out: set[tuple[str, ...]] = set()
        self.people: int | None = None
        self.has_witness = False
        self.released: FrequencyTable | None = None

    @property
    def expected(self) -> int:
        """How many expectations have to be evaluated."""
        return len(self.suite.get("expectations", ()))

    def verdict(self) -> Verdict:
        return Verdict(
            checks=tuple(self.checks),
            distributions=tuple(self.files),
            suite=self.suite,
            suite_digest=self.digest,
            evaluated=self.evaluated,
            vouched=self.vouched,
            expected=self.expected,
            singled_out=frozenset(self.singled_out),
            released=self.released,
        )

    def note(
        self, where: str, name: str, passed: bool, message: str, observed: str | float = "", required: str | float = ""
    ) -> None:
        """Add a check of the gate itself, which belongs to no privacy model."""
        self.checks.append(
            Measurement(
                model="gate",
                name=name,
                columns=(),
                passed=passed,
                observed=observed,
                required=required,
                sentence=message,
                distribution=where,
            )
        )

    def fail(
        self, where: str, name: str, message: str, observed: str | float = "no", required: str | float = "yes"
    ) -> None:
        self.note(where, name, False, message, observed, required)

    def check_policy(self, publication: Publication, today: date) -> None:
        """Fail if the suite lacks a check, a requirement cannot be measured, or an acceptance or waiver has ended."""
        present = Counter(e["type"] for e in self.suite["expectations"] if e["meta"]["runs_on"] == FREQUENCIES)
        for kind, times in self._mandatory(today).items():
            if present[kind] < times:
                self.fail(
                    EVERYWHERE,
                    "suite",
                    f"the suite has {present[kind]} of {times} {kind}; render it again from the publication file",
                    present[kind],
                    times,
                )
        if publication.unit.columns and self.witness is None:
            self.fail(
                EVERYWHERE, "witness", "the publication file has a unit, but there is no witness; run recode again"
            )
        for name in unmeasured(publication):
            self.fail(EVERYWHERE, name, f"{name} is required but this version cannot measure it; remove it")
        for over in ended(publication.privacy, today, publication.unit):
            self.fail(EVERYWHERE, over.kind, over.sentence, over.until.isoformat(), today.isoformat())
        for waiver in without_effect(self.suite, publication.privacy, today):
            self.fail(EVERYWHERE, "waiver", f"the waiver of {waiver.check} matches no check of the suite; remove it")

    def _mandatory(self, today: date) -> dict[str, int]:
        unit = self.witness.unit if self.witness else None
        return mandatory(self.publication, today, unit=unit, paired=self.witness is not None)

    def check_site_policy(self, publication: Publication, site: SitePolicy, today: date, people: int | None) -> None:
        """Compare the publication file, and the number of people in the files, with the site policy."""
        days = site.longest_acceptance_days
        found = [one.sentence for one in too_far(publication.privacy, today, days, publication.unit)]
        found += undercuts(publication, site, today)
        for sentence in found:
            self.fail(EVERYWHERE, "site_policy", sentence, len(found), 0)
        if not found:
            self.note(
                EVERYWHERE, "site_policy", True, "the publication file keeps every floor of the site policy", 0, 0
            )
        if not self.files:
            return
        rows = min(file.rows for file in self.files)
        known = [one for one in (rows, people, self.people) if one is not None]
        most, needed = min(known), site.people_for(publication.privacy.k)
        # Without a witness the number of rows is an upper bound of the number of people.
        counted_as = "row" if most == rows and publication.unit.columns and not self.has_witness else "person"
        if few := smallest_table(publication.privacy.k, most, site, counted_as=counted_as):
            self.fail(EVERYWHERE, "smallest_table", few, most, needed)
        else:
            enough = f"at least {needed:,}"
            self.note(EVERYWHERE, "smallest_table", True, f"{enough} people are in the table", enough, needed)

    def check_named(self, distributions: Sequence[Path]) -> None:
        names = {path.name for path in distributions}
        if not distributions:
            self.fail(EVERYWHERE, "distributions", "there is no file to publish; run recode again", 0, 1)
        elif len(names) < len(distributions):
            self.fail(
                EVERYWHERE,
                "distributions",
                f"{len(distributions)} files share {len(names)} names; give each distribution a name of its own",
                len(names),
                len(distributions),
            )

    def measure_files(self, paths: Sequence[Path]) -> None:
        """Read every file, compare them, evaluate the suite on their content, and check that no file has changed."""
        read: list[_File] = []
        for path in paths:
            if read:
                read[-1].table = None  # Keep one table at a time; the counts are enough to compare.
            if found := self._read(path):
                read.append(found)
        if read:
            differs = any(check.name == "same_content" and not check.passed for check in self.checks)
            one_content = len(read) == len(paths) and not differs
            checked = self._check_witness(read[-1].frequencies) if self.witness else None
            self._evaluate(EVERYWHERE if one_content else read[-1].path.name, read[-1], checked)
        for file in read:
            self._check_unchanged(file)

    def _read(self, path: Path) -> _File | None:
        """Take the digest of a file, read it back, and compare it with the first one."""
        from anon_core.engines.engine import engine_named

        where = path.name
        try:
            digest, size = digest_of(path)
            table = reread(path)
            frequencies = engine_named(self.engine, source=path).of(table).count(table.names)
        except Exception as error:  # noqa: BLE001 - Any error is a failed check.
            self.fail(where, "readable", f"cannot be read back: {reason_of(error)}; nothing in it was measured")
            return None
        self.files.append(MeasuredFile(name=where, sha256=digest, bytes=size, rows=table.rows))
        self._check_same(where, frequencies)
        if self.without_formulas:
            self._check_formulas(where, table)
        return _File(path=path, digest=(digest, size), frequencies=frequencies, table=table)

    def _check_witness(self, released: FrequencyTable) -> CheckedWitness | None:
        """Return the content of the witness, if it matches the released rows and the rows as collected."""
        from anon_airflow.gate.witness import RejectedWitness, check_witness

        witness: Witness = self.witness  # type: ignore[assignment]
        try:
            checked = check_witness(witness, self.publication, released, self.original.path if self.original else None)
        except Exception as error:  # noqa: BLE001 - Any error is a failed check.
            self.fail(EVERYWHERE, "witness", f"the witness cannot be compared with the rows: {reason_of(error)}")
            return None
        if isinstance(checked, RejectedWitness):
            self.fail(EVERYWHERE, "witness", checked.sentence)
            return None
        self.note(EVERYWHERE, "witness", True, "every released row was collected, from the same person", "yes", "yes")
        self.people = checked.number
        self.has_witness = True
        self._check_surplus()
        return checked

    def _check_surplus(self) -> None:
        """Check the rows that were left out because one person had too many, while the originals still exist."""
        from anon_airflow.gate.surplus import surplus_problem

        most, original = self.publication.privacy.max_rows_per_person, self.original
        unit = self.witness.unit if self.witness else None
        if most is None or unit is None or original is None or original.path is None:
            return
        try:
            problem = surplus_problem(self.publication, original.path, original.surplus, unit=unit, most=most)
        except Exception as error:  # noqa: BLE001 - Any error is a failed check.
            problem = f"the rows left out cannot be checked: {reason_of(error)}"
        if problem:
            self.fail(EVERYWHERE, "rows_capped", f"{problem}; run the publication again from `stage`")
        else:
            message = f"each person has at most {counted(most, 'row')}, and no other rows were left out because of that"
            self.note(EVERYWHERE, "rows_capped", True, message, "yes", "yes")

    def _evaluate(self, where: str, file: _File, checked: CheckedWitness | None) -> None:
        with quiet():
            from anon_airflow.expectations.evaluation import Evaluation
            from anon_airflow.expectations.metrics.pandas_cells import people_of

        table = reread(file.path) if file.table is None else file.table  # None if a later file could not be read.
        counted = self.original.frequencies if self.original else None
        given = {f"sha256:{self.original.sha256}": counted} if self.original and counted else {}
        people, pairing = (checked.people, checked.pairing) if checked else (None, None)
        evaluation = Evaluation(table, file.frequencies, self.folder, given, people=people, pairing=pairing)
        for entry in self.suite["expectations"]:
            if entry["meta"]["beside_original"] and self._is_gone(entry):
                self.vouched += 1
                continue
            waiver = entry["meta"].get("waiver")
            found = replace(evaluation.evaluate(entry), distribution=where)
            self.checks.append(found.excused(Waiver.model_validate(waiver) if waiver else None))
        self.evaluated = evaluation.evaluated
        if self.publication.privacy.published_uniqueness.accept:
            published = file.frequencies if people is None else people_of(people)
            self.singled_out = accepted_and_needed(self.suite, published, self.publication, self.today)
        self.released = file.frequencies

    def _is_gone(self, entry: dict[str, Any]) -> bool:
        """Whether the originals that an entry needs are removed already, so that the receipt has to count for it."""
        original = self.original
        if original is None:
            return False
        return original.path is None if entry["meta"].get("paired") else original.frequencies is None

    def _check_same(self, where: str, frequencies: FrequencyTable) -> None:
        if self.first is None:
            self.first = (where, frequencies)
            return
        other, expected = self.first
        if same_rows(expected, frequencies):
            self.note(where, "same_content", True, f"holds the same rows as {other}", "same", "same")
        else:
            self.fail(
                where,
                "same_content",
                f"does not hold the same rows and columns as {other} ({frequencies.rows:,} against {expected.rows:,} "
                "rows); write all distributions from one table again",
                "different",
                "same",
            )

    def _check_formulas(self, where: str, table: Table) -> None:
        from anon_core.engines.formulas import looks_like_a_formula

        counts = {column.name: int(looks_like_a_formula(column.domain).sum()) for column in table.columns}
        found = {name: count for name, count in counts.items() if count}
        message = "no cell that a spreadsheet would run as a formula"
        if found:
            counts_by_name = ", ".join(f"{count} in {name}" for name, count in found.items())
            message = f"distinct values that a spreadsheet would run as a formula: {counts_by_name}; run recode again"
        self.note(where, "formulas", not found, message, sum(found.values()), 0)

    def _check_unchanged(self, file: _File) -> None:
        where, before = file.path.name, file.digest
        try:
            after = digest_of(file.path)
        except OSError as error:
            self.fail(where, "unchanged", f"disappeared while it was measured: {reason_of(error)}; run recode again")
            return
        if after == before:
            self.note(where, "unchanged", True, "stayed the same while it was measured", after[0], before[0])
        else:
            self.fail(where, "unchanged", "changed while it was measured; run recode again", after[0], before[0])

    def check_evaluated(self) -> None:
        expected = self.expected
        answered = self.evaluated + self.vouched
        beside = f", {self.vouched} more need the originals, and the receipt counts for them" if self.vouched else ""
        self.note(
            EVERYWHERE,
            "evaluated",
            answered == expected > 0,
            f"{self.evaluated} of {expected} expectations were evaluated{beside}"
            + ("" if answered == expected > 0 else "; all must be evaluated, so nothing may be published"),
            answered,
            expected,
        )
