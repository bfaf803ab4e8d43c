"""``anon``: the command line, for data stewards before they schedule a publication, and for scripts.

Exit code 0: the data complies; 1: the data does not comply; 2: the call or the input is wrong.
"""

from __future__ import annotations

import importlib
import io
import logging
import signal
import sys
import warnings
from typing import NoReturn

import click

from anon_airflow.commands.argument_words import as_options
from anon_airflow.run import cancellation
from anon_core import __version__
from anon_core.errors import AnonError, ComplianceError, InternalError, MissingExtraError
from anon_core.extras import missing_extra, require_extra
from anon_core.files.name_rules import is_utf8

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
    "validate",
    "run",
    "withdraw",
    "sweep",
    "approval",
    "policy",
    "audit",
    "compile",
)

NEED_GATE = ("run", "withdraw", "sweep", "approval", "audit")
"""Commands that judge, publish or read the audit store: they need the extra `gate`."""

STOPS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class _Commands(click.Group):
    """Imports a command only when it is called: importing all of them takes longer than work on a small table."""

    called: click.Command | None = None
    """The command that was called: an error message names its options."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name, command, rest = super().resolve_command(ctx, args)
        self.called = command
        return name, command, rest

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Refuse arguments that are no text: bytes that the locale cannot read can be neither compared nor printed."""
        odd = [str(at) for at, text in enumerate(args, 1) if not is_utf8(text)]
        if odd:
            raise click.UsageError(
                f"argument {', '.join(odd)} is not text in the encoding of this terminal (probably UTF-8); "
                "rename the file, or write the argument in that encoding"
            )
        return super().parse_args(ctx, args)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        if cmd_name in NEED_GATE:
            try:
                require_extra("gate", f"`anon {cmd_name}`")
            except MissingExtraError as missing:
                return _Unavailable(cmd_name, missing)
        module = importlib.import_module(f"anon_airflow.commands.{cmd_name}")
        command: click.Command = getattr(module, cmd_name)
        return command


class _Unavailable(click.Command):
    """Stands for a command whose extra is not installed: `anon --help` lists it, and a call names the extra."""

    def __init__(self, name: str, missing: MissingExtraError) -> None:
        super().__init__(name, short_help=f"Needs the extra `{missing.extra}`, which is not installed.")
        self.missing = missing

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        raise self.missing


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.version_option(__version__, prog_name="anon")
def anon() -> None:
    """Publish open data about people; each release is measured before it is published.

    Start with `anon profile TABLE` and `anon detect TABLE` to see what a table gives away. `anon init TABLE` writes a
    draft publication file, and `anon run SPEC` publishes once, by hand. Airflow then publishes on schedule.

    Exit codes: 0 the data complies, 1 the data does not comply, 2 the call or the input is wrong.
    """


def main() -> None:
    """Run the command. An error ends in a message and an exit code, never in a traceback."""
    _configure_output()
    try:
        # Nested, so that a signal that arrives at the very end is handled like any other.
        try:
            _handle_signals()
            # Without standalone mode click returns the exit code instead of raising it.
            code = anon(standalone_mode=False)
        finally:
            _ignore_signals()
    except (click.exceptions.Abort, KeyboardInterrupt):
        _exit_stopped()
    except BrokenPipeError:
        sys.stderr.close()
        sys.exit(141)
    except Exception as error:  # noqa: BLE001 - A library's message may quote a cell: print the place only.
        # An interrupted library, such as a compiled loop or a compiler, may raise an error of any kind.
        if cancellation.was_requested():
            _exit_stopped()
        sys.exit(_report_error(error))
    sys.exit(code if isinstance(code, int) else 0)


def _handle_signals() -> None:
    """Handle SIGTERM and SIGHUP like Ctrl-C: the run goes on record and its staging area is removed."""

    def lost(dropped: sys.UnraisableHookArgs) -> None:
        """Raise the interrupt again: Python drops one that falls into a destructor or a callback."""
        if issubclass(dropped.exc_type, KeyboardInterrupt):
            signal.setitimer(signal.ITIMER_REAL, 0.02)

    cancellation.reset()
    sys.unraisablehook = lost
    signal.signal(signal.SIGALRM, lambda *_: cancellation.check())
    for name in STOPS:
        # A signal that is ignored stays ignored: under nohup, or in the background of a shell.
        if signal.getsignal(name) in (signal.SIG_DFL, signal.default_int_handler):
            signal.signal(name, lambda *_: cancellation.stop())


def _ignore_signals() -> None:
    """Ignore signals between the end of the work and the exit code."""
    cancellation.ignore_stops()
    signal.setitimer(signal.ITIMER_REAL, 0)
    for name in STOPS:
        signal.signal(name, signal.SIG_IGN)


def _report_error(error: Exception) -> int:
    """Print what went wrong, and return the exit code."""
    if isinstance(error, click.ClickException):
        error.show()
        return 2
    error = missing_extra(error, "this command") or error
    if isinstance(error, AnonError):
        click.echo(f"anon: {as_options(str(error), _called())}", err=True)
        return 1 if isinstance(error, ComplianceError) else 2
    from anon_airflow.run.safe_errors import place_of, reason_of

    if isinstance(error, OSError) and error.errno:
        where = f" {error.filename}" if isinstance(error.filename, str) else ""
        click.echo(f"anon: the operating system refuses{where}: {reason_of(error)}", err=True)
        return 2
    click.echo(f"anon: {InternalError(type(error).__name__, place_of(error))}", err=True)
    return 2


def _called() -> click.Command | None:
    return anon.called if isinstance(anon, _Commands) else None


def _configure_output() -> None:
    """
    Show only warnings of this project, since those of a library may quote a cell.

    Characters that the terminal cannot show are written as their codes.
    """
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    handler = logging.StreamHandler(sys.stderr)
    handler.addFilter(lambda record: record.name.split(".")[0] in ("anon_core", "anon_airflow"))
    logging.basicConfig(format="%(levelname)s %(message)s", level=logging.WARNING, handlers=[handler])
    if not sys.warnoptions:
        warnings.simplefilter("ignore")


def _exit_stopped() -> NoReturn:
    recorded = "; `anon audit list` shows how far it got" if "run" in sys.argv[1:2] else ""
    click.echo(f"stopped{recorded}", err=True)
    sys.exit(130)


if __name__ == "__main__":
    main()
