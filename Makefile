# Two commands need no flags and set everything up: `make demo` and `make test`.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
INSTALLED := $(VENV)/.installed

# Both would change what the children write and how fast they start.
unexport PYTHONDONTWRITEBYTECODE PYTEST_ADDOPTS

.PHONY: demo test lint types unit environments docs clean

demo: $(INSTALLED)
	@$(BIN)/python scripts/demo.py

test: lint types unit

lint: $(INSTALLED)
	@echo "== lint"
	@$(BIN)/ruff format --check --quiet .
	@$(BIN)/ruff check --quiet .
	@$(BIN)/python scripts/generate_docs.py --check

types: $(INSTALLED)
	@echo "== types"
	@$(BIN)/mypy

unit: $(INSTALLED) environments
	@echo "== tests"
	@$(BIN)/python -m pytest -q

# The projects' side: one environment for each pytest that the suite runs against.
environments: $(INSTALLED)
	@$(BIN)/python scripts/environments.py

docs: $(INSTALLED)
	@$(BIN)/python scripts/generate_docs.py

$(INSTALLED): pyproject.toml requirements-dev.txt constraints.txt
	@echo "== setting up $(VENV)"
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "pytest-mcp needs Python 3.11 or newer; say make PYTHON=...")'
	@$(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -r requirements-dev.txt -e .
	@touch $@

clean:
	rm -rf $(VENV) .envs build dist .mypy_cache .pytest_cache .ruff_cache .hypothesis
