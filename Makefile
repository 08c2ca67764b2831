# `make help` lists the targets. VENV says where the virtual environment is, PYTHON which Python makes it, JOBS how many
# processes run tests.
SHELL := /bin/sh
.DEFAULT_GOAL := help
.PHONY: help demo check test test-all cluster-test versions bench lint format wheel notebook clean kernels

VENV ?= .venv
BIN := $(VENV)/bin
JOBS ?= 2
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check
WITH_JAVA = home=$$($(BIN)/python -m examples.java) && JAVA_HOME="$$home"

demo: $(VENV)/.demo ## Trend queries over the flights that left New York in 2013
	@$(BIN)/python -m examples.flights

check: $(VENV)/.dev ## Tests that need no Spark, kernels interpreted
	@NUMBA_DISABLE_JIT=1 SPARKEXT_TEST_SECONDS=120 $(BIN)/python -m pytest --numprocesses $(JOBS) -m "not (spark or long or cluster or compiled)" $(ARGS)

test: kernels ## Those, and what SQL means on a Spark session; `make test ARGS="-k windows"` for some of them
	@$(WITH_JAVA) SPARKEXT_TEST_SECONDS=480 $(BIN)/python -m pytest --numprocesses $(JOBS) --dist loadfile $(ARGS)

test-all: kernels ## All tests but `cluster-test`: also those of programs, pages in Chromium, and benchmarks
	@$(WITH_JAVA) $(BIN)/python -m pytest --numprocesses $(JOBS) --dist loadfile -m "not cluster" $(ARGS)

cluster-test: $(VENV)/.dev ## Programs on a Spark cluster of this machine, of which executors are killed
	@$(WITH_JAVA) $(BIN)/python -m pytest -m cluster tests/cluster $(ARGS)

versions: $(VENV)/.dev ## Tests that depend on Spark, under each PySpark and Python that is supported and here
	@$(BIN)/python -m tests.support.versions $(ARGS)

bench: $(VENV)/.dev ## Benchmarks in their quick form; `make bench ARGS="--full --page"` for docs/performance.md
	@$(WITH_JAVA) $(BIN)/python -m benchmarks $(ARGS)

# Before tests run in several processes, each of which would compile them.
kernels: $(VENV)/.dev
	@$(BIN)/python -m tests.support.compile_kernels

lint: $(VENV)/.dev ## ruff and mypy --strict
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy --strict
	$(BIN)/mypy --strict -p examples

format: $(VENV)/.dev ## Lay the code out as `make lint` wants it
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

wheel: $(VENV)/.dev ## dist/sparkext-*.whl
	@rm -rf build
	$(BIN)/python -m build --wheel

notebook: $(VENV)/.notebook ## Run examples/flights.ipynb from top to bottom and keep what it prints
	@$(WITH_JAVA) $(BIN)/python -m examples.notebook

clean: ## Remove what the other targets made, but for the virtual environment
	rm -rf build dist data spark-warehouse metastore_db derby.log .pytest_cache .mypy_cache .ruff_cache .hypothesis

help: ## This list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

# One file per set of packages says that it is installed and newer than pyproject.toml.
$(VENV)/.demo: EXTRAS = demo
$(VENV)/.dev: EXTRAS = dev
$(VENV)/.notebook: EXTRAS = demo,notebook
$(VENV)/.demo $(VENV)/.dev $(VENV)/.notebook: pyproject.toml | $(BIN)/python
	@echo "Installing sparkext[$(EXTRAS)] in $(VENV); the first time this takes a minute or two."
	@$(PIP) --editable ".[$(EXTRAS)]"
	@touch $@

$(BIN)/python:
	@for python in $(PYTHON) python3 python3.13 python3.12 python3.11 python3.10; do \
	  if $$python -c 'import sys; sys.exit(sys.version_info < (3, 10))' 2>/dev/null; then \
	    echo "Making a virtual environment in $(VENV) with $$($$python --version)."; \
	    $$python -m venv "$(VENV)" && exit 0; \
	    rm -rf "$(VENV)"; \
	    echo "That failed. On Debian and Ubuntu, 'apt-get install python3-venv' provides what is missing." >&2; \
	    exit 1; \
	  fi; \
	done; \
	echo "Python 3.10 or later is needed; none was found. 'make $(MAKECMDGOALS) PYTHON=/path/to/python3' names one." >&2; \
	exit 1
