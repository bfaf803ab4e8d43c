"""The entry point of the ``anon`` command. It does almost nothing, so that Ctrl-C works from the first moment."""

from __future__ import annotations

import signal


def main() -> None:
    """Load the commands and run one. While they load, Ctrl-C ends the process without a message."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    from anon_airflow.cli import main

    main()
