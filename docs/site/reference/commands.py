"""The page of the command line, from the commands themselves."""

from __future__ import annotations

import inspect
from collections.abc import Iterator

import click

from docs.site.reference.markdown import code, plain, table


def page(program: click.Command | None = None) -> str:
    """Return the help of ``anon`` and all its commands; every command that click finds is there."""
    if program is None:
        from anon_airflow.cli import anon as program
    parts = [
        "Made from the commands when this site was built. [The command line](../commands.md) says which is for what."
    ]
    for path, command, context in all_commands(program):
        parts += [f"{'#' * min(len(path) + 1, 4)} {' '.join(path)}", *_body(command, context)]
    return "\n\n".join(parts) + "\n"


def all_commands(
    command: click.Command, context: click.Context | None = None
) -> Iterator[tuple[tuple[str, ...], click.Command, click.Context]]:
    """Yield a command and everything below it, each with the words that call it."""
    context = context or click.Context(command, info_name=command.name, **command.context_settings)
    yield tuple(context.command_path.split()), command, context
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            if below := command.get_command(context, name):
                yield from all_commands(
                    below, click.Context(below, info_name=name, parent=context, **below.context_settings)
                )


def _body(command: click.Command, context: click.Context) -> list[str]:
    usage = " ".join([context.command_path, *command.collect_usage_pieces(context)])
    parts = [f"```text\n{usage}\n```", *_paragraphs(command.help or command.short_help or "")]
    rows = [record for param in command.get_params(context) if (record := param.get_help_record(context))]
    return [
        *parts,
        table(["option", "meaning"], [[code(" ".join(names.split())), plain(text)] for names, text in rows]),
    ]


def _paragraphs(text: str) -> Iterator[str]:
    for block in inspect.cleandoc(text).split("\f")[0].split("\n\n"):
        if block.startswith("\b"):  # Click keeps the lines of such a block.
            yield "```text\n" + block.removeprefix("\b").strip("\n") + "\n```"
        else:
            yield plain(block)
