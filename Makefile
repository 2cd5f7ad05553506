PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
TRAIN := .venv-train
TRAIN_STAMP := $(TRAIN)/.installed
RAY := .venv-ray
RAY_STAMP := $(RAY)/.installed

.PHONY: help hiro test test-slow test-train test-vision test-ray test-wheel web-deps check clean

help:
	@sed -n 's/^## //p' Makefile

## hiro        set up, and let Hiro find lunch in Virlton; prints where the report is
hiro: $(STAMP)
	$(BIN)/python -m agents.hiro

## test        set up, and run the fast tests
test: $(STAMP)
	$(BIN)/python -m pytest -n auto --dist loadfile -m "not slow and not browser"

## test-slow   the other tests: slow ones, and those in a real browser
test-slow: $(STAMP) web-deps
	$(BIN)/python -m pytest -n auto --dist loadfile -m "slow or browser"

## test-train  set up an environment with torch, and run the tests of fine-tuning there
test-train: $(TRAIN_STAMP)
	$(TRAIN)/bin/python -m pytest tests/benchmarks/touchdown/train

## test-vision set up the same environment, and run the tests of detectors, CLIP, matchers and captions there
test-vision: $(TRAIN_STAMP)
	OMP_NUM_THREADS=1 $(TRAIN)/bin/python -m pytest tests/vision

## test-ray    set up an environment with Ray, and run benchmarks on a cluster of two nodes there
test-ray: $(RAY_STAMP)
	OMP_NUM_THREADS=1 $(RAY)/bin/python -m pytest tests/bench/test_bench_ray.py

## test-wheel  build a wheel, install it in an empty environment, and use it outside the checkout
test-wheel: $(STAMP)
	$(BIN)/python tests/wheel_smoke.py

## check       lint, format, types, dead code, and the floors of the house
check: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/vulture
	$(BIN)/lint-imports

## web-deps    Chromium and its driver, from Debian's packages, where they are missing
web-deps:
	@command -v chromium >/dev/null && command -v chromedriver >/dev/null || \
	  { [ "$$(id -u)" = 0 ] && apt-get update -qq && apt-get install -y -qq chromium chromium-driver >/dev/null; } || \
	  { echo "make: Chromium is missing: install the packages chromium and chromium-driver" >&2; exit 1; }

$(STAMP): pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet --editable ".[dev]"
	@touch $(STAMP)

$(TRAIN_STAMP): pyproject.toml
	$(PYTHON) -m venv $(TRAIN)
	$(TRAIN)/bin/python -m pip install --quiet --upgrade pip
	$(TRAIN)/bin/python -m pip install --quiet --editable ".[dev,train,vision]"
	@touch $(TRAIN_STAMP)

$(RAY_STAMP): pyproject.toml
	$(PYTHON) -m venv $(RAY)
	$(RAY)/bin/python -m pip install --quiet --upgrade pip
	$(RAY)/bin/python -m pip install --quiet --editable ".[dev,ray]"
	@touch $(RAY_STAMP)

## clean       remove what was built
clean:
	rm -rf $(VENV) $(TRAIN) $(RAY) build dist
