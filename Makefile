# `make demo` and `make test` need no flags and set up everything they need.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
INSTALLED := $(VENV)/.installed

# Both change what the test runs do: which files they write, and which options they have.
unexport PYTHONDONTWRITEBYTECODE PYTEST_ADDOPTS

# One more than the cores of a small machine, because a worker often waits for a process that it started.
WORKERS ?= 3
# Neighbours stay with one worker, so the tests of a module share its one server; who is done early takes from the rest.
SHARED := -n $(WORKERS) --dist worksteal

.PHONY: demo test lint types unit all-tests coverage environments conformance interop clients manifests matrix soak fuzz histories load proxy sandbox page scale bench tokens suspects polluters changed prove
.PHONY: docs evaluation recording picture package clean investigations help

# The walk-through on examples/shop: a bug is found and fixed through the real server.
demo: $(INSTALLED)
	@$(BIN)/python scripts/demo.py

# Lint, types and the whole test suite.
test: lint types all-tests

# This list: each target with the comment above it.
help:
	@awk '/^# /{text = text substr($$0, 2)} /^[a-z-]+:/{if (text) printf "%-15s%s\n", $$1, text} /^$$/{text = ""}' Makefile

lint: $(INSTALLED)
	@echo "== lint"
	@$(BIN)/ruff format --check --quiet .
	@$(BIN)/ruff check --quiet .
	@$(BIN)/python scripts/generate_docs.py --check
	@$(BIN)/python scripts/generate_tables.py --check

types: $(INSTALLED)
	@echo "== types"
	@$(BIN)/mypy

# The fast tests, for quick feedback: about a minute on two cores.
unit: $(INSTALLED) environments
	@echo "== unit tests"
	@$(BIN)/python -m pytest -q $(SHARED) tests/unit

all-tests: $(INSTALLED) environments
	@echo "== tests"
	@$(BIN)/python -m pytest -q $(SHARED)

# Branch coverage of src for each module; TESTS="tests/unit" measures some. The data stay in COVERAGE for questions such as
# `coverage html --data-file=... --show-contexts`. A trace function takes most of the time, so tests of time are left out.
UNTIMED := --ignore=tests/unit/test_linear_time.py
COVERAGE ?= $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/pytest-mcp/coverage
coverage: $(INSTALLED) environments
	@echo "== coverage"
	@rm -rf $(COVERAGE) && mkdir -p $(COVERAGE)
	@$(BIN)/coverage run --data-file=$(COVERAGE)/data -m pytest -q $(SHARED) $(UNTIMED) $(or $(TESTS),tests); tests=$$?; \
	$(BIN)/coverage combine --quiet --data-file=$(COVERAGE)/data && \
	$(BIN)/coverage report --data-file=$(COVERAGE)/data && exit $$tests

# One environment for each pytest version that the suite runs projects with.
environments: $(INSTALLED)
	@$(BIN)/python scripts/environments.py
	@$(BIN)/python scripts/npm.py interop-typescript || echo "== continuing; the tests of the TypeScript SDK are skipped"

# The official conformance suite and inspector: a minute, most of it for fetching them.
conformance: $(INSTALLED)
	@echo "== conformance"
	@$(BIN)/python scripts/npm.py conformance inspector
	@$(BIN)/python -m pytest -q -n $(WORKERS) -m "external(target='conformance')" tests/external

# Other people's clients get the same answers as the official SDK: minutes. `make test` covers the official SDKs.
interop: $(INSTALLED) environments
	@echo "== interop"
	@$(BIN)/python scripts/environments.py interop
	@$(BIN)/python -m pytest -q -n $(WORKERS) -rs -m "external(target='interop')" tests/external

# Real agent programs with a replaced model; writes docs/clients.md. Takes minutes and fetches gigabytes.
# PROGRAMS="codex opencode" selects some.
clients: $(INSTALLED) environments
	@echo "== clients"
	@$(BIN)/python -m tests.external.programs $(PROGRAMS)

# The manifests in Claude Code, Codex and Gemini CLI, and the bundle in its own program: minutes, most for fetching them.
manifests: $(INSTALLED)
	@echo "== manifests"
	@$(BIN)/python scripts/npm.py claude-code codex gemini-cli mcpb
	@$(BIN)/python -m pytest -q -m "external(target='manifests')" tests/external

