"""``anon`` when somebody stops it: it cleans up, says no more than that, and does not go on."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import time

import pytest

from tests.faults.anon_process import anon, start
from tests.faults.publications import people, staged_files, versions_of, write_publication


@pytest.mark.parametrize("name", ["SIGTERM", "SIGINT", "SIGHUP"])
def test_a_run_that_is_asked_to_stop_cleans_up(tmp_path, name):
    home = tmp_path / "home"
    spec = write_publication(tmp_path, people(3000))
    running = start("run", spec, home=home)
    while not staged_files(home):
        time.sleep(0.01)
    os.kill(running.pid, getattr(signal, name))
    ended = running.wait()
    assert ended.code == 130, ended.err
    assert "Traceback" not in ended.err
    assert staged_files(home) == []
    assert versions_of(spec) == []
    assert anon("audit", "list", "--json", home=home).json["runs"][0]["verdict"] == "failed"


def run_as_profile(body: str) -> subprocess.CompletedProcess[str]:
    """Run ``anon profile`` in a process of its own, with this in place of what it does."""
    script = f"""
import logging, os, signal, sys, time, warnings
import click
from anon_airflow import cli
from anon_airflow.commands import profile

@click.command()
def instead():
{textwrap.indent(textwrap.dedent(body), "    ")}

profile.profile = instead
sys.argv = ["anon", "profile"]
cli.main()
"""
    return subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False, timeout=60)


def test_what_libraries_log_and_warn_of_is_not_shown():
    """SQLAlchemy's pool logs a traceback when a signal comes while it closes a connection."""
    ended = run_as_profile("""
        logging.getLogger("anon_core.own").warning("our own words")
        warnings.warn("QanaryWarned")
        try:
            raise KeyboardInterrupt("QanaryRaised")
        except KeyboardInterrupt:
            logging.getLogger("sqlalchemy.pool").error("QanaryLogged", exc_info=True)
            raise
    """)
    assert ended.returncode == 130
    assert ended.stdout == ""
    assert ended.stderr.split("\n") == [
        "WARNING our own words",
        "",
        "stopped",
        "",
    ]  # The empty one is click's, after ^C.


def test_a_stop_that_falls_into_a_destructor_is_not_lost():
    """Python drops what is raised there: a run went on, and published, after Ctrl-C had hit the garbage collector."""
    ended = run_as_profile("""
        class Collected:
            def __del__(self):
                os.kill(os.getpid(), signal.SIGTERM)
                for _ in range(1000):
                    pass

        Collected()
        time.sleep(10)
        click.echo("published")
    """)
    assert ended.returncode == 130, ended.stderr
    assert ended.stdout == ""
    assert ended.stderr.split() == ["stopped"]
