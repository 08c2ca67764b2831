# `make help` lists the targets. VENV says where the virtual environment is, PYTHON which Python makes it, JOBS how many
# processes run tests.
SHELL := /bin/sh
.DEFAULT_GOAL := help
.PHONY: help demo check test test-all cluster-test versions packages constraints bench peers dbt lint format jar wheel notebook site clean kernels browser

VENV ?= .venv
BIN := $(VENV)/bin
JOBS ?= 2
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check
WITH_JAVA = home=$$($(BIN)/python -m examples.java) && JAVA_HOME="$$home"
# What tests draw is the same whenever a commit is tested, and other from commit to commit.
SEED = --hypothesis-seed=$$((0x$$(git rev-parse --short=7 HEAD 2>/dev/null || echo 0)))

demo: $(VENV)/.demo ## Trend queries over the flights that left New York in 2013
	@$(BIN)/python -m examples.flights

check: $(VENV)/.dev ## Tests that need no Spark, kernels interpreted
	@NUMBA_DISABLE_JIT=1 SPARKEXT_POOLS=120 SPARKEXT_TEST_SECONDS=120 $(BIN)/python -m pytest $(SEED) --numprocesses $(JOBS) --dist worksteal -m "not (spark or long or cluster or compiled)" $(ARGS)

test: kernels ## Those, and what SQL means on a Spark session; `make test ARGS="-k windows"` for some of them
	@$(WITH_JAVA) SPARKEXT_POOLS=120 SPARKEXT_TEST_SECONDS=480 $(BIN)/python -m pytest $(SEED) --numprocesses $(JOBS) --dist loadfile $(ARGS)

test-all: $(VENV)/.lab kernels browser dbt $(VENV)/classes.jsa ## Those, and programs, pages in Chromium and JupyterLab, benchmarks in toy size, a cluster, other versions
	@$(WITH_JAVA) $(BIN)/python -m pytest $(SEED) --numprocesses $(JOBS) --dist loadfile -m "not cluster" $(ARGS)
	@$(MAKE) --no-print-directory cluster-test
	@$(BIN)/python -m tests.support.versions --brief

cluster-test: $(VENV)/.dev ## Programs on a Spark cluster of this machine, of which executors are killed
	@$(WITH_JAVA) $(BIN)/python -m pytest -m cluster tests/cluster $(ARGS)

versions: $(VENV)/.dev ## Tests that depend on Spark, under each PySpark and Python that is supported and here
	@$(BIN)/python -m tests.support.versions $(ARGS)

constraints: ## Write constraints.txt anew: the newest packages that pyproject.toml allows
	@rm -rf $(VENV)-newest
	@$(MAKE) --no-print-directory VENV=$(VENV)-newest CONSTRAINED= $(VENV)-newest/.lab
	@head -n 1 constraints.txt >constraints.new
	@$(VENV)-newest/bin/python -m pip freeze --exclude-editable | grep == >>constraints.new
	@mv constraints.new constraints.txt
	@rm -rf $(VENV)-newest

bench: $(VENV)/.dev ## Benchmarks in their quick form; `make bench ARGS="--full --page"` writes the figures of the pages
	@$(WITH_JAVA) $(BIN)/python -m benchmarks $(ARGS)

peers: $(VENV)-peers/.peers ## An environment with what by-hand-funnels compares with: chdb, DuckDB and Polars

$(VENV)-peers/.peers: benchmarks/peers/requirements.txt | $(BIN)/python
	@$(BIN)/python -m venv $(VENV)-peers
	@$(VENV)-peers/bin/python -m pip install --quiet --disable-pip-version-check --requirement $<
	@touch $@

dbt: $(VENV)-dbt/.dbt ## An environment with dbt, for the project in examples/dbt

$(VENV)-dbt/.dbt: examples/dbt/requirements.txt | $(BIN)/python
	@$(BIN)/python -m venv $(VENV)-dbt
	@$(VENV)-dbt/bin/python -m pip install --quiet --disable-pip-version-check --requirement $<
	@touch $@

