"""
Fuzzing: ``python -m tests.fuzz TARGET|all``, or ``make fuzz``.

What it is
    Every way in which input from outside gets into anonflow is a *target*, one file each in ``tests/fuzz/targets``: a
    function of choices (:mod:`tests.fuzz.drawing`). Two engines make the choices. Atheris (libFuzzer) mutates bytes and
    keeps those that reach new code in ``anon_core`` and ``anon_airflow``; Hypothesis draws structure. Both kinds of
    cases are files of bytes in the end, so each can be tried again anywhere, without either engine.

What is a finding
    :mod:`tests.fuzz.oracle`: an exception that is none of ours, or an ``InternalError``; a traceback; an exit code
    other than 0, 1, 2; more than 20 s or 1 GB; a canary, planted in cells, in anything that is shown, logged or kept.

What to do with one
    Its input is in ``.test-output/fuzz/findings/TARGET/``, with what happened beside it. Mend it, and copy the input
    into ``tests/fuzz/corpus/TARGET/``: ``make test`` tries all of them, without Atheris (``test_corpus.py`` here).

How long
    ``make fuzz`` shares out ten thousand cases, ``make fuzz CASES=1000000`` a million; what Atheris learnt stays in
    ``.test-output/fuzz/corpus``. Without Atheris (``--engine hypothesis``) everything is drawn.
"""

from __future__ import annotations

import argparse
import importlib.util
import sys
from pathlib import Path

from tests.fuzz.driver import Plan, Result, run
from tests.fuzz.target import MODULES

OUTPUT = Path(".test-output/fuzz")


def main() -> int:
    """Run what the command line asks for; return 1 if there is a finding."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description="Fuzz anonflow.")
    parser.add_argument(
        "targets", nargs="+", choices=["all", *MODULES], metavar="TARGET", help=f"all, {', '.join(MODULES)}"
    )
    parser.add_argument("--cases", type=int, default=10_000, help="in all, shared out among the targets")
    parser.add_argument("--seconds", type=float, default=3600, help="at most, for each target")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=1, help="targets at a time")
    parser.add_argument("--corpus", type=Path, default=OUTPUT / "corpus", help="where Atheris keeps what it learns")
    parser.add_argument("--engine", choices=["atheris", "hypothesis"])
    given = parser.parse_args()
    engine = given.engine or ("atheris" if importlib.util.find_spec("atheris") else "hypothesis")
    names = list(MODULES) if "all" in given.targets else given.targets
    plan = Plan(
        names=names, cases=given.cases, seconds=given.seconds, seed=given.seed, corpus=given.corpus.absolute(),
        output=OUTPUT.absolute(), engine=engine, jobs=given.jobs,
    )  # fmt: skip
    plan.output.mkdir(parents=True, exist_ok=True)
    results = run(plan)
    _print(results)
    return int(any(result.findings for result in results))


def _print(results: list[Result]) -> None:
    print(f"{'target':<18}{'cases':>10}{'CPU s':>8}{'per s':>8}{'edges':>8}{'findings':>10}")
    for one in results:
        speed = one.cases / one.cpu if one.cpu else 0
        figures = f"{one.cases:>10,}{one.cpu:>8,.0f}{speed:>8,.0f}{one.edges or '-':>8}"
        print(f"{one.name:<18}{figures}{len(one.findings):>10}")
    cases, seconds = sum(one.cases for one in results), sum(one.cpu for one in results)
    findings = sum(len(one.findings) for one in results)
    print(f"{'all':<18}{cases:>10,}{seconds:>8,.0f}{cases / max(seconds, 1e-9):>8,.0f}{'':>8}{findings:>10}")
    for one in results:
        for signature, times in sorted(one.findings.items()):
            print(f"  {one.name}: {signature} ({times} times)")
    if any(one.findings for one in results):
        print(f"the inputs are in {OUTPUT / 'findings'}", file=sys.stderr)


if __name__ == "__main__":
    sys.exit(main())
