"""Replace errors of libraries, which may quote a cell, by messages of our own when they leave a step."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable
from typing import Concatenate, ParamSpec, TypeVar

from anon_airflow.run import cancellation
from anon_airflow.run.context import Run
from anon_airflow.run.lease import leased
from anon_airflow.run.safe_errors import place_of, reason_of
from anon_core.errors import AnonError, ComplianceError, InternalError, RefusedError, StorageError
from anon_core.extras import missing_extra

P = ParamSpec("P")
T = TypeVar("T")

STOPPED = "a person, or a time limit, has stopped it"
INFORMING = ("detect", "score")
"""Steps that decide nothing: the internal report names one that failed, and the run goes on."""


def step(function: Callable[Concatenate[Run, P], T]) -> Callable[Concatenate[Run, P], T]:
    """
    Make a function a step of a run.

    Errors of ours pass, without the library's error as their cause; a refusal goes on record first. Any other error
    becomes an :class:`InternalError` that names the place, not the text. If a stop was requested, the step ends as
    stopped, even if a library turned the interrupt into another error: the run must not go on record as a refusal, nor
    be published.
    """

    @functools.wraps(function)
    def guarded(run: Run, /, *args: P.args, **kwargs: P.kwargs) -> T:
        try:
            cancellation.check()
            try:
                with leased(run):
                    return function(run, *args, **kwargs)
            except Exception:  # A library may have turned an interrupt into this error: then stop.
                cancellation.check()
                raise
        except ComplianceError as error:
            _put_on_record(run, function.__name__, error)
            raise error from None
        except Exception as error:  # noqa: BLE001 - The text of an unknown error must not leave the step.
            ours = _ours(error, function.__name__)
            _note_failure(run, function.__name__, str(ours))
            raise ours from None
        except BaseException as stop:
            # Ctrl-C, or an interrupt of Airflow. Its context may be an error of a library, with a cell in its text.
            _note_failure(run, function.__name__, STOPPED)
            raise stop from None

    return guarded


def _note_failure(run: Run, name: str, reason: str) -> None:
    with contextlib.suppress(AnonError):  # The disk may be full.
        run.note(failure_of(name), {"step": name, "reason": reason})


def failure_of(name: str) -> str:
    """Return the name of the note about a failed step. One note stops a run; steps that only inform have their own."""
    return f"{name}-failure" if name in INFORMING else "failure"


def _ours(error: Exception, name: str) -> AnonError:
    """Return an error of ours for any error."""
    if isinstance(error, AnonError):
        return error
    if isinstance(error, OSError):
        return StorageError(str(error.filename or "the disk"), f"step `{name}`", reason_of(error))
    return missing_extra(error, f"step `{name}`") or InternalError(type(error).__name__, place_of(error))


def _put_on_record(run: Run, name: str, error: ComplianceError) -> None:
    reasons = list(error.reasons) if isinstance(error, RefusedError) else [str(error)]
    by = error.by if isinstance(error, RefusedError) else name
    with run.audit() as audit:
        audit.append("refusals", run_id=run.run_id, dataset=run.dataset, by=by, reasons=reasons)
