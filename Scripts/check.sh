#!/usr/bin/env bash
# The slower checks after `make test`: the code for Apple platforms, sanitizers, an optimised build, fuzzing, adapters,
# documentation and the demo. Stops at the first step that fails.
source "$(dirname "${BASH_SOURCE[0]}")/steps.sh"

# The address sanitizer watches an optimised build, because code that works in a debug build can still fail when it is
# optimised. Like the build for the thread sanitizer, it has no samples and examples.
ADDRESS=(-c release --scratch-path .build-asan --sanitize=address -Xswiftc -enable-testing -Xswiftc -DASAN)

# left_out COLUMN: the test targets of which a run runs no test, by the column of the run in test-counts.txt.
left_out() { awk -v column="$1" 'NR > 1 && $column == 0 { print $1 }' Scripts/test-counts.txt | xargs; }

thread_sanitizer() {
  local -x ERRAND_WITHOUT
  ERRAND_WITHOUT=$(left_out 3)
  build --product ErrandPackageTests "${THREAD[@]}"
  TSAN_OPTIONS="$THREAD_SANITIZER" run_tests thread "${THREAD[@]}"
}

address_sanitizer() {
  local -x ERRAND_WITHOUT
  ERRAND_WITHOUT=$(left_out 4)
  build --product ErrandPackageTests "${ADDRESS[@]}"
  # In an optimised build the check for leaks reports constants, because it cannot follow the encoded pointers to them.
  # Tests that are about leaks count the living objects.
  ASAN_OPTIONS=detect_leaks=0 run_tests address "${ADDRESS[@]}"
}

# A thousand requests over libcurl and over the engine, with equal responses. `make test` sends fewer of them.
differential() {
  ERRAND_DIFFERENTIAL=1000 LLVM_PROFILE_FILE=/dev/null "$(test_program "${TESTS[@]}")" --testing-library swift-testing \
    --filter ErrandTests.DifferentialTests >"$LOGS/differential.log" || { grep -A3 '↳' "$LOGS/differential.log" && false; }
}

# The corpus and inputs close to it, the same ones in each run; `make fuzz` searches further with random seeds.
fuzzing() {
  build_fuzz
  FUZZ_RUNS=10000 FUZZ_SEED=1 Scripts/fuzz.sh
  FUZZ_SECONDS=30 FUZZ_SEED=1 Scripts/fuzz-responses.sh
}

build_fuzz() { Scripts/fuzz.sh --build 2>&1 | grep --line-buffered -v "$LINKER_NOISE"; }

# ErrandAdapters with all of its traits, over the packages in Tests/StandIns.
adapters() { Scripts/with-packages.sh >"$LOGS/adapters.log" 2>&1 || { tail -n 40 "$LOGS/adapters.log" && false; }; }

# The page of the flight record in a browser. The program is from the build step.
page() { LLVM_PROFILE_FILE=/dev/null python3 -B Scripts/page.py "$(swift build --show-bin-path "${TESTS[@]}")/PageSample"; }

# The command from the build step; its coverage is not counted.
demo() { LLVM_PROFILE_FILE=/dev/null "$(swift build --show-bin-path "${TESTS[@]}")/errand" demo </dev/null; }

step "set-up" Scripts/set-up.sh check
step "Apple platforms" python3 -B Scripts/apple.py
step "build" build_all
step "servers" servers_start test
step "differential" differential
step "thread sanitizer" thread_sanitizer
step "address sanitizer, optimised" address_sanitizer
step "fuzzing" fuzzing
step "adapters" adapters
step "documentation" Scripts/docs.sh --built .build-test
step "page" page
step "demo" demo
say "all steps passed in $SECONDS s"
