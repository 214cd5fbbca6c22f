#!/usr/bin/env bash
# Mixed load on a server that misbehaves at random, for ERRAND_SOAK_SECONDS (600): GET, POST, joined, cached, retried and
# refreshed calls, batches, downloads and cancels, with resets, truncation, stalls, garbage, 429 and 503. Fails if a
# response is wrong, a POST arrives twice, or memory, descriptors or objects leak. ERRAND_SOAK_SEED repeats a run.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

export ERRAND_SOAK_SECONDS=${ERRAND_SOAK_SECONDS:-600}
# Optimised, as in production.
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
