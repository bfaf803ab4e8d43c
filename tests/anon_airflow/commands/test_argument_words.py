"""The core speaks of arguments; a command prints its options."""

from __future__ import annotations

import re
from pathlib import Path

import click
import pytest

from anon_airflow.cli import COMMANDS, anon
from anon_airflow.commands.argument_words import as_options
from anon_core.detection.search_size import check_search_size
from anon_core.errors import InvalidInputError, UnknownLabelsError
from anon_core.measures.linkage.four_ks import UNPAIRED

CORE = Path(__file__).resolve().parents[3] / "anon_core"


def command(name: str) -> click.Command:
    return anon.get_command(click.Context(anon), name)


def test_the_core_names_options_only_as_part_of_a_whole_command():
    for path in CORE.rglob("*.py"):
        source = re.sub(r"`anon [^`]*`", "", path.read_text(encoding="utf-8"))
        assert not re.findall(r"(?<![\w-])--[a-z][\w-]*", source), path


@pytest.mark.parametrize(
    ("name", "text", "printed"),
    [
        ("check", UNPAIRED, UNPAIRED.replace("same_order=True", "--same-order").replace("key=COLUMN", "--key COLUMN")),
        ("check", str(UnknownLabelsError({"sex": (1, 2)})), "made them (--spec)"),
        ("check", "name some with quasi=, or give k=5", "name some with --quasi, or give -k 5"),
        (
            "score",
            "mask= hides at least 1 character; probability= is there",
            "--mask hides at least 1 character; --p is",
        ),
        ("detect", "sweep=rows is not an option of this one", "sweep=rows is not an option"),
        ("decompose", "(source.encoding, or encoding=), such as cp1252", "(source.encoding, or --encoding), such as"),
        ("hierarchy", "delimiter=, or auto", "--delimiter, or auto"),
    ],
)
def test_an_argument_is_printed_as_the_option_of_the_command(name, text, printed):
    assert printed in as_options(text, command(name))


def test_a_search_that_needs_a_size_says_so_in_options():
    with pytest.raises(InvalidInputError) as refused:
        check_search_size(1_000, None)
    said = as_options(str(refused.value), command("uccs"))
    assert "--max-size 3" in said and "--columns" in said and "--exclude" in said and "=" not in said


def test_names_in_quotes_and_settings_stay():
    assert (
        as_options("no column named 'key=' in `columns=`", command("check")) == "no column named 'key=' in `columns=`"
    )


@pytest.mark.parametrize("name", COMMANDS)
def test_a_text_without_arguments_stays(name):
    assert as_options("k 5 not reached: best 1, 2 of 3 rows at risk", command(name)).startswith("k 5 not reached")
