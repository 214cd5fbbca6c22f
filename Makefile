# Errand's doors. `make demo` and `make test` work on a fresh machine with Swift; they install what is missing.
SHELL := /bin/bash
export SWIFT_BACKTRACE := enable=no

.DEFAULT_GOAL := help
.PHONY: help demo test check counts mutate bench docs lint format fuzz soak clean

help: ## Show this list.
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-8s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: ## Play the everyday scenes against an embedded server.
	@Scripts/set-up.sh build
	@swift run errand demo

test: ## Lint, build and run all tests (about 12 minutes the first time).
	@Scripts/test.sh

check: ## What `make test` leaves out: sanitizers, optimised build, fuzzing, documentation, demo (about 35 minutes).
	@Scripts/check.sh

counts: ## Record how many tests each target has, after tests were added or removed.
	@Scripts/set-up.sh build
	@swift build --build-tests
	@source Scripts/common.sh; swift test list --skip-build --disable-xctest | python3 Scripts/count-tests.py update "$$CONCURRENT_SUITES"

mutate: ## Change decisions one at a time and see whether a test notices (about an hour; by hand).
	@Scripts/set-up.sh test
	@Scripts/mutate.sh

bench: ## Compare with libcurl in C and with URLSession, in one interleaved run.
	@Scripts/bench.sh

docs: ## Build the documentation into docs-out; a dead link fails.
	@Scripts/set-up.sh build
	@Scripts/docs.sh

lint: ## Check format and documentation comments.
	@Scripts/lint.sh

format: ## Rewrite the sources in the project's format.
	@Scripts/lint.sh --fix

fuzz: ## Throw made-up bytes at every parser (FUZZ_SECONDS=60 each; libFuzzer).
	@Scripts/fuzz.sh
	@Scripts/fuzz-responses.sh

soak: ## Ten minutes of mixed load, killed processes, then the concurrent suites under the thread sanitizer (ROUNDS=5).
	@Scripts/soak-mix.sh
	@Scripts/soak.sh

clean: ## Remove what was built; the test servers stay installed.
	@rm -rf .build .build-tsan .build-asan .build-release .build-fuzz Benchmarks/.build docs-out
