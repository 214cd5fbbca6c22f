#!/usr/bin/env bash
# Killed processes, damaged folders and large uploads, once in a plain build; then the suites of concurrent code ROUNDS
# times (5) under the thread sanitizer, because a race may occur only once in ten runs. Stops at the first failure.
source "$(dirname "${BASH_SOURCE[0]}")/servers.sh"

ROUNDS=${ROUNDS:-5}
# The files that a killed process leaves do not depend on its build, and a sanitizer makes a process twenty times slower.
PROCESSES='DownloadCrashTests|UploadMemoryTests|StoreProcessTests|DamagedStoreTests'

# soak WHAT ARGUMENT…: runs tests and shows their output only if they fail or if none ran.
soak() {
  local what=$1 begin=$SECONDS
  shift
  if ! swift test --disable-xctest --no-parallel "$@" >"$LOG" 2>&1 \
    || ! grep -qE 'Test run with [1-9][0-9]* tests? .*passed' "$LOG"; then
    cat "$LOG" >&2
    complain "soak: $what failed"
    return 1
  fi
  say "soak: $what passed in $((SECONDS - begin)) s"
}

# Killed downloads and store writers, damaged store files, two processes that share a store, and uploads of 4 GiB.
processes() {
  export ERRAND_DOWNLOAD_KILLS=${ERRAND_DOWNLOAD_KILLS:-200}
  export ERRAND_CACHE_KILLS=${ERRAND_CACHE_KILLS:-200}
  export ERRAND_CACHE_DAMAGES=${ERRAND_CACHE_DAMAGES:-400}
  export ERRAND_CACHE_SECONDS=${ERRAND_CACHE_SECONDS:-60}
  ERRAND_SOAK=1 soak "processes" --filter "$PROCESSES"
}

# Rounds of each row of the delivery table, random trees of batches and chains with random cancels, and file operations
# that fail while several ranges arrive.
round() {
  export ERRAND_ROUNDS=${ERRAND_ROUNDS:-1000}
  export ERRAND_GROUP_STORMS=${ERRAND_GROUP_STORMS:-1000}
  export ERRAND_DOWNLOAD_FAULTS=${ERRAND_DOWNLOAD_FAULTS:-60}
  local begin=$SECONDS logs program
  logs=$(mktemp -d)
  program=$(swift build --show-bin-path "${THREAD[@]}")/ErrandPackageTests.xctest
  # A thousand rounds take longer than the limit for one process of `make test`.
  ERRAND_TEST_MINUTES=60 TSAN_OPTIONS="$THREAD_SANITIZER" python3 -B Scripts/tests.py run thread "$program" "$logs" \
    || { complain "soak: the logs are in $logs" && return 1; }
  rm -rf "$logs"
  say "soak: round $1 of $ROUNDS passed in $((SECONDS - begin)) s"
}

Scripts/set-up.sh test
LOG=$(mktemp)
trap 'servers_stop; rm -f "$LOG"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
servers_start test
(processes)
swift build --product ErrandPackageTests "${THREAD[@]}"
for ((number = 1; number <= ROUNDS; number++)); do (round "$number"); done
