"""Where the ``anon`` command begins: as little as possible, so that Ctrl-C finds it prepared."""

from __future__ import annotations

import signal


def main() -> None:
    """Load the commands and run one. While they load, Ctrl-C just ends the process."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    from anon_airflow.cli import main

    main()
