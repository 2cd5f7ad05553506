PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
EXTRAS := .venv-extras
ADAPTERS := .venv-adapters
EXTRAS_STAMP := $(EXTRAS)/.installed
ROUNDS ?= 20
INPUTS ?= 20000
KILLS ?= 200
MUTATIONS ?= 200
SEED ?=
REPORT ?= soak.md
JOBS ?=
MARKS ?= not slow and not browser and not soak
# One more than there are cores: some tests wait for servers.
WORKERS ?= $(shell $(PYTHON) -c 'import os; print((os.cpu_count() or 1) + 1)')

# Tests start many processes; each of them would compile all modules anew.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help hiro strasbourg env extras-env adapters-env test test-slow test-random fuzz soak audit test-train test-learn test-vision test-ray test-llama test-wheel web-deps docs messages check clean

help:
	@sed -n 's/^## //p' Makefile

## hiro        set up, and let Hiro find lunch in Virlton; prints where the report is
hiro: $(STAMP)
	$(BIN)/python -m agents.hiro

## strasbourg  the same on open pictures of Strasbourg; needs a network, and no key
strasbourg: $(STAMP)
	$(BIN)/virl run hiro --city strasbourg

env: $(STAMP)
extras-env: $(EXTRAS_STAMP)

## test        set up, and run the fast tests, or those of the MARKS that are given
test: $(STAMP)
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n $(WORKERS) --dist loadfile --no-loadscope-reorder --durations=25 -m "$(MARKS)"

## test-slow   the other tests: slow ones, and those in a real browser
test-slow: web-deps
	$(MAKE) test MARKS="(slow or browser) and not soak"

## test-random run the property tests on random examples, ROUNDS times; stops at the first failure
test-random: $(STAMP)
	for round in $$(seq $(ROUNDS)); do \
	  $(BIN)/python -m pytest -n auto --dist worksteal -m hypothesis --hypothesis-profile=default || exit 1; \
	done

## fuzz        read INPUTS damaged inputs of every kind that comes from outside; SEED repeats a session
fuzz: $(STAMP)
	PYTHONPATH=tests $(BIN)/python -m fuzz --inputs $(INPUTS) $(if $(SEED),--seed $(SEED))
## soak        kill everything KILLS times (200), mutate replies, send hostile inputs, run all agents in 7 towns; REPORT takes figures
soak: $(STAMP)
	SOAK_KILLS=$(KILLS) SOAK_MUTATIONS=$(MUTATIONS) SOAK_SEED=$(SEED) SOAK_REPORT=$(REPORT) SOAK_JOBS="$(JOBS)" \
	  $(BIN)/python -m pytest -p no:xdist -s -m soak tests/chaos tests/journal \
	  tests/platform/providers/test_mutated_replies.py tests/seven_towns tests/api/test_results.py \
	  tests/mind/test_damaged_replies.py tests/agent/test_killed_between_hold_and_settle.py \
	  tests/fuzz/test_fuzz.py::test_inputs_that_are_made_to_hang_fill_or_mislead
	[ ! -e $(EXTRAS_STAMP) ] || SOAK_JOBS="$(JOBS)" \
	  $(EXTRAS)/bin/python -m pytest -s -m soak tests/agents/test_agents_with_a_small_model.py \
	    tests/benchmarks/sight_learning/learn

## test-train  set up an environment with torch and Ray, and run the tests of training there
test-train: $(EXTRAS_STAMP)
	OMP_NUM_THREADS=1 $(EXTRAS)/bin/python -m pytest -m "not soak" tests/benchmarks/touchdown/train tests/benchmarks/detector

## test-learn  in the same environment, run the tests of the walker that learns by sight
test-learn: $(EXTRAS_STAMP)
	OMP_NUM_THREADS=1 $(EXTRAS)/bin/python -m pytest -m "not soak" tests/benchmarks/sight_learning/learn

## test-vision in the same environment, run the tests of detectors, CLIP, matchers and captions
test-vision: $(EXTRAS_STAMP)
	OMP_NUM_THREADS=1 $(EXTRAS)/bin/python -m pytest tests/vision

## test-ray    in the same environment, run benchmarks on a Ray cluster of two nodes
test-ray: $(EXTRAS_STAMP)
	OMP_NUM_THREADS=1 $(EXTRAS)/bin/python -m pytest tests/bench/test_bench_ray.py

## test-llama  in the same environment, run every agent with a llama.cpp server and a model of random weights
test-llama: $(EXTRAS_STAMP)
	OMP_NUM_THREADS=1 $(EXTRAS)/bin/python -m pytest -m "not soak" tests/agents/test_agents_with_a_small_model.py

## test-wheel  build a wheel, install it in an empty environment, and use it outside the checkout
test-wheel: $(STAMP)
	$(BIN)/python tests/wheel_smoke.py

## check       lint, format, plain English, types, dead code, the layers, and unsafe code
check: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/python .ci/english.py
	$(BIN)/python .ci/sections.py
	$(BIN)/python .ci/layers.py
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/vulture
	$(BIN)/lint-imports
	$(BIN)/bandit --quiet --recursive --configfile pyproject.toml virl agents benchmarks

## messages    print every message of errors, helps and progress, by file and line
messages: $(STAMP)
	@$(BIN)/python .ci/messages.py

## docs        build the documentation as a site, in build/site; stops at a dead link
docs: $(STAMP)
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict

## audit       look for published vulnerabilities of what is installed; needs the advisory service
audit: $(STAMP)
	$(BIN)/python .ci/audit.py

## web-deps    Chromium and its driver, from Debian's packages, where they are missing
web-deps:
	@command -v chromium >/dev/null && command -v chromedriver >/dev/null || \
	  { [ "$$(id -u)" = 0 ] && apt-get update -qq && apt-get install -y -qq chromium chromium-driver >/dev/null; } || \
	  { echo "make: Chromium is missing: install the packages chromium and chromium-driver" >&2; exit 1; }

$(STAMP): pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet --editable ".[dev,eyes]"
	@touch $(STAMP)

$(EXTRAS_STAMP): pyproject.toml
	$(PYTHON) -m venv $(EXTRAS)
	$(EXTRAS)/bin/python -m pip install --quiet --upgrade pip
	$(EXTRAS)/bin/python -m pip install --quiet --no-compile --editable ".[dev,eyes,learn,ray,train,vision]" \
	  "gguf>=0.19,<1" "xllamacpp>=2026.10,<2027"
	@touch $(EXTRAS_STAMP)

## adapters-env  .venv-adapters: langchain-mcp-adapters with mcp 1, which its tests of MCP need
adapters-env:
	$(PYTHON) -m venv $(ADAPTERS)
	$(ADAPTERS)/bin/python -m pip install --quiet --no-compile "langchain>=1.4,<2" "langchain-mcp-adapters>=0.3.2,<1"

## clean       remove what was built
clean:
	rm -rf $(VENV) $(EXTRAS) $(ADAPTERS) build dist
