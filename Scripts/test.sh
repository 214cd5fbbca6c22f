#!/usr/bin/env bash
# Runs lint, the build and all tests, which must pass before a change is merged. Stops at the first step that fails.
source "$(dirname "${BASH_SOURCE[0]}")/steps.sh"

# Each process of the run writes a profile, from which the coverage is computed.
tests() { LLVM_PROFILE_FILE="$LOGS/%p.profraw" run_tests all "${TESTS[@]}"; }

coverage() {
  llvm_tool llvm-profdata merge -sparse "$LOGS"/*.profraw -o "$LOGS/profile"
  llvm_tool llvm-cov export -summary-only -instr-profile "$LOGS/profile" "$(test_program "${TESTS[@]}")" >"$LOGS/coverage.json"
  python3 Scripts/coverage.py "$LOGS/coverage.json"
}

# The tools of the toolchain are in the same folder as its swift, which may be a symbolic link on the PATH.
llvm_tool() {
  local tool=$1
  shift
  "$(dirname "$(readlink -f "$(command -v swift)")")/$tool" "$@"
}

step "set-up" Scripts/set-up.sh test
step "lint" Scripts/lint.sh
step "build" build_all
step "servers" servers_start test
step "tests" tests
step "coverage" coverage
say "all steps passed in $SECONDS s"