# The tests with real runs, on every Python and pytest that this machine has. TESTS="..." selects some.
matrix: $(INSTALLED) environments
	@echo "== matrix"
	@$(BIN)/python scripts/environments.py matrix
	@$(BIN)/python -m tests.external.endurance.matrix $(TESTS)

# A thousand calls, many callers at once and random kills: most of an hour. `make test` runs a small part.
SHARE ?= 1.0
SEED ?= 7
soak: $(INSTALLED) environments
	@echo "== soak"
	@$(BIN)/python -m tests.external.endurance soak --share $(SHARE) --seed $(SEED)

# Hundreds of thousands of random inputs; `make test` runs a hundredth.
fuzz: $(INSTALLED) environments
	@echo "== fuzz"
	@$(BIN)/python -m tests.external.endurance fuzz --share $(SHARE) --seed $(SEED)
	@$(BIN)/python -m pytest -q -n $(WORKERS) -m hypothesis --hypothesis-profile=fresh

# Every project of which it is known why a test fails in it, investigated for real: minutes. `make test` runs some.
investigations: $(INSTALLED) environments
	@echo "== investigations"
	@$(BIN)/python -m pytest -q -n $(WORKERS) -m "external(target='investigations')" tests/external

# Eight processes that record two hundred runs each, and twenty that are killed: a minute. `make test` runs a small part.
# Needs PostgreSQL for its half: Debian's package is enough, nothing has to be started.
histories: $(INSTALLED)
	@echo "== histories"
	@$(BIN)/python -m pytest -q -m "external(target='histories')" tests/external

# Fifty clients on one HTTP server and twenty stdio servers at once: minutes. `make test` runs a small part.
load: $(INSTALLED) environments
	@echo "== load"
	@$(BIN)/python -m tests.external.endurance load --share $(SHARE)

# Two servers behind a real nginx with examples/nginx.conf: the nginx on PATH, or Debian's package unpacked into .envs.
NGINX ?= $(or $(shell command -v nginx),$(CURDIR)/.envs/nginx/usr/sbin/nginx)
proxy: $(INSTALLED) environments $(NGINX)
	@echo "== proxy"
	@NGINX=$(NGINX) $(BIN)/python -m pytest -q -m "external(target='proxy')" tests/external

$(CURDIR)/.envs/nginx/usr/sbin/nginx:
	@echo "== setting up .envs/nginx"
	@mkdir -p .envs/nginx && cd .envs/nginx && apt-get download --quiet nginx && dpkg -x nginx_*.deb . \
	|| { echo "No nginx found: put it on PATH, or use make NGINX=... proxy"; exit 1; }

# The sandboxes of `setup --sandbox`: every way out tried in a real srt and a real bubblewrap, and the server at work inside.
# Debian's packages, unpacked into .envs/sandbox. Needs Linux, and that a user may make namespaces.
SANDBOX := $(CURDIR)/.envs/sandbox
SANDBOX_LIBRARIES := $(SANDBOX)/usr/lib/x86_64-linux-gnu:$(SANDBOX)/lib/x86_64-linux-gnu
sandbox: $(INSTALLED) environments $(SANDBOX)/usr/bin/bwrap
	@echo "== sandbox"
	@$(BIN)/python scripts/npm.py srt
	@SANDBOX_PROGRAMS=$(SANDBOX)/usr/bin SANDBOX_SRT=$$($(BIN)/python -c "from scripts import npm; print(npm.commands('srt'))") \
	LD_LIBRARY_PATH=$(SANDBOX_LIBRARIES) $(BIN)/python -m pytest -q -m "external(target='sandbox')" tests/external

$(SANDBOX)/usr/bin/bwrap:
	@echo "== setting up .envs/sandbox"
	@mkdir -p $(SANDBOX) && cd $(SANDBOX) && apt-get download --quiet bubblewrap socat ripgrep libwrap0 libssl3 \
	&& for package in *.deb; do dpkg -x $$package .; done || { echo "No bubblewrap, socat and ripgrep found"; exit 1; }

# The page in a real Chromium, as a file and in the official inspector: minutes. CHROMIUM=... names one that is not on PATH.
page: $(INSTALLED) environments
	@echo "== page"
	@$(BIN)/python scripts/environments.py page
	@$(BIN)/python scripts/npm.py axe inspector
	@$(BIN)/python -m pytest -q -rs -m "external(target='page')" tests/external

