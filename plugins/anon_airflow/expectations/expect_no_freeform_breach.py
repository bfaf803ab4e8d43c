"""Nothing that can be observed gives a guarded value away."""

from __future__ import annotations

from typing import ClassVar

from anon_airflow.expectations.freeform_threats import Threats, threats_in
from anon_airflow.expectations.measured_expectation import (
    AnyNumber,
    ColumnNames,
    Finding,
    Guards,
    Hierarchies,
    MeasuredExpectation,
    Share,
)
from anon_core.frequency import FrequencyTable
from anon_core.wording import counted


class ExpectNoFreeformBreach(MeasuredExpectation):
    """
    Expect no freeform attack with a threat above ``sigma_t`` (extended Definition 3.4 of Wang 2009).

    ``hierarchies`` has for every column a file, relative to a folder that the gate tells, with its sha256, or the label
    of its root; ``guards`` what is guarded, as in the publication file. Labels lie within labels after local recoding,
    so all quasi-identifiers are placed in their hierarchies too.
    """

    columns: ColumnNames
    hierarchies: Hierarchies
    guards: Guards
    sigma_o: AnyNumber
    sigma_t: Share

    title: ClassVar[str] = "freeform anonymity"
    promise: ClassVar[str] = "nothing observable in {columns} gives a guarded value away with more than {sigma_t}"
    success_keys: ClassVar[tuple[str, ...]] = (
        "columns",
        "hierarchies",
        "guards",
        "sigma_o",
        "sigma_t",
        "weight_column",
    )
    args_keys: ClassVar[tuple[str, ...]] = success_keys

    def _judge(self, published: FrequencyTable) -> Finding:
        measured = threats_in(
            published,
            hierarchies=self.hierarchies,
            guards=self.guards,
            sigma_o=self.sigma_o,
            sigma_t=self.sigma_t,
        )
        passed = not measured.breaches
        return Finding(
            passed=passed,
            measured=measured.breaches,
            required=0,
            observed={
                "breaches": measured.breaches,
                "rows": measured.rows,
                "rows_concerned": measured.rows_concerned,
                "threat": measured.threat,
                "column": measured.column,
            },
            sentence=self._sentence(measured),
        )

    def _sentence(self, measured: Threats) -> str:
        guarded = ", ".join(self.guards)
        if not measured.breaches:
            return (
                f"no guarded value of {guarded} can be inferred: largest threat {measured.threat:.2g}, "
                f"{self.sigma_t:g} allowed"
            )
        return (
            f"{counted(measured.breaches, 'way')} to infer a guarded value of {guarded}, {measured.rows_concerned:,} "
            f"of {measured.rows:,} rows concerned, largest threat {measured.threat:.2g} ({measured.column}), "
            f"{self.sigma_t:g} allowed: use `recode.method: freeform`, or guard fewer values"
        )
