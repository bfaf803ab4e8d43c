# Two commands from nothing to a result: `make demo`, `make test`. `make help` lists the rest.
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help

PYTHON ?= python3
BIN := .venv/bin
PERIOD ?= 2026-11-01
PORT ?= 8080
ROWS ?= 100000
CASES ?= 10000
TARGET ?= all

export AIRFLOW_HOME := $(CURDIR)/.airflow
export AIRFLOW__CORE__DAGS_FOLDER := $(CURDIR)/dags
export AIRFLOW__CORE__LOAD_EXAMPLES := False
export AIRFLOW__CORE__EXECUTOR := LocalExecutor
export AIRFLOW__CORE__SIMPLE_AUTH_MANAGER_USERS := admin:admin
export AIRFLOW__API__HOST := 127.0.0.1
export AIRFLOW__API__PORT := $(PORT)
export AIRFLOW__CORE__EXECUTION_API_SERVER_URL := http://127.0.0.1:$(PORT)/execution/
export ANON_HOME := $(CURDIR)/.anonflow

.PHONY: help install demo up test test-thorough test-slow test-quality test-portal test-browser test-faults test-wheel test-docs fuzz check format lock docs bench clean

help:  ## Show this list.
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

# uv is four times as fast; pip knows indexes that uv does not, and steps in where it fails.
pip_install := $(BIN)/python -m pip install --quiet --disable-pip-version-check

install: .venv/.ready  ## Create .venv and install the locked packages.

.venv/.ready: requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] < (3, 14))' || { echo \
	"anonflow needs Python 3.11, 3.12 or 3.13, and $(PYTHON) is another: try make PYTHON=python3.12 $(MAKECMDGOALS)" >&2; exit 2; }
	@echo "installing the locked packages into .venv (once, about half a minute)"
	@$(PYTHON) -m venv .venv
	@awk '/^uv==/ {found = 1} found {print; if (!/\\$$/) exit}' requirements.lock > .venv/uv.txt
	@$(pip_install) --require-hashes -r .venv/uv.txt
	@UV_HTTP_TIMEOUT=10 UV_HTTP_RETRIES=1 $(BIN)/uv pip install --quiet --python $(BIN)/python --compile-bytecode --require-hashes -r requirements.lock 2>/dev/null || \
	$(pip_install) --require-hashes -r requirements.lock
	@$(pip_install) --no-deps --no-build-isolation --editable .
	@mkdir -p .anonflow && chmod 700 .anonflow
	@echo "compiling the inner loops (once, about half a minute)"
	@$(BIN)/anon compile
	@touch $@

.airflow/.ready: .venv/.ready
	@echo "preparing Airflow on SQLite in .airflow (once)"
	@mkdir -p .airflow
	@$(BIN)/airflow db migrate > .airflow/prepare.log 2>&1 || { cat .airflow/prepare.log >&2; exit 1; }
	@$(BIN)/airflow dags reserialize >> .airflow/prepare.log 2>&1 || { cat .airflow/prepare.log >&2; exit 1; }
	@touch $@

include/samples/driver_licences.csv: include/samples/driver_licences.py .venv/.ready
	@$(BIN)/python include/samples/driver_licences.py --rows $(ROWS) --output $@

# One DAG run in this process, without a scheduler: the log goes to a file, the names of the tasks to the terminal.
dag_test = $(BIN)/airflow dags test $(1) $(PERIOD) 2>&1 | tee .airflow/$(1).log | sed -un 's/.*DAG TEST. starting task_id=\([a-z]*\).*/  \1/p'

include/samples/driving_offences.csv: include/samples/driving_offences.py include/samples/driver_licences.csv
	@$(BIN)/python $< --output $@

demo: .airflow/.ready include/samples/driver_licences.csv include/samples/driving_offences.csv  ## Publish the sample through Airflow, and see a second one refused.
	@if [ -e .airflow/up.pid ] && kill -0 "$$(cat .airflow/up.pid)" 2>/dev/null; then \
	  echo "stop 'make up' first: a test run and a scheduler must not share a database" >&2; exit 2; fi
	@echo "1. publish_driver_licences, through Airflow:"
	@$(call dag_test,publish_driver_licences) || { tail -40 .airflow/publish_driver_licences.log >&2; exit 1; }
	@$(BIN)/anon audit show driver-licences --summary | tee .airflow/demo.txt
	@grep -qE 'PUBLISHED|UNCHANGED' .airflow/demo.txt
	@echo; echo "2. publish_driving_offences, whose rows are not people:"
	@if $(call dag_test,publish_driving_offences); then echo "it should have been refused" >&2; exit 1; fi
	@$(BIN)/anon audit show driving-offences --summary | tee .airflow/demo.txt
	@grep -q 'REFUSED by the stage' .airflow/publish_driving_offences.log && grep -q 'REFUSED by staging' .airflow/demo.txt || { tail -40 .airflow/publish_driving_offences.log >&2; exit 1; }
	@test ! -e include/portal/driving-offences || { echo "something was published" >&2; exit 1; }
	@echo "  on the portal       nothing of it: include/portal/driving-offences does not exist"
	@$(BIN)/anon audit verify | sed 's/^/audit store: /'

