"""Evaluate the entries of a suite on one file that was read back, one by one, with Great Expectations.

Great Expectations drops entries that it does not know, passes an empty suite, returns results in another order than the
entries, and copies cells into results. So every entry is loaded, evaluated and counted by itself, its own result must
say that it succeeded, and of a result of Great Expectations' own types only true or false leaves this module.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import great_expectations as gx
import pandas as pd
from great_expectations.data_context.types.base import DataContextConfig, InMemoryStoreBackendDefaults
from great_expectations.validator.v1_validator import Validator

from anon_airflow.expectations import expectations_of_models
from anon_airflow.expectations.inputs import StandIn, hierarchies_in, originals, paired_by, stand_ins
from anon_airflow.gate.silence import quiet
from anon_airflow.gate.suite import FREQUENCIES, NUMBERS, ROWS
from anon_core.errors import AnonError, InvalidInputError
from anon_core.frequency import FrequencyTable
from anon_core.models import MODELS, Measurement, PrivacyModel
from anon_core.models.measurement import Figure
from anon_core.models.subject import Pairing
from anon_core.table import Table

FORBIDDEN = frozenset({"result_format", "catch_exceptions"})
"""Arguments that would make Great Expectations copy cells into its results, or let exceptions through."""


class Evaluation:
    """
    One file, as batches that are made when they are needed, in a context in memory.

    Hierarchy files that a suite names are read from ``folder``, and originals that it names from ``given``. ``people``
    counts the rows together with their person, ``pairing`` says what each row was made from, if these are known.
    ``evaluated`` counts the entries for which Great Expectations gave exactly one result.
    """

    def __init__(
        self,
        table: Table,
        frequencies: FrequencyTable,
        folder: Path,
        given: Mapping[str, FrequencyTable],
        *,
        people: FrequencyTable | None = None,
        pairing: Pairing | None = None,
    ) -> None:
        self._given = given
        self._people = people
        self._pairing = pairing
        self._table = table
        self._frequencies = frequencies
        self._folder = folder
        self._validators: dict[tuple[str, str | None, bool], Validator] = {}
        self._stand_ins: dict[int, StandIn] = {}
        self.evaluated = 0

    def evaluate(self, entry: dict[str, Any]) -> Measurement:
        """Evaluate one entry of a suite; any error is a measurement that did not pass."""
        kind, name = str(entry["type"]), str(entry["meta"]["name"])
        try:
            with (
                quiet(),
                hierarchies_in(self._folder),
                originals(self._given),
                paired_by(self._pairing),
                stand_ins(self._stand_ins),
            ):
                return self._evaluate(kind, name, entry)
        except AnonError as error:
            return _failed(kind, name, str(error))
        except Exception as error:  # noqa: BLE001 - Any error means that the check did not pass.
            could_not = f"Great Expectations could not run it ({type(error).__name__}); check its arguments"
            return _failed(kind, name, could_not)

    def _evaluate(self, kind: str, name: str, entry: dict[str, Any]) -> Measurement:
        ours = expectations_of_models()
        forbidden = sorted(FORBIDDEN & set(entry["kwargs"]))
        if forbidden:
            return _failed(kind, name, f"{', '.join(forbidden)} may not be set: results must not contain values")
        suite = gx.ExpectationSuite(name="one", expectations=[copy.deepcopy(entry)])
        loaded = [expectation.configuration for expectation in suite.expectations]
        if [configuration.type for configuration in loaded] != [kind]:
            unknown = "Great Expectations does not know this type; check its name and that it is installed"
            return _failed(kind, name, unknown)
        if kind in ours and (type(suite.expectations[0]) is not ours[kind] or loaded[0].kwargs != entry["kwargs"]):
            return _failed(kind, name, "Great Expectations did not load it as the suite has it")
        if "model" in entry["meta"] and ours[kind].model is not MODELS.get(entry["meta"]["model"]):
            return _failed(kind, name, "its privacy model is not the one that the suite names")
        validator = self._validator(entry)
        validator.result_format = "BASIC" if kind in ours else "BOOLEAN_ONLY"
        answer = validator.validate_expectation_suite(suite)
        if len(answer.results) != 1 or answer.statistics["evaluated_expectations"] != 1:
            return _failed(kind, name, "Great Expectations gave no result for it")
        self.evaluated += 1
        model = ours[kind].model if kind in ours else None
        return _measurement(kind, name, entry["kwargs"], answer, model)

    def _validator(self, entry: dict[str, Any]) -> Validator:
        """Return the validator for the table of an entry; it keeps its counts for the next entries."""
        view = entry["meta"]["runs_on"]
        weight = entry["kwargs"]["weight_column"] if view == FREQUENCIES else None
        by_people = entry["kwargs"].get("unit_column") is not None and view == FREQUENCIES
        if (view, weight, by_people) not in self._validators:
            build: dict[str, Callable[[], pd.DataFrame]] = {
                FREQUENCIES: lambda: self._stand_in(str(weight), by_people=by_people),
                ROWS: lambda: row_batch(self._table),
                NUMBERS: lambda: number_batch(self._table),
            }
            table = build[view]()
            self._validators[view, weight, by_people] = Validator(_definition(), batch_parameters={"dataframe": table})
        return self._validators[view, weight, by_people]

    def _stand_in(self, weight_column: str, *, by_people: bool) -> pd.DataFrame:
        """Return an empty frame that stands for the frequencies, which are counted already; metrics look them up."""
        counted = self._people if by_people and self._people is not None else self._frequencies
        frame = stand_in(counted, weight_column)
        self._stand_ins[id(frame)] = StandIn(frame=frame, frequencies=counted)
        return frame


def batch_of(table: pd.DataFrame) -> Any:
    """Return a Great Expectations batch of a table."""
    return _definition().get_batch({"dataframe": table})


def _definition() -> Any:
    """Return a batch definition in an ephemeral context without progress bars."""
    settings = DataContextConfig(
        store_backend_defaults=InMemoryStoreBackendDefaults(),  # No folder for Data Docs, either.
        progress_bars={"globally": False},  # type: ignore[arg-type]
        analytics_enabled=False,
    )
    context = gx.get_context(mode="ephemeral", project_config=settings)
    asset = context.data_sources.add_pandas("release").add_dataframe_asset("table")
    return asset.add_batch_definition_whole_dataframe("whole")


def _measurement(
    kind: str, name: str, kwargs: dict[str, Any], answer: Any, model: type[PrivacyModel] | None
) -> Measurement:
    (result,) = answer.results
    raised = _raised(result.exception_info)
    passed = answer.success is True and result.success is True and not raised
    if model is not None and not raised:
        found = result.result
        return Measurement(
            model=model.key,
            name=name,
            columns=tuple(kwargs["columns"]),
            column=kwargs.get("sensitive"),
            passed=passed,
            observed=_shown(found),
            required=found.get("required", "measured"),
            sentence=str(found["sentence"]),
            counts=found["observed_value"] or {},
            measured="measured" in found,
        )
    where = f" ({kwargs['column']})" if isinstance(kwargs.get("column"), str) else ""
    said = (
        "holds"
        if passed
        else "does not hold; check the source with `anon profile`, or change this expectation in the publication file"
    )
    if raised:
        said = "could not be evaluated; check its arguments and the type of its column"
    observed = "holds" if passed else "raised" if raised else "does not hold"
    return _stock(kind, name, f"{kind}{where} {said}", observed, passed=passed, measured=not raised)


def _shown(found: dict[str, Any]) -> Figure:
    """Return the measured figure; "none" if a class has too few values for a figure."""
    measured = found.get("measured", "not measured")
    return "none" if measured is None else measured


def _raised(information: Any) -> bool:
    """Whether a result holds an exception, of itself or of one of its metrics."""
    if not isinstance(information, dict):
        return bool(information)
    return bool(information.get("raised_exception")) or any(
        _raised(nested) for nested in information.values() if isinstance(nested, dict)
    )


def _failed(kind: str, name: str, why: str) -> Measurement:
    return _stock(kind, name, f"{kind}: {why}", "not evaluated", required="evaluated", passed=False, measured=False)


def _stock(
    kind: str, name: str, sentence: str, observed: str, *, passed: bool, measured: bool, required: str = "holds"
) -> Measurement:
    """Return the measurement of an expectation of another library: only whether it holds is known."""
    return Measurement(
        model=kind,
        name=name,
        columns=(),
        passed=passed,
        observed=observed,
        required=required,
        sentence=sentence,
        measured=measured,
    )


def stand_in(frequencies: FrequencyTable, weight_column: str) -> pd.DataFrame:
    """
    Return an empty table that has the columns of the frequencies, and ``weight_column``.

    Our metrics find the frequencies that it stands for; other code refuses it, because it has no rows.

    :raises InvalidInputError: the file itself has an undeclared column of that name.
    """
    if weight_column in frequencies.names:
        raise InvalidInputError(
            f"a column named {weight_column} is in the file but not declared; "
            "drop it or declare it in the publication file"
        )
    return pd.DataFrame(columns=[*frequencies.names, weight_column])


def row_batch(table: Table) -> pd.DataFrame:
    """Return the rows with every cell as text."""
    return table.to_arrow().to_pandas()


def number_batch(table: Table) -> pd.DataFrame:
    """Return the rows; a column is numbers if every cell that is not a gap is a number, else text."""
    rows = row_batch(table)
    for name in rows.columns:
        numbers = pd.to_numeric(rows[name], errors="coerce")
        if numbers.notna().any() and numbers.isna().equals(rows[name].isna()):
            rows[name] = numbers
    return rows
