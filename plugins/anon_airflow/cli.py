"""``anon``: the command line of the data steward, before anything is scheduled, and of scripts.

Exit code 0: it holds; 1: the data does not comply; 2: the call or the input is wrong.
"""

from __future__ import annotations

import logging
import signal
import sys

import click

from anon_airflow.commands.audit import audit
from anon_airflow.commands.check import check
from anon_airflow.commands.detect import detect
from anon_airflow.commands.init import init
from anon_airflow.commands.profile import profile
from anon_airflow.commands.run import run
from anon_airflow.guard import place_of
from anon_core import __version__
from anon_core.errors import AnonError, ComplianceError, InternalError


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.version_option(__version__, prog_name="anon")
def anon() -> None:
    """Publish open data without singling anyone out.

    Start with `anon profile TABLE` and `anon detect TABLE` to see what a table gives away, let `anon init TABLE` write
    a publication file, and try the whole way to the portal with `anon run SPEC`. Airflow then does it on schedule.

    Exit codes: 0 it holds, 1 the data does not comply, 2 the call or the input is wrong.
    """


for _command in (init, profile, detect, check, run, audit):
    anon.add_command(_command)


def main() -> None:
    """Run the command; every error of ours is a message and an exit code, never a traceback."""
    logging.basicConfig(format="%(levelname)s %(message)s", level=logging.WARNING, stream=sys.stderr)
    sys.unraisablehook = lambda _: None  # What libraries say while an interrupt tears them down may quote a cell.
    for name in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(name) is signal.SIG_DFL:  # not under nohup
            signal.signal(name, _stop)
    try:
        # Without standalone mode click returns the code of an Exit in place of raising it.
        code = anon(standalone_mode=False)
    except click.exceptions.Abort:
        click.echo("stopped; `anon audit list` shows how far it got", err=True)
        sys.exit(130)
    except click.ClickException as wrong:
        wrong.show()
        sys.exit(2)
    except ComplianceError as error:
        click.echo(f"anon: {error}", err=True)
        sys.exit(1)
    except AnonError as error:
        click.echo(f"anon: {error}", err=True)
        sys.exit(2)
    except BrokenPipeError:
        sys.stderr.close()
        sys.exit(141)
    except Exception as error:  # noqa: BLE001 - A library's text may quote a cell: only the place is told.
        click.echo(f"anon: {InternalError(type(error).__name__, place_of(error))}", err=True)
        sys.exit(2)
    sys.exit(code if isinstance(code, int) else 0)


def _stop(*_: object) -> None:
    """End like Ctrl-C: the run is put on record and its staging area is removed."""
    raise KeyboardInterrupt


if __name__ == "__main__":
    main()