up: .airflow/.ready include/samples/driver_licences.csv include/samples/driving_offences.csv  ## Start Airflow with its web UI on 127.0.0.1; Ctrl-C stops it.
	@exec $(BIN)/python include/up.py

# A peer that the tests compare with stands in a folder of its own: nothing else ever imports it.
.venv/.test-peers: tests/requirements.txt .venv/.ready
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --require-hashes --upgrade --target .venv/test-peers -r $<
	@touch $@

test: .venv/.test-peers  ## Run the fast tests: no root, no service, no network.
	@PYTHONPATH=.venv/test-peers $(BIN)/python -m pytest -q -n auto --dist worksteal

test-thorough: .venv/.test-peers  ## Run the tests that make test leaves out for their time, and draw every example.
	@ANON_EXAMPLES=all PYTHONPATH=.venv/test-peers $(BIN)/python -m pytest -q -n auto --dist worksteal -m 'thorough or drawn'

test-slow: .venv/.ready  ## Run the tests that start a real Airflow.
	@$(BIN)/python -m pytest -q -m slow tests/dags

test-quality: .venv/.ready  ## Recode Adult in every experiment of the paper, against ARX; some minutes, needs ANON_REFERENCE_DATA.
	@$(BIN)/python -m pytest -q -m quality tests/papers

test-portal: .venv/.ready  ## Test CKAN for real: CKAN_URL and CKAN_TOKEN, else one is booted (root on Debian; about 3 minutes).
	@$(BIN)/python -m pytest -q -m portal tests/anon_airflow/portals

test-browser: .venv/.ready  ## Look at the portal in Chromium, on a desk and on a phone; pictures land in .test-output/browser.
	@$(BIN)/python -m pytest -q -rs -m browser tests/anon_airflow/portals/browser

test-wheel: .venv/.ready  ## Build the wheel, and try it in fresh environments without extras and with some; needs a package index.
	@$(BIN)/python -m pytest -q -m wheel tests/packaging

test-docs: .venv/.ready  ## Run the sessions of the documents, the tutorial among them, and compare what they print.
	@$(BIN)/python -m pytest -q -n auto -m sessions tests/documents

# Atheris stands in a folder of its own: nothing but the fuzzer ever imports it.
.venv/.fuzz: tests/fuzz/requirements.txt .venv/.ready
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --only-binary :all: --require-hashes --upgrade --target .venv/fuzz -r $<
	@touch $@

fuzz: .venv/.fuzz  ## Try odd input on every way in (CASES=10000 in all, TARGET=all); findings land in .test-output/fuzz.
	@PYTHONPATH=.venv/fuzz $(BIN)/python -m tests.fuzz $(TARGET) --cases $(CASES) --jobs 2

POINTS ?= all
test-faults: .venv/.ready  ## Let every single write fail (hours); POINTS=kinds tries each kind once, POINTS=20 so many of each.
	@ANON_FAULT_POINTS=$(POINTS) $(BIN)/python -m pytest -v -rs -n 2 --dist worksteal -m faults tests/faults

check: .venv/.ready  ## Formatting, lint, types, import contracts, lock.
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	@cp requirements.lock .venv/requirements.lock
	$(call compile_lock,.venv/requirements.lock)
	@diff -u requirements.lock .venv/requirements.lock || { echo "requirements.lock is out of date: make lock" >&2; exit 1; }

compile_lock = @$(BIN)/uv pip compile pyproject.toml --all-extras --group dev --generate-hashes --no-emit-index-url --universal \
	--python-version 3.11 --custom-compile-command "make lock" --quiet --output-file $(1)

lock: .venv/.ready  ## Pin what pyproject.toml asks for, with hashes and no index address.
	$(call compile_lock,requirements.lock)

docs: .venv/.ready  ## Build the documentation site into .docs/html; a broken link is an error.
	@$(BIN)/python -m docs.site

format: .venv/.ready  ## Format the code.
	@$(BIN)/ruff format . && $(BIN)/ruff check --fix .

# The peers stand in a folder of their own: nothing but a benchmark ever imports them (Desbordante is AGPL).
.venv/.peers: benchmarks/requirements.txt .venv/.ready
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --upgrade --target .venv/peers -r $<
	@touch $@

bench: .venv/.peers  ## Measure against peers, in one run.
	@for file in $(filter-out benchmarks/timing.py,$(wildcard benchmarks/*.py)); do echo "== $$file"; PYTHONPATH=.venv/peers:. $(BIN)/python $$file; done

clean:  ## Remove Airflow's state and the sample; the portal and the audit store stay.
	@rm -rf .airflow include/samples/driver_licences.csv include/samples/driving_offences.csv
