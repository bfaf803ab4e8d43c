"""Fill in the template of a source without Airflow, with the same names, filters and dates as Airflow."""

from __future__ import annotations

from datetime import date, datetime, timedelta
from types import SimpleNamespace
from typing import Any

from anon_core.errors import InvalidInputError
from anon_core.spec.templates import is_template, template_problem


def render(template: str, start: datetime | None, end: datetime | None) -> str:
    """
    Fill in the period, with the same result as in Airflow: ``{{ data_interval_start | ds }}``, ``{{ ds }}`` and so on.

    :raises InvalidInputError: the template needs a period and none was given, or uses something that is not allowed.
    """
    if problem := template_problem(template):
        raise InvalidInputError(f"the template of the source {problem}")
    return _filled(template, start, end) if is_template(template) else template


def _filled(template: str, start: datetime | None, end: datetime | None) -> str:
    from jinja2 import StrictUndefined, TemplateError
    from jinja2.sandbox import SandboxedEnvironment

    environment = SandboxedEnvironment(undefined=StrictUndefined, cache_size=0)
    environment.filters.update(ds=_ds, ds_nodash=_ds_nodash, ts=_ts, ts_nodash=_ts_nodash)
    environment.filters.update(ts_nodash_with_tz=_ts_nodash_with_tz)
    try:
        return environment.from_string(template).render(_known(start, end))
    except Exception as error:  # noqa: BLE001 - A date may be out of range, a time zone unknown, a name missing.
        reason = str(error.message)[:200] if isinstance(error, TemplateError) else type(error).__name__
        raise InvalidInputError(
            f"the template of the source, {template!r}, cannot be filled in ({reason}); "
            "give the period it needs with --period and --period-end"
        ) from None


def _known(start: datetime | None, end: datetime | None) -> dict[str, Any]:
    """Return the names that a template may use; without a period those of the period are missing."""
    import pendulum

    known: dict[str, Any] = {
        "macros": SimpleNamespace(ds_add=_ds_add, ds_format=_ds_format, timedelta=timedelta),
    }
    if start:
        first = pendulum.instance(start)
        known |= {"data_interval_start": first, "logical_date": first}
        known |= {"ds": _ds(first), "ds_nodash": _ds_nodash(first), "ts": _ts(first)}
        known |= {"ts_nodash": _ts_nodash(first), "ts_nodash_with_tz": _ts_nodash_with_tz(first)}
    if end:
        known["data_interval_end"] = pendulum.instance(end)
    return known


# The filters and macros of airflow.sdk, which is not imported here: `anon run` works without Airflow. A test compares
# the results of both.


def _ds(value: date) -> str:
    return value.strftime("%Y-%m-%d")


def _ds_nodash(value: date) -> str:
    return value.strftime("%Y%m%d")


def _ts(value: date) -> str:
    return value.isoformat()


def _ts_nodash(value: date) -> str:
    return value.strftime("%Y%m%dT%H%M%S")


def _ts_nodash_with_tz(value: date) -> str:
    return value.isoformat().replace("-", "").replace(":", "")


def _ds_add(ds: str, days: int) -> str:
    return _ds(datetime.strptime(ds, "%Y-%m-%d") + timedelta(days=days)) if days else ds


def _ds_format(ds: str, input_format: str, output_format: str) -> str:
    return datetime.strptime(ds, input_format).strftime(output_format)
