# The commands of the project. `make demo` and `make test` work on a new machine with Swift; they install missing
# packages.
SHELL := /bin/bash
export SWIFT_BACKTRACE := enable=no

.DEFAULT_GOAL := help
.PHONY: help demo test check counts mutate bench docs lint format fuzz soak clean

help: ## Show this list.
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-8s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: ## Run everyday examples against an embedded server.
	@Scripts/set-up.sh build
	@swift run errand demo

test: ## Lint, build and run all tests (about 12 minutes the first time on two cores).
	@Scripts/test.sh

check: ## Run the slower checks: Apple platforms, sanitizers, optimised build, fuzzing, documentation, demo (an hour).
	@Scripts/check.sh

counts: ## Record the number of tests of each target after tests were added or removed.
	@Scripts/counts.sh

mutate: ## Change one decision at a time and check that a test fails (mutation testing, about an hour).
	@Scripts/set-up.sh test
	@Scripts/mutate.sh

bench: ## Compare Errand with libcurl in C and with URLSession, in one interleaved run.
	@Scripts/bench.sh

docs: ## Build the documentation into docs-out; a dead link fails.
	@Scripts/set-up.sh build
	@Scripts/docs.sh

lint: ## Check format and documentation comments.
	@Scripts/lint.sh

format: ## Rewrite the sources in the project's format.
	@Scripts/lint.sh --fix

fuzz: ## Fuzz the parsers of network and disk data with libFuzzer (FUZZ_SECONDS=60 each).
	@Scripts/fuzz.sh
	@Scripts/fuzz-responses.sh

soak: ## Run ten minutes of mixed load, killed processes, and the concurrent suites under the thread sanitizer (ROUNDS=5).
	@Scripts/soak-mix.sh
	@Scripts/soak.sh

clean: ## Remove the build products; the test servers stay installed.
	@rm -rf .build .build-* Benchmarks/.build docs-out
