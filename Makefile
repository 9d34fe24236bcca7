# Everything a person or CI types. Each target sets up what it needs; stamps keep repeats quick.
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DELETE_ON_ERROR:
MAKEFLAGS += --no-builtin-rules --no-print-directory

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PACKAGES := $(VENV)/packages.stamp
PROJECT := $(VENV)/project.stamp
SOURCES := $(shell find crates -path '*/src/*' -o -name Cargo.toml -o -name build.rs) Cargo.toml Cargo.lock pyproject.toml
TARGET := $(or $(CARGO_TARGET_DIR),target)

# Tests run in an environment of their own: same packages, but compiled modules of the dev profile.
TESTS := build/test-env
PYTEST := $(TESTS)/bin/python -m pytest --numprocesses 2 --dist loadgroup
CHECKED := -p tameshi-base -p tameshi-record -p tameshi-spec -p tameshi-workload
# One selection of packages and targets in every call: another one has other features, and builds all again.
RUST := --workspace --locked --quiet --lib --bins --tests

.PHONY: help demo check test test-system soak timings bench lint mutants predictions setup lock wheel release plotly gen site format clean
.PHONY: test-packages test-env test-build rust-tests
help: ## this list
	@sed -nE 's/^([a-z-]+):.*## (.*)/  make \1\t\2/p' Makefile | expand -t 22

demo: setup ## a database on two simulated drives, then the disk at hand, measured; each with its report
	@mkdir -p build
	$(BIN)/tameshi run drive-or-memory --out build/drive-or-memory-results --fresh
	@sync # Else the build's output would be written beside the measurement.
	$(BIN)/tameshi run first-look --world measured \
	    --on disk=build/first-look --out build/first-look-results --fresh

check: lint test-build ## on each save: formats, lints, types, unit tests (2 min)
	cargo test $(RUST) $(CHECKED)
	$(PYTEST) tests/unit

test: test-packages lint rust-tests ## on each commit: check, simulator, guard, a real server, a browser (10 min)
	$(PYTEST) tests/unit tests/process

test-system: test-packages rust-tests ## on each landing: test, servers, crashes, kills, fio's examples, studies (20 min)
	$(PYTEST) tests

soak: test-packages test-build ## everything on full grids, with every seed, kill and study (hours)
	@scripts/debian-packages requirements/debian-soak.txt
	TAMESHI_GRID=full cargo test $(RUST) -- --include-ignored
	TAMESHI_GRID=full $(PYTEST) tests -m 'soak or not soak' --timeout=7200

timings: test-packages test-env ## how long each test takes, into docs/validation/test-times.md
	scripts/timings

mutants: test-packages test-build ## plants 20 bugs, one at a time: the named test must find each (20 min)
	$(TESTS)/bin/python scripts/mutants.py --write

bench: setup ## every benchmark in bench/
	@scripts/debian-packages requirements/debian-test.txt
	@shopt -s nullglob; all=(bench/[a-z]*.py); \
	if ((!$${#all[@]})); then echo 'no benchmarks yet'; exit 1; fi; \
	for file in "$${all[@]}"; do echo "== $$file"; $(BIN)/python -m "bench.$$(basename "$$file" .py)"; done

lint: $(PACKAGES) ## formats, lints and types
	@cargo fmt --version >/dev/null 2>&1 || rustup component add rustfmt
	@cargo clippy --version >/dev/null 2>&1 || rustup component add clippy
	cargo fmt --all --check
	cargo clippy --workspace --all-targets --locked --quiet -- -D warnings
	$(BIN)/ruff check --quiet
	$(BIN)/ruff format --check --quiet
	$(BIN)/mypy

predictions: setup ## runs the studies of published figures, and writes what we predict
	$(BIN)/python -m validation

setup: $(PROJECT) ## the virtual environment with the project in it

# pip takes no hashes together with an editable install: the locked packages first, then the project.
$(PACKAGES): requirements/dev.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r $<
	@touch $@

$(PROJECT): export RUSTFLAGS += $(shell scripts/rustflags)
$(PROJECT): $(PACKAGES) $(SOURCES)
	PATH="$(abspath $(BIN)):$$PATH" pip install --quiet --disable-pip-version-check \
	    --no-deps --no-build-isolation --editable .
	@touch $@

test-packages:
	@scripts/debian-packages requirements/debian-test.txt

test-env: $(TESTS)/stamp
$(TESTS)/stamp: $(PACKAGES) scripts/test-environment
	scripts/test-environment $(VENV) $(TESTS)
	@touch $@

# Cargo finds out by itself that a change of tests leaves the modules as they are.
test-build: test-env
	cargo build $(RUST)
	cp --remove-destination $(TARGET)/debug/lib_tameshi.so $(TESTS)/compiled

rust-tests: test-build
	cargo test $(RUST)

format: $(PACKAGES) ## formats the sources
	cargo fmt --all
	$(BIN)/ruff check --quiet --fix-only
	$(BIN)/ruff format --quiet

lock: ## locks the Python packages anew; UPGRADE=--upgrade takes newer ones
	test -x $(BIN)/pip-compile || { $(PYTHON) -m venv $(VENV) && $(BIN)/python -m pip install --quiet pip-tools; }
	$(BIN)/pip-compile --quiet $(UPGRADE) --extra dev --generate-hashes --strip-extras --allow-unsafe \
	    --no-header --no-emit-index-url --no-emit-trusted-host --no-emit-find-links \
	    --output-file requirements/dev.txt pyproject.toml
	$(BIN)/pip-compile --quiet $(UPGRADE) --constraint requirements/dev.txt --generate-hashes --strip-extras \
	    --allow-unsafe --no-annotate --no-header --no-emit-index-url --no-emit-trusted-host \
	    --no-emit-find-links --output-file requirements/run.txt pyproject.toml

wheel: $(PACKAGES) ## dist/tameshi-*.whl for pip, on any x86-64 processor (4 min)
	scripts/package wheel

release: $(PACKAGES) ## wheel, sdist, locked packages and SHA256SUMS in dist/; uploads nothing (4 min)
	scripts/package release

plotly: $(PACKAGES) ## the basic bundle of plotly.js for reports, in the locked version of plotly (npm)
	scripts/plotly-bundle

site: setup ## the manual, into build/site (1 min)
	$(BIN)/python -m scripts.docsite build/site

gen: test-build ## what is generated from the Rust types: schemas, Python's types, reference pages
	$(TESTS)/bin/python scripts/generate.py python/tameshi/core/spec_types.py docs/reference

clean: ## removes what was built
	rm -rf $(VENV) build dist target .mypy_cache .pytest_cache .ruff_cache
	find python -name '*.so' -delete
