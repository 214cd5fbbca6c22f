#!/usr/bin/env bash
# Mixed load over a server that misbehaves at random, for ERRAND_SOAK_SECONDS (600): GET, POST, joined, cached, tried
# again, refreshed, batches, downloads and cancels against resets, cuts, stalls, garbage, 429 and 503. At the end no
# answer was wrong, no POST came twice, and no memory, descriptor or object is left. ERRAND_SOAK_SEED repeats a run.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

export ERRAND_SOAK_SECONDS=${ERRAND_SOAK_SECONDS:-600}
# Optimised, as servers run it.
BUILD=(-c release -Xswiftc -enable-testing --scratch-path .build-release)

log=$(mktemp)
if ! swift test --disable-xctest --no-parallel "${BUILD[@]}" --filter MixedLoadTests >"$log" 2>&1 \
  || ! grep -qE 'Test run with [1-9][0-9]* tests? .*passed' "$log"; then
  cat "$log" >&2
  complain "soak: mixed load failed"
  exit 1
fi
sed -n 's/^mixed load/soak: mixed load/p' "$log"
rm -f "$log"
