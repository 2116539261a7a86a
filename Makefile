# Two commands need no flags and set everything up: `make demo` and `make test`.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
INSTALLED := $(VENV)/.installed

# Both would change what the children write and how fast they start.
unexport PYTHONDONTWRITEBYTECODE PYTEST_ADDOPTS

# One more than the cores of a small machine: a worker often waits for a process that it has started.
WORKERS ?= 3

.PHONY: demo test lint types unit all-tests environments conformance interop clients matrix soak fuzz load proxy bench tokens
.PHONY: docs recording package clean

demo: $(INSTALLED)
	@$(BIN)/python scripts/demo.py

test: lint types all-tests

lint: $(INSTALLED)
	@echo "== lint"
	@$(BIN)/ruff format --check --quiet .
	@$(BIN)/ruff check --quiet .
	@$(BIN)/python scripts/generate_docs.py --check
	@$(BIN)/python scripts/generate_figures.py --check

types: $(INSTALLED)
	@echo "== types"
	@$(BIN)/mypy

# For whoever changes a line: what needs no server and no other pytest, in under two minutes.
unit: $(INSTALLED) environments
	@echo "== unit tests"
	@$(BIN)/python -m pytest -q -n $(WORKERS) tests/unit

all-tests: $(INSTALLED) environments
	@echo "== tests"
	@$(BIN)/python -m pytest -q -n $(WORKERS)

# The projects' side: one environment for each pytest that the suite runs against.
environments: $(INSTALLED)
	@$(BIN)/python scripts/environments.py
	@$(BIN)/python scripts/npm.py interop-typescript || echo "== going on without it: its tests are skipped"

# The official suite and the official inspector find nothing wrong: a minute, of which most is fetching them.
conformance: $(INSTALLED)
	@echo "== conformance"
	@$(BIN)/python scripts/npm.py conformance inspector
	@$(BIN)/python -m pytest -q -n $(WORKERS) tests/external/interop/conformance.py

# Other people's clients get the answers that the official SDK gets: minutes. `make test` has the official ones.
interop: $(INSTALLED) environments
	@echo "== interop"
	@$(BIN)/python scripts/environments.py interop
	@$(BIN)/python -m pytest -q -n $(WORKERS) -rs tests/external/interop/every_client.py

# Real agent programs with a stand-in for their model, and docs/clients.md from what was seen: minutes, and gigabytes to
# fetch. PROGRAMS="codex opencode" names fewer.
clients: $(INSTALLED) environments
	@echo "== clients"
	@$(BIN)/python -m tests.external.programs $(PROGRAMS)

# The real runs again, with every Python and every generation of pytest that this machine has; TESTS="..." names fewer.
matrix: $(INSTALLED) environments
	@echo "== matrix"
	@$(BIN)/python scripts/environments.py matrix
	@$(BIN)/python -m tests.external.endurance.matrix $(TESTS)

# A long life, a crowd and sudden deaths: most of an hour, of which `make test` has a taste.
SHARE ?= 1.0
SEED ?= 7
soak: $(INSTALLED) environments
	@echo "== soak"
	@$(BIN)/python -m tests.external.endurance.soak --share $(SHARE) --seed $(SEED)

# What nobody thought of, by the hundred thousand; `make test` has a hundredth of it.
fuzz: $(INSTALLED) environments
	@echo "== fuzz"
	@$(BIN)/python -m tests.external.endurance.fuzz --share $(SHARE) --seed $(SEED)
	@$(BIN)/python -m pytest -q -n $(WORKERS) -m hypothesis --hypothesis-profile=fresh

# Fifty clients on one server on HTTP and twenty servers on stdio at once: minutes; `make test` has a taste.
load: $(INSTALLED) environments
	@echo "== load"
	@$(BIN)/python -m tests.external.endurance.load --share $(SHARE)

# Two servers behind the real nginx, by the example: the one on PATH, or Debian's, unpacked beside the environments.
NGINX ?= $(or $(shell command -v nginx),$(CURDIR)/.envs/nginx/usr/sbin/nginx)
proxy: $(INSTALLED) environments $(NGINX)
	@echo "== proxy"
	@NGINX=$(NGINX) $(BIN)/python -m pytest -q tests/external/proxy/nginx.py

$(CURDIR)/.envs/nginx/usr/sbin/nginx:
	@echo "== setting up .envs/nginx"
	@mkdir -p .envs/nginx && cd .envs/nginx && apt-get download --quiet nginx && dpkg -x nginx_*.deb . \
	|| { echo "There is no nginx: put it on PATH, or say make NGINX=... proxy"; exit 1; }

# What a call costs next to pytest in a shell, as ratios: most of half an hour. ROWS="one-test start" names fewer
# rows, ROUNDS=0.5 halves the rounds.
ROUNDS ?= 1.0
bench: $(INSTALLED)
	@echo "== bench"
	@$(BIN)/python scripts/environments.py bench
	@$(BIN)/python -m bench --rounds $(ROUNDS) $(ROWS)

# What an answer costs a model to read, next to what pytest and other tools print, in tokens: a quarter of an hour, of
# which most are real bugs in real libraries. Needs node, npm and pip. A goal may be missed; an answer that is wrong
# fails. ROWS="mixed deep" names fewer rows and no library, ROWS="--real --library toolz" one library and no row.
tokens: $(INSTALLED)
	@echo "== tokens"
	@$(BIN)/python -m bench.tokens $(ROWS)

docs: $(INSTALLED)
	@$(BIN)/python scripts/generate_docs.py
	@$(BIN)/python scripts/generate_figures.py

# The moving picture of the README, docs/demo.svg, filmed from the real commands.
recording: $(INSTALLED)
	@$(BIN)/python scripts/environments.py recording
	@.envs/recording/bin/python -m scripts.record_demo

# Everything that is handed out, built into dist/ and checked; publishes nothing. Needs node and npm.
package: $(INSTALLED)
	@echo "== package"
	@$(BIN)/python scripts/environments.py package
	@$(BIN)/python scripts/package.py

$(INSTALLED): pyproject.toml requirements-dev.txt constraints.txt
	@echo "== setting up $(VENV)"
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "pytest-mcp needs Python 3.11 or newer; say make PYTHON=...")'
	@$(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -r requirements-dev.txt -e .
	@touch $@

clean:
	rm -rf $(VENV) .envs .tokens build dist .mypy_cache .pytest_cache .ruff_cache .hypothesis
