#!/usr/bin/env bash
# The slower checks after `make test`: sanitizers, an optimised build, fuzzing, documentation and the demo. Stops at the
# first step that fails.
source "$(dirname "${BASH_SOURCE[0]}")/steps.sh"

# The three other builds of the tests. They build only the tests; the first step builds everything else.
TESTS_ALONE=(--product ErrandPackageTests)
THREAD=(--sanitize=thread --scratch-path .build-tsan -Xswiftc -DTSAN)
ADDRESS=(--sanitize=address --scratch-path .build-asan -Xswiftc -DASAN)
OPTIMISED=(-c release -Xswiftc -enable-testing --scratch-path .build-release)

# build_beside COMMAND…: starts the build for the next step at idle priority. The running tests wait more than they
# compute, so processor time is left.
build_beside() {
  local modestly=(chrt --idle 0)
  # Containers may not permit chrt.
  if ! "${modestly[@]}" true 2>/dev/null; then modestly=(nice -n 19); fi
  "${modestly[@]}" "$@" >"$LOGS/build" 2>&1 &
  BESIDE=$!
}

# Waits for the build that build_beside started, and shows its output if it failed.
built_beside() {
  local build=$BESIDE status=0
  wait "$build" || status=$?
  BESIDE=0
  if ((status != 0)); then grep -v "$LINKER_NOISE" "$LOGS/build" >&2 || true; fi
  return "$status"
}

# run_again NAME ARGUMENT…: runs the tests of concurrent code in another build.
run_again() {
  local name=$1 status=0
  shift
  run_tests "$name" concurrent "$@" --filter "$CONCURRENT_SUITES" || status=$?
  PASSED=$((PASSED + COUNTED))
  FAILED=$((FAILED + COUNTED_FAILED))
  return "$status"
}

thread_sanitizer() {
  build "${TESTS_ALONE[@]}" "${THREAD[@]}"
  build_beside swift build "${TESTS_ALONE[@]}" "${ADDRESS[@]}"
  TSAN_OPTIONS="$THREAD_SANITIZER" run_again thread "${THREAD[@]}"
}

address_sanitizer() {
  built_beside
  build_beside swift build "${TESTS_ALONE[@]}" "${OPTIMISED[@]}"
  LSAN_OPTIONS="suppressions=$PWD/Scripts/leaks.supp:print_suppressions=0" run_again address "${ADDRESS[@]}"
}

# Code that works in a debug build can still fail when it is optimised.
optimised() {
  built_beside
  build_beside Scripts/fuzz.sh --build
  run_again optimised "${OPTIMISED[@]}"
}

# The corpus and inputs close to it, the same ones in each run; `make fuzz` searches further with random seeds.
fuzzing() {
  built_beside
  FUZZ_RUNS=50000 FUZZ_SEED=1 Scripts/fuzz.sh
  FUZZ_SECONDS=30 FUZZ_SEED=1 Scripts/fuzz-responses.sh
}

# The command from the build step; its coverage is not counted.
demo() { LLVM_PROFILE_FILE=/dev/null "$(swift build --show-bin-path)/errand" demo </dev/null; }

step "set-up" Scripts/set-up.sh test
step "build" build_all
step "servers" servers_start test
step "thread sanitizer" thread_sanitizer
step "address sanitizer" address_sanitizer
step "optimised" optimised
step "fuzzing" fuzzing
step "documentation" Scripts/docs.sh --skip-build
step "demo" demo
say "all steps passed in $SECONDS s"
