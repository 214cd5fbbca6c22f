#!/usr/bin/env bash
# Runs the suites with concurrency in them ROUNDS times (5) under the thread sanitizer: a race that shows once in
# ten runs is a race. The first failure ends it.
source "$(dirname "${BASH_SOURCE[0]}")/servers.sh"

ROUNDS=${ROUNDS:-5}
export TSAN_OPTIONS="$THREAD_SANITIZER"
# Rounds of each row of the delivery table, in each of the rounds below.
export ERRAND_ROUNDS=${ERRAND_ROUNDS:-1000}
# Random trees of batches and chains with random cancels.
export ERRAND_GROUP_STORMS=${ERRAND_GROUP_STORMS:-1000}
# File calls that fail while several ranges come.
export ERRAND_DOWNLOAD_FAULTS=${ERRAND_DOWNLOAD_FAULTS:-60}
# Writers of a store that are killed, damages done to its files, and how long two processes share one.
export ERRAND_CACHE_KILLS=${ERRAND_CACHE_KILLS:-200}
export ERRAND_CACHE_DAMAGES=${ERRAND_CACHE_DAMAGES:-400}
export ERRAND_CACHE_SECONDS=${ERRAND_CACHE_SECONDS:-60}
BUILD=(--sanitize=thread --scratch-path .build-tsan -Xswiftc -DTSAN)

Scripts/set-up.sh test
swift build --build-tests "${BUILD[@]}"
trap servers_stop EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
servers_start test

log=$(mktemp)
# Downloads whose process is killed, and uploads of 4 GiB: once, in a plain build.
export ERRAND_DOWNLOAD_KILLS=${ERRAND_DOWNLOAD_KILLS:-200}
if ! ERRAND_SOAK=1 swift test --disable-xctest --no-parallel --filter 'DownloadCrashTests|UploadMemoryTests' \
  >"$log" 2>&1 || ! grep -qE 'Test run with [1-9][0-9]* tests? .*passed' "$log"; then
  cat "$log" >&2
  complain "soak: downloads of killed processes, or large uploads, failed"
  exit 1
fi
for ((round = 1; round <= ROUNDS; round++)); do
  if ! swift test --disable-xctest --skip-build "${BUILD[@]}" --filter "$CONCURRENT_SUITES" >"$log" 2>&1 \
    || ! grep -qE 'Test run with [1-9][0-9]* tests? .*passed' "$log"; then
    cat "$log" >&2
    complain "soak: failed in round $round of $ROUNDS"
    exit 1
  fi
  say "soak: round $round of $ROUNDS passed"
done
rm -f "$log"
