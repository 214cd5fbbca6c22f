#!/usr/bin/env bash
# The slower checks after `make test`: the code for Apple platforms, sanitizers, an optimised build, fuzzing,
# documentation and the demo. Stops at the first step that fails.
source "$(dirname "${BASH_SOURCE[0]}")/steps.sh"

# Two other builds of the tests, without samples and examples. The address sanitizer watches an optimised build, because
# code that works in a debug build can still fail when it is optimised.
THREAD=(--sanitize=thread --scratch-path .build-tsan -Xswiftc -DTSAN)
ADDRESS=(-c release --sanitize=address --scratch-path .build-asan -Xswiftc -enable-testing -Xswiftc -DASAN)

thread_sanitizer() {
  build --product ErrandPackageTests "${THREAD[@]}"
  TSAN_OPTIONS="$THREAD_SANITIZER" run_tests thread "${THREAD[@]}"
}

address_sanitizer() {
  build --product ErrandPackageTests "${ADDRESS[@]}"
  # In an optimised build the check for leaks reports constants, because it cannot follow the encoded pointers to them.
  # Tests that are about leaks count the living objects.
  ASAN_OPTIONS=detect_leaks=0 run_tests address "${ADDRESS[@]}"
}

# A thousand requests over libcurl and over the engine, with equal responses. `make test` sends fewer of them.
differential() {
  ERRAND_DIFFERENTIAL=1000 LLVM_PROFILE_FILE=/dev/null "$(test_program)" --testing-library swift-testing \
    --filter ErrandTests.DifferentialTests >"$LOGS/differential.log" || { grep -A3 '↳' "$LOGS/differential.log" && false; }
}

# The corpus and inputs close to it, the same ones in each run; `make fuzz` searches further with random seeds.
fuzzing() {
  build_fuzz
  FUZZ_RUNS=20000 FUZZ_SEED=1 Scripts/fuzz.sh
  FUZZ_SECONDS=30 FUZZ_SEED=1 Scripts/fuzz-responses.sh
}

build_fuzz() { Scripts/fuzz.sh --build 2>&1 | grep --line-buffered -v "$LINKER_NOISE"; }

# The command from the build step; its coverage is not counted.
demo() { LLVM_PROFILE_FILE=/dev/null "$(swift build --show-bin-path)/errand" demo </dev/null; }

step "set-up" Scripts/set-up.sh test
step "Apple platforms" python3 -B Scripts/apple.py
step "build" build_all
step "servers" servers_start test
step "differential" differential
step "thread sanitizer" thread_sanitizer
step "address sanitizer, optimised" address_sanitizer
step "fuzzing" fuzzing
step "documentation" Scripts/docs.sh --skip-build
step "demo" demo
say "all steps passed in $SECONDS s"
