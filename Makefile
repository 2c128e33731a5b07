# Every target that needs the environment makes it first, so any of them works in a fresh checkout.

PYTHON  ?= python3
WORKERS ?= 2

VENV  := .venv
BIN   := $(VENV)/bin
STAMP := $(VENV)/.installed
LIGHT := $(VENV)/.light

# What tests need beyond Python: a program to compare times with, and a browser. The names of commands and of packages.
PROGRAMS := hyperfine chromium

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help install system demo reproduce benchmark test pytest coverage test-long bench jobs refresh docs lint format release clean

export PIP_DISABLE_PIP_VERSION_CHECK := 1

# Empty: byte code is kept. Without it each of the many processes compiles the package again.
export PYTHONDONTWRITEBYTECODE :=

help: ## list the targets
	@awk -F ' *:.*## ' '/^[a-z-]+:.*## / { printf "  make %-10s  %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

install: $(STAMP) ## make .venv with everything for using and developing ramgape
	@echo "ready: $(BIN)/ramgape"

demo: $(LIGHT) ## identify a Pareto set before your eyes, write ramgape-demo.png
	@$(BIN)/ramgape demo

reproduce: $(STAMP) ## run the paper's experiments, write build/reproduction/report.html
	@$(BIN)/ramgape reproduce --out build/reproduction

benchmark: $(STAMP) ## compare all methods on many instances, write build/benchmark/report.html
	@$(BIN)/ramgape benchmark --out build/benchmark

test: $(STAMP) ## lint, types, import contracts, all tests but the long ones
	@$(MAKE) --no-print-directory --jobs 2 lint pytest

# Beside `lint`, whose parts take one core after the other.
pytest: $(STAMP) system
	@echo "tests"
	@$(BIN)/python -m pytest -q -n $(WORKERS) --dist worksteal --durations=20 || \
	  { [ $$? = 1 ] && echo "what failed, once more and alone: a browser on a busy machine may be late" && \
	    $(BIN)/python -m pytest -q --last-failed --last-failed-no-failures=none; }

coverage: $(STAMP) system ## the same tests; fails if they miss too many lines outside the compiled layers (twice the time)
	@echo "coverage"
	@$(BIN)/python -m pytest -q -n $(WORKERS) --dist worksteal --cov --cov-report=term

test-long: $(STAMP) system ## the tests that take minutes, which `make test` leaves out
	@echo "long tests"
	@$(BIN)/python -m pip install -qq --constraint constraints.txt ray
	@$(BIN)/python -m pytest -q -n $(WORKERS) --dist worksteal -m long

bench: $(STAMP) ## measure speed, print ratios, write build/bench.json
	@$(BIN)/python -m benchmarks

jobs: $(STAMP) system ## real jobs, as people do them today and as we do: trials, wrong answers
	@$(BIN)/python -m benchmarks.jobs

refresh: $(STAMP) ## run the blocks of all pages, rewrite outputs that have changed, and pictures
	@$(BIN)/python docs/refresh.py --long

# Warnings are errors, dead references too. The sources are those here, not what is installed.
docs: $(STAMP) ## build the site, offline, into build/site
	@PYTHONPATH=src $(BIN)/python -m sphinx --quiet --nitpicky --fail-on-warning --builder html -d build/doctrees docs build/site
	@echo "written: build/site/index.html"

lint: $(STAMP) ## style, format, types and import contracts, changing nothing
	@echo "style"
	@$(BIN)/ruff check --quiet .
	@echo "format"
	@$(BIN)/ruff format --quiet --check . || { echo "Run 'make format' to fix this." >&2; exit 1; }
	@echo "types"
	@$(BIN)/mypy
	@echo "import contracts"
	@$(BIN)/lint-imports --no-logo
	@echo "code lines"
	@$(BIN)/python -m tools.size

format: $(STAMP) ## put the code in the standard form and mend what can be mended safely
	@$(BIN)/ruff check --quiet --fix --exit-zero .
	@$(BIN)/ruff format .

release: $(STAMP) ## VERSION=x.y.z: check that it can go out, build and try it, tag it; nothing is pushed
	@$(BIN)/python -m tools.release "$(VERSION)"

clean: ## remove caches and products; .venv stays
	@rm -rf build dist ramgape-demo.png models.png prompts.html prompts.png risks.png suppliers.png models.db* examples/solvers.db* .mypy_cache .pytest_cache .ruff_cache .import_linter_cache .hypothesis .schemathesis .coverage*
	@find . \( -path ./$(VENV) -o -path ./.git \) -prune -o -type d -name __pycache__ -exec rm -rf {} +
	@echo "clean"

# Installed where that can be done; elsewhere the tests that need what is missing fail, and say so.
system:
	@missing=; for each in $(PROGRAMS); do command -v $$each > /dev/null || missing="$$missing $$each"; done; \
	[ -z "$$missing" ] && exit 0; \
	if [ "$$(id -u)" = 0 ] && command -v apt-get > /dev/null; then \
	  echo "installing$$missing"; export DEBIAN_FRONTEND=noninteractive; \
	  add="apt-get install -qq -y --no-install-recommends$$missing"; \
	  { $$add || { apt-get update -qq && $$add; }; } > /dev/null && exit 0; \
	fi; \
	echo "Some tests need$$missing. On Debian and Ubuntu: sudo apt install$$missing" >&2

# No prerequisite: an environment, once made, is brought up to date rather than made again.
$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { \
	  echo "ramgape needs Python 3.11 or later; '$(PYTHON)' is $$($(PYTHON) --version 2>/dev/null || echo missing)." >&2; \
	  echo "Name another one: make install PYTHON=python3.12" >&2; exit 1; }
	@echo "making $(VENV) with $$($(PYTHON) --version)"
	@$(PYTHON) -m venv $(VENV) || { rm -f $(BIN)/python; \
	  echo "No virtual environment could be made. On Debian and Ubuntu: apt install python3-venv" >&2; exit 1; }

# What pip fetches, a line for each package; what goes wrong it says itself.
define fetch
{ $(BIN)/python -m pip install --no-color --progress-bar off --constraint constraints.txt $(1) || echo failed; } | awk ' \
  / [^ ]+[.]whl( |$$)/ { sub(/[.]whl.*/, ""); sub(/.*[ \/=]/, ""); split($$0, file, "-"); print "  " file[1], file[2]; fflush() } \
  /^Installing collected packages/ { print "  unpacking " NF - 3 " packages"; fflush() } \
  /^failed/ { bad = 1 } END { exit bad }'
endef

# The build backend goes in first: without build isolation, its version is the one in constraints.txt.
$(STAMP): pyproject.toml constraints.txt | $(BIN)/python
	@echo "installing ramgape and its tools (a minute or so the first time)"
	@$(BIN)/python -m pip install -qq --constraint constraints.txt hatchling
	@$(BIN)/python -m pip install -qq --constraint constraints.txt --no-build-isolation --editable '.[dev]'
	@touch $@ $(LIGHT)

# Python compiles what the demo imports; the rest, which is most, needs no compiling.
$(LIGHT): pyproject.toml constraints.txt | $(BIN)/python
	@echo "installing ramgape, NumPy and matplotlib (some seconds the first time)"
	@$(call fetch,hatchling)
	@$(call fetch,--no-compile --no-build-isolation --editable '.[plot]')
	@touch $@
