"""``anon compile``: the compiled loops, once per machine or image, so that no run waits for a compiler."""

from __future__ import annotations

from dataclasses import asdict

import click

from anon_airflow.commands.output import Stopwatch, json_option, print_json, several


@click.command(short_help="Compile the inner loops, once per machine or image.")
@json_option
def compile(as_json: bool) -> None:  # noqa: A001 - The name of the command.
    """Compile the loops that large tables go through, and keep them for later processes.

    Without it each loop is compiled where it is first needed, by some run. What is kept already is not compiled again.
    The folder is NUMBA_CACHE_DIR if that is set, else the package's own, else the user's cache folder; processes that
    find it again have the same setting, the same type of processor and the same versions. Exit code 2: no such folder
    can be written.
    """
    from anon_core.kernels.compiled.ahead import compile_ahead

    watch = Stopwatch()
    done = compile_ahead(lambda at, most: watch(f"compiling: {at} of {most}"))
    if as_json:
        print_json({**asdict(done), "folder": str(done.folder)})
        return
    kept = f"{several(done.variants, 'variant')} of {several(done.loops, 'loop')} in {done.folder}"
    click.echo(f"{kept}: {done.fresh} compiled, {done.variants - done.fresh} kept from before")
