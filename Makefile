PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed

.PHONY: hiro test test-all check clean

## hiro: set up and let Hiro find lunch in Virlton; prints where the report is
hiro: $(STAMP)
	$(BIN)/python -m agents.hiro

## test: set up and run the fast tests
test: $(STAMP)
	$(BIN)/python -m pytest -m "not slow and not browser"

## test-all: every test, the slow ones and those in a browser too
test-all: $(STAMP)
	$(BIN)/python -m pytest

## check: lint, format, types and the floors
check: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

$(STAMP): pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet --editable ".[dev]"
	touch $(STAMP)

clean:
	rm -rf $(VENV) build dist
