"""``anon``: the command line of the data steward, before anything is scheduled, and of scripts.

Exit code 0: it holds; 1: the data does not comply; 2: the call or the input is wrong.
"""

from __future__ import annotations

import importlib
import logging
import signal
import sys
import warnings
from typing import NoReturn

import click

from anon_core import __version__
from anon_core.errors import AnonError, ComplianceError, InternalError

COMMANDS = (
    "init",
    "profile",
    "detect",
    "select",
    "uccs",
    "score",
    "decompose",
    "hierarchy",
    "recode",
    "check",
    "freeform",
    "run",
    "withdraw",
    "approval",
    "audit",
)


class _Commands(click.Group):
    """Imports a command when it is called: a small table is answered in the time that importing all would take."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        module = importlib.import_module(f"anon_airflow.commands.{cmd_name}")
        command: click.Command = getattr(module, cmd_name)
        return command


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.version_option(__version__, prog_name="anon")
def anon() -> None:
    """Publish open data without singling anyone out.

    Start with `anon profile TABLE` and `anon detect TABLE` to see what a table gives away, let `anon init TABLE` write
    a publication file, and try the whole way to the portal with `anon run SPEC`. Airflow then does it on schedule.

    Exit codes: 0 it holds, 1 the data does not comply, 2 the call or the input is wrong.
    """


def main() -> None:
    """Run the command; every error of ours is a message and an exit code, never a traceback."""
    _speak_for_ourselves()
    stops: list[int] = []

    def stop(number: int, _: object) -> None:
        """End like Ctrl-C: the run is put on record and its staging area is removed."""
        stops.append(number)
        raise KeyboardInterrupt

    def lost(dropped: sys.UnraisableHookArgs) -> None:
        """Stop again: an interrupt that falls into a destructor or a callback is dropped, and the run would go on."""
        if issubclass(dropped.exc_type, KeyboardInterrupt):
            signal.setitimer(signal.ITIMER_REAL, 0.02)

    sys.unraisablehook = lost
    signal.signal(signal.SIGALRM, stop)
    for name in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        # Ignored ones stay so: under nohup, or in the background of a shell.
        if signal.getsignal(name) in (signal.SIG_DFL, signal.default_int_handler):
            signal.signal(name, stop)
    try:
        # Without standalone mode click returns the code of an Exit in place of raising it.
        code = anon(standalone_mode=False)
    except click.exceptions.Abort:
        _stopped()
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
        if stops:  # What is interrupted, a compiled loop or a compiler, may end with an error of any kind.
            _stopped()
        from anon_airflow.guard import place_of

        click.echo(f"anon: {InternalError(type(error).__name__, place_of(error))}", err=True)
        sys.exit(2)
    sys.exit(code if isinstance(code, int) else 0)


def _speak_for_ourselves() -> None:
    """Show our own warnings only: what a library logs or warns of may quote a cell."""
    voice = logging.StreamHandler(sys.stderr)
    voice.addFilter(lambda record: record.name.split(".")[0] in ("anon_core", "anon_airflow"))
    logging.basicConfig(format="%(levelname)s %(message)s", level=logging.WARNING, handlers=[voice])
    if not sys.warnoptions:
        warnings.simplefilter("ignore")


def _stopped() -> NoReturn:
    recorded = "; `anon audit list` shows how far it got" if "run" in sys.argv[1:2] else ""
    click.echo(f"stopped{recorded}", err=True)
    sys.exit(130)


if __name__ == "__main__":
    main()
