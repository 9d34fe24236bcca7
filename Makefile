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
SOURCES := $(shell find crates -not -name '*.md') Cargo.toml Cargo.lock pyproject.toml

.PHONY: help demo test soak bench lint train predictions setup lock gen format clean
help: ## this list
	@sed -nE 's/^([a-z]+):.*## (.*)/  make \1\t\2/p' Makefile | expand -t 20

demo: setup ## a first study, measured and simulated, with its report
	@mkdir -p build
	@sync # What the build has left to be written would be written beside the measurement.
	$(BIN)/tameshi run studies/first-look.toml --world measured --world simulated \
	    --on disk=build/first-look --out build/first-look-results --fresh

# Examples are linted, not built for tests: they measure, and take two minutes to optimise.
test: setup ## every test but the long ones
	@scripts/debian-packages requirements/debian-test.txt
	cargo test --workspace --locked --quiet --lib --bins --tests
	cargo test --workspace --locked --quiet --doc
	cargo build --quiet --locked -p tameshi-spec --example schemas
	$(BIN)/python -m pytest --numprocesses 2 --dist worksteal

soak: setup ## the long tests
	@scripts/debian-packages requirements/debian-test.txt
	cargo test --workspace --locked --quiet -- --ignored
	$(BIN)/python -m pytest -m soak --timeout=7200

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

train: setup ## the compiler learns anew which way the simulator's branches go
	scripts/train

predictions: setup ## runs the studies of published figures, and writes what we predict
	$(BIN)/tameshi predictions

setup: $(PROJECT) ## the virtual environment with the project in it

# pip takes no hashes together with an editable install: the locked packages first, then the project. The database
# clients are an extension module of their own, which maturin has no room for.
$(PACKAGES): requirements/dev.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r $<
	@touch $@

$(PROJECT): export RUSTFLAGS += $(shell scripts/rustflags)
$(PROJECT): $(PACKAGES) $(SOURCES) $(wildcard pgo/*.profdata)
	PATH="$(abspath $(BIN)):$$PATH" pip install --quiet --disable-pip-version-check \
	    --no-deps --no-build-isolation --editable .
	cargo build --release --quiet --locked -p tameshi-oltp-py
	cp --remove-destination $${CARGO_TARGET_DIR:-target}/release/lib_oltp.so python/tameshi/_oltp.abi3.so
	@touch $@

format: $(PACKAGES) ## formats the sources
	cargo fmt --all
	$(BIN)/ruff check --quiet --fix-only
	$(BIN)/ruff format --quiet

lock: ## locks the Python packages anew; UPGRADE=--upgrade takes newer ones
	test -x $(BIN)/pip-compile || { $(PYTHON) -m venv $(VENV) && $(BIN)/python -m pip install --quiet pip-tools; }
	$(BIN)/pip-compile --quiet $(UPGRADE) --extra dev --generate-hashes --strip-extras --allow-unsafe \
	    --no-header --no-emit-index-url --no-emit-trusted-host --no-emit-find-links \
	    --output-file requirements/dev.txt pyproject.toml

gen: $(PACKAGES) ## what is generated from the Rust types: schemas, Python's types, reference pages
	cargo run --quiet --locked -p tameshi-spec --example schemas -- docs/reference
	$(BIN)/python scripts/generate.py docs/reference python/tameshi/spec_types.py docs/reference

clean: ## removes what was built
	rm -rf $(VENV) build target .mypy_cache .pytest_cache .ruff_cache
	find python -name '*.so' -delete
