"""Translate messages of the core from arguments to options: ``max_size=3`` becomes ``--max-size 3``."""

from __future__ import annotations

import re

import click

_ARGUMENT = re.compile(r"(?<![\w.`'\"-])([a-z][a-z_]*)=(\w+(?![\w.]))?")
_OTHER_NAMES = {"probability": "probabilities", "mask": "masks"}
"""Arguments whose option has another name."""


def as_options(text: str, command: click.Command | None) -> str:
    """
    Return a message of the core with a command's options in place of arguments; an argument without an option stays.

    >>> options = [click.Option(["--max-size"], type=int), click.Option(["--same-order"], is_flag=True)]
    >>> as_options("give max_size=3 (seed=1), or same_order=True", click.Command("detect", params=options))
    'give --max-size 3 (seed=1), or --same-order'
    """
    options = _options_of(command) if command is not None else {}

    def option(found: re.Match[str]) -> str:
        name, value = found.groups()
        known = options.get(_OTHER_NAMES.get(name, name))
        if known is None:
            return found.group()
        written = max(known.opts, key=len)
        return written if value is None or known.is_flag else f"{written} {value}"

    return _ARGUMENT.sub(option, text)


def called() -> click.Command | None:
    """Return the command that is running, the innermost one."""
    context = click.get_current_context(silent=True)
    return context.command if context else None


def _options_of(command: click.Command) -> dict[str, click.Option]:
    """Return the options of a command by the names of its arguments, those of its subcommands included."""
    found: dict[str, click.Option] = {}
    if isinstance(command, click.Group):
        for one in command.commands.values():
            found |= _options_of(one)
    return found | {str(one.name): one for one in command.params if isinstance(one, click.Option)}
