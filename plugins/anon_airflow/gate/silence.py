"""Silence Great Expectations: its logs, warnings and tracebacks may quote cells."""

from __future__ import annotations

import contextlib
import io
import logging
import warnings
from collections.abc import Iterator


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Suppress the loggers of ``great_expectations``, warnings, and all printed output."""
    names = [name for name in logging.root.manager.loggerDict if name.split(".")[0] == "great_expectations"]
    loggers = [logging.getLogger(name) for name in {"great_expectations", *names}]
    before = [(logger, logger.disabled, logger.propagate) for logger in loggers]
    parent = logging.getLogger("great_expectations")
    silence = logging.NullHandler()
    parent.addHandler(silence)
    for logger in loggers:
        logger.disabled = True
    parent.propagate = False  # For loggers that are created in this block.
    try:
        with (
            warnings.catch_warnings(),
            contextlib.redirect_stdout(io.StringIO()),
            contextlib.redirect_stderr(io.StringIO()),
        ):
            warnings.simplefilter("ignore")
            yield
    finally:
        parent.removeHandler(silence)
        for logger, disabled, propagate in before:
            logger.disabled, logger.propagate = disabled, propagate
