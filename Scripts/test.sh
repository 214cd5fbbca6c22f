#!/usr/bin/env bash
# Everything that must hold before a change goes in. The first step that fails ends it.
source "$(dirname "${BASH_SOURCE[0]}")/servers.sh"

# A run that takes longer hangs. What it takes to build does not count: that depends on the machine alone.
MINUTES=20
# At a terminal Ctrl-C must reach the tests; elsewhere the time-out must reach all their processes.
TIMEOUT=(timeout --kill-after=10)
if [[ -t 1 ]]; then TIMEOUT+=(--foreground); fi
# The linker says this of a hundred of the address sanitizer's symbols.
LINKER_NOISE='ld.gold: warning: Cannot export local symbol'

LOGS=$(mktemp -d)
STEP="start"
PASSED=0
FAILED=0
# The build that goes on beside a step; 0 for none.
BESIDE=0

finish() {
  local status=$?
  if ((BESIDE != 0)); then kill "$BESIDE" 2>/dev/null || true; fi
  servers_stop
  if ((status != 0)); then
    # Among thousands of lines they are hard to find. What a test says of an issue stands in the line below it.
    grep -h -A1 '^✘ Test .* recorded an issue' "$LOGS"/*.log 2>/dev/null | grep '^[✘↳]' >&2 || true
    if ((FAILED == 0)); then FAILED=1; fi
    complain "test: failed in step \"$STEP\""
  fi
  rm -rf "$LOGS"
  say "$PASSED passed, $FAILED failed"
  exit "$status"
}
trap finish EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# step NAME COMMAND…: runs it and says how long it took.
step() {
  local begin=$SECONDS
  STEP=$1
  shift
  say "── $STEP"
  "$@"
  say "── $STEP: $((SECONDS - begin)) s"
}

# build ARGUMENT…: what SwiftPM says of it, without the linker's noise.
build() { swift build "$@" 2>&1 | grep --line-buffered -v "$LINKER_NOISE"; }

# Everything there is: samples, examples and the command, too.
build_all() { build --build-tests --enable-code-coverage; }

# run_tests NAME all|concurrent ARGUMENT…: runs `swift test` over what is built and checks that exactly the recorded
# number of tests ran in each target. Line by line, so that the last line names a test that hangs.
run_tests() {
  local name=$1 selection=$2 log="$LOGS/$1.log" report="$LOGS/$1.xml" status=0
  shift 2
  "${TIMEOUT[@]}" "${MINUTES}m" stdbuf -oL swift test --skip-build --disable-xctest --no-parallel \
    --xunit-output "$report" "$@" 2>&1 | tee "$log" || status=$?
  if ((status == 124 || status == 137)); then complain "test: still running after $MINUTES minutes: $(tail -1 "$log")"; fi
  count_tests "$log"
  if ((status != 0)); then return "$status"; fi
  python3 Scripts/count-tests.py check "$selection" "$report" >&2
}

# Sets COUNTED to the number of tests that passed, COUNTED_FAILED and COUNTED_SKIPPED likewise.
# They come from Swift Testing's own lines, the last of which is `Test run with N tests in … passed after …`.
count_tests() {
  local log=$1 total
  total=$(sed -n 's/^.* Test run with \([0-9]*\) tests\{0,1\} .*\(passed\|failed\) after .*/\1/p' "$log" | tail -1)
  COUNTED_FAILED=$(grep -c '^✘ Test .* failed after ' "$log" || true)
  if grep -q '^✘ Test run with ' "$log"; then COUNTED_FAILED=$((COUNTED_FAILED - 1)); fi
  COUNTED_SKIPPED=$(grep -cE '^➜ Test .* (skipped|was cancelled)' "$log" || true)
  COUNTED=$((${total:-0} - COUNTED_FAILED - COUNTED_SKIPPED))
  if ((COUNTED < 0)); then COUNTED=0; fi
}

main_run() {
  local status=0
  run_tests main all --enable-code-coverage || status=$?
  PASSED=$COUNTED
  FAILED=$COUNTED_FAILED
  if ((status != 0)); then return "$status"; fi
  if ((COUNTED_SKIPPED > 0)); then
    complain "test: $COUNTED_SKIPPED tests were skipped; here all of them must run"
    return 1
  fi
}

coverage() { python3 Scripts/coverage.py "$(swift test --show-codecov-path)"; }

# The three other ways to build the tests, and no more than these need: all else was built above.
TESTS_ALONE=(--product ErrandPackageTests)
THREAD=(--sanitize=thread --scratch-path .build-tsan -Xswiftc -DTSAN)
ADDRESS=(--sanitize=address --scratch-path .build-asan -Xswiftc -DASAN)
OPTIMISED=(-c release -Xswiftc -enable-testing --scratch-path .build-release)

# build_beside COMMAND…: begins to build what the next step runs, with what of the processors the tests that run leave
# over: those wait more than they compute. Not beside the main run, where lateness is judged.
build_beside() {
  local modestly=(chrt --idle 0)
  # Containers may forbid it.
  if ! "${modestly[@]}" true 2>/dev/null; then modestly=(nice -n 19); fi
  "${modestly[@]}" "$@" >"$LOGS/build" 2>&1 &
  BESIDE=$!
}

# Waits for the build that was begun so, and shows it where it failed.
built_beside() {
  local build=$BESIDE status=0
  wait "$build" || status=$?
  BESIDE=0
  if ((status != 0)); then grep -v "$LINKER_NOISE" "$LOGS/build" >&2 || true; fi
  return "$status"
}

# run_again NAME ARGUMENT…: runs the tests with threads and races in them, built another way.
run_again() {
  local name=$1
  shift
  run_tests "$name" concurrent "$@" --filter "$CONCURRENT_SUITES"
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

# Optimised code: what debug builds carry rightly can still break there.
optimised() {
  built_beside
  build_beside Scripts/fuzz.sh --build
  run_again optimised "${OPTIMISED[@]}"
}

# The first inputs and what is near them, the same ones each time; `make fuzz` looks further and elsewhere.
fuzzing() {
  built_beside
  FUZZ_RUNS=50000 FUZZ_SEED=1 Scripts/fuzz.sh
  FUZZ_SECONDS=30 FUZZ_SEED=1 Scripts/fuzz-responses.sh
}

# The command as it was built above; its coverage is not counted.
demo() { LLVM_PROFILE_FILE=/dev/null "$(swift build --show-bin-path)/errand" demo </dev/null; }

step "set-up" Scripts/set-up.sh test
step "lint" Scripts/lint.sh
step "build" build_all
step "servers" servers_start test
step "tests" main_run
step "coverage" coverage
step "thread sanitizer" thread_sanitizer
step "address sanitizer" address_sanitizer
step "optimised" optimised
step "fuzzing" fuzzing
step "documentation" Scripts/docs.sh --skip-build
step "demo" demo
say "all steps passed in $SECONDS s"
