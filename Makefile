# Ways in. Each target sets up what it needs in .venv first; nothing else on the machine is touched.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

VENV := .venv
RUN := $(VENV)/bin/python -m
# For one run only: make all ARGS="--config counting='{seed: 7}'"
ARGS ?=

.PHONY: help all lecture10 lecture11 own test lint check-results verify readme sass clean clean-cache environment

help: ## list the targets
	@echo "usage: make TARGET"
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "  %-13s %s\n", $$1, $$2 }' Makefile

all: environment ## build every result, table and figure under results/
	$(RUN) snakemake all $(ARGS)

lecture10: environment ## build the tables and figures of lecture 10
	$(RUN) snakemake lecture10 $(ARGS)

lecture11: environment ## build the tables and figures of lecture 11
	$(RUN) snakemake lecture11 $(ARGS)

own: environment ## check, count and predict kernels of your own (docs/OWN_KERNELS.md)
	$(RUN) snakemake own $(ARGS)

test: environment ## run the tests
	$(RUN) pytest --numprocesses 2 $(ARGS)

lint: environment ## check format, style, layers, types and the workflow
	$(VENV)/bin/ruff format --check
	$(VENV)/bin/ruff check
	$(VENV)/bin/snakefmt --check Snakefile workflow
	$(VENV)/bin/lint-imports
	$(RUN) snakemake --lint
	$(RUN) mypy

check-results: environment ## hold every file under results/ against its digest
	$(RUN) pipeline.check_results

verify: environment ## build twice and compare every byte (ARGS=--reduced: two minutes)
	$(RUN) tests.workflow.verify $(ARGS)

readme: environment ## write config/README.md anew from the models
	$(RUN) pipeline.config

sass: environment ## compile the CUDA twins anew into data/sass (needs nvcc and nvdisasm)
	$(RUN) pipeline.renew_listings

clean: ## remove results, logs and Snakemake's records; keep .venv and what was made before
	rm -rf results logs .snakemake .run

clean-cache: environment ## remove what was made before and is kept to be restored
	$(RUN) pipeline.cache.clean

# Compares the contents of the lock file: a new date alone installs nothing.
environment:
	@cmp -s requirements.txt $(VENV)/requirements.txt || .ci/environment $(VENV)
