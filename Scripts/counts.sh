#!/usr/bin/env bash
# Records the number of tests of each target, after tests were added or removed.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

Scripts/set-up.sh build
swift build --build-tests "${TESTS[@]}"
program=$(swift build --show-bin-path "${TESTS[@]}")/ErrandPackageTests.xctest
LLVM_PROFILE_FILE=/dev/null python3 -B Scripts/tests.py record "$program"
