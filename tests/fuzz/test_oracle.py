"""The oracle finds what it should: a fuzzer that cannot fail proves nothing."""

from __future__ import annotations

import sys

import click
import pytest

from anon_core.errors import InternalError, InvalidInputError, TableError
from tests.fuzz.drawing import Draw, HypothesisDraw
from tests.fuzz.findings import Findings
from tests.fuzz.oracle import CANARY, FindingError, command, judged, limits, logged_text


def fail(error: BaseException):
    raise error


def test_a_refusal_in_our_words_is_no_finding():
    assert judged(fail, TableError("t.csv", "is empty", "look")) is None
    assert judged(lambda: 3) == 3


@pytest.mark.parametrize(
    "error", [ValueError("x"), InternalError("KeyError", "a.py:1"), MemoryError(), RecursionError(), SystemExit(3)]
)
def test_an_error_of_another_kind_is_a_finding(error):
    with pytest.raises(FindingError, match=type(error).__name__):
        judged(fail, error)


def test_a_canary_is_found_in_a_message_in_arguments_and_in_what_is_behind_an_error():
    for error in (InvalidInputError(CANARY), TableError("t", "w", CANARY)):
        with pytest.raises(FindingError, match="canary"):
            judged(fail, error)

    def chained(cause):
        try:
            raise ValueError(CANARY)
        except ValueError as error:
            raise InvalidInputError("no") from (error if cause else None)

    with pytest.raises(FindingError, match="canary"):
        judged(chained, True)
    assert judged(chained, False) is None, "what is suppressed is not logged"
    noted = InvalidInputError("no")
    noted.add_note(CANARY)
    assert CANARY in logged_text(noted)


@pytest.mark.parametrize(
    ("main", "what"),
    [
        (lambda: fail(ValueError("x")), "traceback of ValueError"),
        (lambda: sys.exit(3), "exit code 3"),
        (lambda: click.echo("This is a bug in anonflow", err=True), "bug in anonflow"),
        (lambda: click.echo("Traceback (most recent call last)"), "traceback printed"),
        (lambda: click.echo(f"a {CANARY}"), "canary"),
        (lambda: click.echo("\udcff"), "traceback of UnicodeEncodeError"),
    ],
)
def test_a_command_that_ends_badly_is_a_finding(main, what):
    with pytest.raises(FindingError, match=what.replace("(", r"\(")):
        command(main, ["audit", "list"])


def test_a_command_that_ends_well_leaves_the_process_as_it_was():
    before = sys.argv, sys.stdout, sys.stderr
    ended = command(lambda: (click.echo("yes"), sys.exit(1)), ["check"])
    assert (ended.code, ended.out, ended.err) == (1, "yes\n", "")
    assert (sys.argv, sys.stdout, sys.stderr) == before


def test_a_case_that_takes_too_long_or_too_much_is_a_finding(monkeypatch):
    monkeypatch.setattr("tests.fuzz.oracle.MAX_SECONDS", -1.0)
    with pytest.raises(FindingError, match="too slow"), limits(0):
        pass
    monkeypatch.undo()
    monkeypatch.setattr("tests.fuzz.oracle.MAX_BYTES", -1)
    with pytest.raises(FindingError, match="too much memory"), limits(0):
        pass


def test_what_hypothesis_draws_can_be_drawn_again_from_bytes():
    from hypothesis import given, settings
    from hypothesis import strategies as st

    def choices(draw: Draw):
        return [
            draw.number(-3, 70_000),
            draw.pick("abc"),
            draw.chance(3),
            draw.several("xy", 4),
            draw.text(),
            draw.rest(),
        ]

    @settings(max_examples=50, database=None, deadline=None)
    @given(st.data())
    def same(data):
        drawn = HypothesisDraw(data)
        first = choices(drawn)
        assert choices(Draw(bytes(drawn.recorded))) == first

    same()


def test_of_findings_with_one_cause_one_input_is_kept_and_made_smaller(tmp_path):
    findings = Findings(tmp_path)
    for data in (b"aaaaaaaXaaaa", b"X"):
        findings.keep(FindingError("kind", "place"), data, lambda each: "kind at place" if b"X" in each else None)
    (kept,) = [path for path in tmp_path.iterdir() if not path.suffix]
    assert kept.read_bytes() == b"X"
    assert findings.counts == {"kind at place": 2}
