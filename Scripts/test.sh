#!/usr/bin/env bash
# Runs lint, the build and all tests, which must pass before a change is merged. Stops at the first step that fails.
source "$(dirname "${BASH_SOURCE[0]}")/steps.sh"

main_run() {
  local status=0
  run_tests main all --enable-code-coverage || status=$?
  PASSED=$COUNTED
  FAILED=$COUNTED_FAILED
  if ((status != 0)); then return "$status"; fi
  if ((COUNTED_SKIPPED > 0)); then
    complain "test: $COUNTED_SKIPPED tests were skipped; this script must run all of them"
    return 1
  fi
}

coverage() { python3 Scripts/coverage.py "$(swift test --show-codecov-path)"; }

step "set-up" Scripts/set-up.sh test
step "lint" Scripts/lint.sh
step "build" build_all
step "servers" servers_start test
step "tests" main_run
step "coverage" coverage
say "all steps passed in $SECONDS s"