# Takes docs/page.png, the picture in the README, of a real page of the example.
picture: $(INSTALLED) environments
	@$(BIN)/python scripts/environments.py page
	@.envs/page/bin/python -m scripts.page_picture

# The examples of docs/scale.md: the manifests against published schemas, and shards with a real GNU parallel: the one on
# PATH, or Debian's package unpacked into .envs.
PARALLEL ?= $(or $(shell command -v parallel),$(CURDIR)/.envs/parallel/usr/bin/parallel)
scale: $(INSTALLED) environments $(PARALLEL)
	@echo "== scale"
	@$(BIN)/python scripts/environments.py scale
	@PARALLEL=$(PARALLEL) $(BIN)/python -m pytest -q -m "external(target='scale')" tests/external

$(CURDIR)/.envs/parallel/usr/bin/parallel:
	@echo "== setting up .envs/parallel"
	@mkdir -p .envs/parallel && cd .envs/parallel && apt-get download --quiet parallel && dpkg -x parallel_*.deb . \
	|| { echo "No GNU parallel found: put it on PATH, or use make PARALLEL=... scale"; exit 1; }

# The time of a call as a ratio to pytest in a shell: half an hour. ROWS="one-test start" selects rows, ROUNDS=0.5
# halves the rounds.
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

# Whether the function with a real bug is the first difference from a base, and among the suspects without one: hours.
# Needs pip, and REPOS=FOLDER with clones of the libraries whose fix commits are taken back; without it only mutants are
# measured. ARGS="toolz --kind mutant" measures some; ARGS=--help tells more.
suspects: $(INSTALLED)
	@echo "== suspects"
	@$(BIN)/python -m bench.suspects $(if $(REPOS),--repos $(REPOS)) $(ARGS)

# Whether check_change is right about real commits, and its mutants in forks like those on disk: hours. Needs pip, and
# REPOS=FOLDER with clones of the libraries. ARGS="--commits 2 click" measures some.
prove: $(INSTALLED)
	@echo "== prove"
	@$(BIN)/python -m bench.prove $(if $(REPOS),--repos $(REPOS)) $(ARGS)

# Whether a test that leaks is found in the suites of real libraries: half an hour. Needs pip. LIBRARIES="toolz" plants
# in some of them.
polluters: $(INSTALLED)
	@echo "== polluters"
	@$(BIN)/python -m bench.polluters $(LIBRARIES)

# Six bugs, each mended with pytest in a shell and with this server: what was read, how long it took, what was left running.
# MODEL=NAME is the model of Claude Code, which must be installed and have a key; without it a script stands for a model.
evaluation: $(INSTALLED)
	@echo "== evaluation"
	@$(BIN)/python scripts/environments.py demo
	@$(BIN)/python scripts/npm.py tokenizer
	@$(BIN)/python -m bench.evaluation $(if $(MODEL),--model $(MODEL)) $(if $(WRITE),--write)

# Which test files `changed` selects of real commits: minutes. REPOS=FOLDER has clones of the repositories.
changed: $(INSTALLED)
	@echo "== changed"
	@$(BIN)/python -m bench.changed $(REPOS)

# Writes docs/tools.md, the snapshots of the first answers and the tables in documents.
docs: $(INSTALLED)
	@$(BIN)/python scripts/generate_docs.py
	@$(BIN)/python scripts/generate_tables.py

# Records docs/demo.svg, the film in the README, from calls of a real server.
recording: $(INSTALLED)
	@$(BIN)/python -m scripts.record_demo

# Builds everything that is published into dist/ and checks it; publishes nothing.
package: $(INSTALLED)
	@echo "== package"
	@$(BIN)/python scripts/environments.py package
	@$(BIN)/python scripts/npm.py mcpb
	@$(BIN)/python scripts/package.py

$(INSTALLED): pyproject.toml requirements-dev.txt constraints.txt
	@echo "== setting up $(VENV)"
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "pytest-mcp needs Python 3.11 or newer; use make PYTHON=...")'
	@$(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -r requirements-dev.txt -e .
	@touch $@

clean:
	rm -rf $(VENV) .envs .tokens build dist .mypy_cache .pytest_cache .ruff_cache .hypothesis