browser:
	@if ! command -v chromium >/dev/null || ! command -v chromedriver >/dev/null; then \
	  apt-get update -q && apt-get install -q -y --no-install-recommends chromium chromium-driver || { \
	    echo "Tests look at pages in Chromium: install it and its driver, such as Debian's chromium and chromium-driver." >&2; \
	    exit 1; \
	  }; \
	fi

# Tests of all kinds start some eighty JVMs.
$(VENV)/classes.jsa: $(VENV)/.dev
	@$(WITH_JAVA) $(BIN)/python -m tests.support.class_archive

# Before tests run, which would wait for them.
kernels: $(VENV)/.dev
	@$(BIN)/python -m sparkext compile --jobs $(JOBS) full completions forms plain counts

lint: $(VENV)/.dev ## ruff and mypy --strict
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy --strict
	$(BIN)/mypy --strict -p examples

format: $(VENV)/.dev ## Lay the code out as `make lint` wants it
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

jar: $(VENV)/.dev ## extension/jars/sparkext.jar, by which Spark finds sparkext; needs a JDK
	@$(BIN)/python -m extension.build

wheel: jar ## dist/sparkext-*.whl, with the jar in it
	@rm -rf build
	$(BIN)/python -m build --wheel

packages: jar ## dist/: the source distribution and the wheel that is made of it, installed with each Python that is here
	@rm -rf build dist sparkext.egg-info
	$(BIN)/python -m build
	$(BIN)/python -m twine check --strict dist/*
	@$(BIN)/python -m tests.support.versions --built dist $(ARGS)

notebook: $(VENV)/.notebook ## Run examples/flights.ipynb from top to bottom and keep what it prints
	@$(WITH_JAVA) $(BIN)/python -m examples.notebook

# Pages are copied as they lie here, so that their links are checked as they are; each is there as Markdown, too, for
# programs that begin at llms.txt.
PAGES = README.md CONTRIBUTING.md CHANGELOG.md LICENSE docs benchmarks/NOTES.md benchmarks/results examples
site: $(VENV)/.site ## The documentation as a site, in site/; a link that leads nowhere is an error
	@rm -rf build/pages site && mkdir -p build/pages
	@tar -c --exclude='*.py' --exclude=__pycache__ --exclude='*.properties' $(PAGES) | tar -x -C build/pages
	@mv build/pages/docs/llms.txt build/pages/
	@NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict
	@cd build/pages && find . -name '*.md' | tar -c -T - | tar -x -C ../../site

clean: ## Remove what the other targets made, but for the virtual environment
	rm -rf build dist extension/jars data site spark-warehouse metastore_db derby.log .pytest_cache .mypy_cache .ruff_cache .hypothesis

help: ## This list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

# One file per set of packages says that it is installed and newer than pyproject.toml.
# Some of the packages in constraints.txt need Python 3.11. PySpark comes as a source package of half a gigabyte, of which
# pip makes a wheel only to unpack it: that is not compressed.
CONSTRAINED = $$($(BIN)/python -c 'import sys; print("--constraint constraints.txt" * (sys.version_info >= (3, 11)))')
$(VENV)/.demo: EXTRAS = demo
$(VENV)/.dev: EXTRAS = dev
$(VENV)/.notebook: EXTRAS = demo,notebook
$(VENV)/.lab: EXTRAS = lab
$(VENV)/.site: EXTRAS = site
$(VENV)/.demo $(VENV)/.dev $(VENV)/.notebook $(VENV)/.lab $(VENV)/.site: pyproject.toml constraints.txt | $(BIN)/python
	@echo "Installing sparkext[$(EXTRAS)] in $(VENV); the first time this takes a minute or two."
	@printf '[bdist_wheel]\ncompression = stored\n' >$(VENV)/distutils.cfg
	@DIST_EXTRA_CONFIG="$(abspath $(VENV))/distutils.cfg" $(PIP) --no-compile --editable ".[$(EXTRAS)]" $(CONSTRAINED)
	@$(BIN)/python -m compileall -qq -j $(JOBS) -x '/tests?/' $(VENV)/lib || true
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
