"""What may stand in a template in ``source.file``: dates of the period, and nothing that gives a long text."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anon_airflow.sources.staging import source_of
from anon_airflow.sources.template import render
from anon_core.errors import InvalidInputError
from anon_core.spec.paths import MAX_PATH_LENGTH
from anon_core.spec.templates import ALLOWED, MAX_TEMPLATE_LENGTH, template_problem
from tests.anon_core.spec.spec_files import MINIMAL, changed, folder, load, problems  # noqa: F401 - `folder` is a fixture

START, END = datetime(2026, 10, 1, tzinfo=UTC), datetime(2026, 11, 1, tzinfo=UTC)
MAX_FILLED_LENGTH = 20 * MAX_TEMPLATE_LENGTH
"""No admitted template gives more: a format of two characters gives at most the name of a time zone."""

RUNAWAYS = [
    "{{ 'x' * (10**9) }}",
    "{{ 10**10**10 }}",
    "{{ 'x' * 1000000000 }}",
    "{% for i in range(100000) %}{% for j in range(100000) %}x{% endfor %}{% endfor %}",
    "{% set x = 'x' %}{{ x }}",
    "{% raw %}{% endraw %}{% if true %}x{% endif %}",
    "{% macro m(n) %}{{ m(n) }}{% endmacro %}{{ m(1) }}",
    "{{ '{:>1000000000}'.format(1) }}",
    "{{ ds.format('x') }}",
    "{{ ds.ljust(1000000000) }}",
    "{{ ds.replace('2', 'x' ) }}",
    "{{ '%1000000000d' % 1 }}",
    "{{ '%1000000000d' | format(1) }}",
    "{{ ds | center(1000000000) }}",
    "{{ ds | indent(1000000000) }}",
    "{{ [1] | join('x') }}",
    "{{ range(1000000000) | list }}",
    "{{ lipsum(1000000) }}",
    "{{ data_interval_start.strftime('%1000000000d') }}",
    "{{ data_interval_start.strftime('%' ~ 'd') }}",
    "{{ data_interval_start.format('YYYY', locale='../x') }}",
    "{{ data_interval_start.in_timezone('../../etc/passwd') }}",
    "{{ data_interval_start.__class__ }}",
    "{{ data_interval_start.add.__globals__ }}",
    "{{ data_interval_start['year'] }}",
    "{{ data_interval_start.add(**{'days': 1}) }}",
    "{{ data_interval_start.add(days=data_interval_start.year) }}",
    "{{ data_interval_start.add(days=1000000000000) }}",
    "{{ data_interval_start.replace(tzinfo=1) }}",
    "{{ data_interval_start - data_interval_end }}",
    "{{ macros.timedelta(days=1) }}",
    "{{ macros.ds_format(ds, '%Y', '%1000000000Y') }}",
    "{{ macros.random() }}",
    "{{ macros }}",
    "{{ macros.uuid.uuid4() }}",
    "{{ dag_run.conf.path }}",
    "{{ var.value.path }}",
    "{{ params.path }}",
    "{{ ti.xcom_pull('x') }}",
    "{{ 'a' if ds else 'b' }}",
    "{{ ds is string }}",
    "{{ ds == ds }}",
    "{{ not ds }}",
    "{{ {'a': 1} }}",
    "{{ 1.5 }}",
    "{{ 1e400 }}",
    "{{ true }}",
    "{{ none }}",
    "{{ 1" + "0" * 400 + " }}",
    "{{ " + "(" * 200 + "1" + ")" * 200 + " }}",
    "{{ " + "-" * 300 + "1 }}",
    "{{ " + "1+" * 100 + "1 }}",
    "{{ " + "[" * 200 + " }}",
    "{{ " + "{1:" * 100 + " }}",
    "{{ ds",
    "{% ds %}",
    "{# ds",
    "x" * MAX_TEMPLATE_LENGTH + "{{ ds }}",
    "{{ ds }}\0",
    "{{ ds }}\n",
]


@pytest.mark.parametrize("template", RUNAWAYS)
def test_what_could_give_a_long_text_is_refused_when_the_file_is_read(folder: Path, template: str) -> None:  # noqa: F811
    begun = time.process_time()
    where = problems(folder, changed(source={"file": template}))
    assert time.process_time() - begun < 5
    (what,) = [what for place, (_, what) in where.items() if place in ("source.file", "")]
    assert len(what) < 1_500


def test_a_refusal_says_what_and_what_is_allowed_and_where_it_stands(folder: Path) -> None:  # noqa: F811
    line, what = problems(folder, changed(source={"file": "{{ dag_run.run_id }}"}))["source.file"]
    assert line == 4
    assert what == f"the template has `.run_id`, which is not allowed; {ALLOWED}"
    assert "data_interval_start" in ALLOWED and "macros.ds_add()" in ALLOWED


@pytest.mark.parametrize("key", ["source", "portal"])
@pytest.mark.parametrize("sign", ["\0", "\x1b[31m", "\r", "\u202e", "\u2028", "\x85"])
def test_a_path_with_characters_that_cannot_be_printed_is_refused(folder: Path, key: str, sign: str) -> None:  # noqa: F811
    text = changed(**{key: {"file" if key == "source" else "folder": "PATH"}})
    escaped = "".join(f"\\U{ord(one):08x}" if one in sign else one for one in f"a{sign}b")
    found = problems(folder, text.replace("PATH", f'"{escaped}"'))
    (what,) = [what for _, what in found.values()]
    assert "a character that cannot be printed (U+" in what
    assert sign[0] not in what


def test_paths_that_people_write_are_taken(folder: Path) -> None:  # noqa: F811
    for path in (
        "in/città (2).csv",
        "in/*.csv",
        "/data/x y/{{ ds }}.csv.gz",
        "in/a[1].csv",
        "in/{{ ds_nodash }}/*.parquet",
    ):
        assert load(folder, changed(source={"file": path})).source.file == path


@pytest.mark.parametrize("path", ["x" * (MAX_PATH_LENGTH + 1), "a\0b", "a\nb", "a\ud800b"])
def test_what_came_out_of_a_template_is_a_path_or_refused_without_being_quoted(folder: Path, path: str) -> None:  # noqa: F811
    with pytest.raises(InvalidInputError) as caught:
        source_of(load(folder, MINIMAL), path).check()
    assert path not in str(caught.value)
    str(caught.value).encode()


def test_a_character_that_a_template_hides_in_an_escape_is_found_in_what_comes_out(folder: Path) -> None:  # noqa: F811
    for hidden in ("\\x1b", "\\0", "\\ud800", "\\n"):
        with pytest.raises(InvalidInputError, match="cannot be printed"):
            source_of(load(folder, MINIMAL), render("in/{{ 'a" + hidden + "' }}.csv", START, END)).check()


def test_a_period_that_is_missing_is_an_error_that_names_the_option() -> None:
    assert render("in/{{ data_interval_start | ds }}.csv", START, None) == "in/2026-10-01.csv"
    for template, start in (("{{ ds }}", None), ("{{ data_interval_end | ds }}", START)):
        with pytest.raises(InvalidInputError, match="--period"):
            render(template, start, None)


def test_a_date_out_of_range_or_a_zone_that_is_none_is_no_bug_of_ours() -> None:
    for template in ("{{ logical_date.add(years=99999) }}", "{{ logical_date.in_timezone('No/Where') }}"):
        with pytest.raises(InvalidInputError, match="cannot be filled in"):
            render(template, START, END)


DATES = st.sampled_from(["data_interval_start", "data_interval_end", "logical_date"])
NUMBERS = st.integers(-200_000, 200_000).map(str)
STRINGS = st.text(st.characters(codec="utf-8", exclude_characters="'\\{}"), max_size=12).map(lambda text: f"'{text}'")
FORMATS = st.text(st.sampled_from("%YmdHMS-jAzZ LQDdXxwo9[]"), max_size=14).map(lambda text: f"'{text}'")


def _grown(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    """Expressions made of others, those that are not allowed too."""
    words = ["ds", "ds_nodash", "ts", "lower", "upper", "format", "center", "replace", "join"]
    methods = [
        "strftime",
        "format",
        "isoformat",
        "add",
        "subtract",
        "start_of",
        "in_timezone",
        "replace",
        "date",
        "ljust",
        "zfill",
    ]
    return st.one_of(
        st.builds("{} {} {}".format, inner, st.sampled_from(["+", "-", "~", "*", "%", "**"]), inner),
        st.builds("({}) | {}".format, inner, st.sampled_from(words)),
        st.builds("({}).{}({})".format, inner, st.sampled_from(methods), st.one_of(FORMATS, inner, st.just(""))),
        st.builds("({}).{}(days={})".format, inner, st.sampled_from(["add", "subtract", "replace"]), NUMBERS),
        st.builds("({}).start_of({})".format, inner, st.sampled_from(["'month'", "'century'", "'x'"])),
        st.builds("({}).{}".format, inner, st.sampled_from(["year", "month", "quarter", "tzinfo"])),
        st.builds("macros.ds_add({}, {})".format, inner, NUMBERS),
        st.builds("macros.ds_format({}, {}, {})".format, inner, FORMATS, FORMATS),
        st.builds("macros.timedelta({})".format, NUMBERS),
    )


SMALL = st.integers(-100, 100).map(str)
UNITS = st.sampled_from(["'month'", "'century'", "'week'", "'day'"])
SHIFTED = st.recursive(
    DATES,
    lambda inner: st.one_of(
        st.builds("{}.{}({}={})".format, inner, st.sampled_from(["add", "subtract"]),
                  st.sampled_from(["days", "months", "years"]), SMALL),
        st.builds("{}.{}({})".format, inner, st.sampled_from(["start_of", "end_of"]), UNITS),
        st.builds("({} - macros.timedelta(days={}))".format, inner, SMALL),
        st.builds("{}.in_timezone('America/Argentina/ComodRivadavia')".format, inner),
    ),
    max_leaves=3,
)  # fmt: skip
WRITTEN = st.one_of(
    st.builds("{}.format({})".format, SHIFTED, FORMATS),
    st.builds("{}.strftime({})".format, SHIFTED, st.sampled_from(["'%Y%m'", "'%A %B %Z %f'", "'%j%%'"])),
    st.builds("({} | {})".format, SHIFTED, st.sampled_from(["ds", "ts", "ts_nodash_with_tz"])),
    st.builds("macros.ds_add(ds, {})".format, SMALL),
    STRINGS,
)
EXPRESSIONS = st.one_of(
    st.lists(WRITTEN, min_size=1, max_size=6).map(" ~ ".join),
    st.recursive(st.one_of(DATES, st.sampled_from(["ds", "ts", "ds_nodash"]), NUMBERS, STRINGS), _grown, max_leaves=8),
)
TEMPLATES = st.lists(
    st.one_of(EXPRESSIONS.map("{{{{ {} }}}}".format), st.text("ab/{}%# ", max_size=6)), min_size=1, max_size=6
).map("".join)


@settings(max_examples=500, deadline=None)
@given(TEMPLATES)
def test_every_template_that_is_admitted_gives_a_short_text(template: str) -> None:
    from anon_airflow.sources.template import _filled

    if template_problem(template):
        return
    begun = time.process_time()
    try:
        filled = _filled(template, START, END)
    except InvalidInputError:
        return  # A date out of range, or a format that the text does not have.
    finally:
        assert time.process_time() - begun < 2
    assert len(filled) <= MAX_FILLED_LENGTH


def test_enough_of_those_templates_are_admitted() -> None:
    """The test above proves nothing where everything it tries is refused."""
    admitted = []

    @settings(max_examples=300, deadline=None, database=None, derandomize=True)
    @given(EXPRESSIONS)
    def tried(expression: str) -> None:
        admitted.append(template_problem(f"{{{{ {expression} }}}}") is None)

    tried()
    assert sum(admitted) > 60


def test_numbers_that_airflows_database_has_no_room_for_are_refused(folder: Path) -> None:  # noqa: F811
    found = problems(folder, changed(airflow={"retries": 10**17, "max_active_runs": 10**17}))
    assert set(found) == {"airflow.retries", "airflow.max_active_runs"}
