# shellcheck shell=bash
# Shared functions of test.sh and check.sh, which source this file: steps, builds, and test runs with counts.
source "$(dirname "${BASH_SOURCE[0]}")/servers.sh"

# A test run that takes longer counts as hanging. Builds have no limit, because their time depends on the machine.
MINUTES=20
# At a terminal Ctrl-C must reach the tests; without one the time-out must reach all their processes.
TIMEOUT=(timeout --kill-after=10)
if [[ -t 1 ]]; then TIMEOUT+=(--foreground); fi
# The linker prints this for about a hundred symbols of the address sanitizer.
LINKER_NOISE='ld.gold: warning: Cannot export local symbol'

LOGS=$(mktemp -d)
STEP="start"
PASSED=0
FAILED=0
# The process ID of the build that runs during a step; 0 if there is none.
BESIDE=0

finish() {
  local status=$?
  if ((BESIDE != 0)); then kill "$BESIDE" 2>/dev/null || true; fi
  servers_stop
  if ((status != 0)); then
    # Issues are hard to find among thousands of lines. The line after an issue has its details.
    grep -h -A1 '^✘ Test .* recorded an issue' "$LOGS"/*.log 2>/dev/null | grep '^[✘↳]' >&2 || true
    if ((FAILED == 0)); then FAILED=1; fi
    complain "${0##*/}: failed in step \"$STEP\""
  fi
  rm -rf "$LOGS"
  say "$PASSED passed, $FAILED failed"
  exit "$status"
}
trap finish EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# step NAME COMMAND…: runs the command and prints its duration.
step() {
  local begin=$SECONDS
  STEP=$1
  shift
  say "── $STEP"
  "$@"
  say "── $STEP: $((SECONDS - begin)) s"
}

# build ARGUMENT…: runs `swift build` and removes the linker's noise from its output.
build() { swift build "$@" 2>&1 | grep --line-buffered -v "$LINKER_NOISE"; }

# Builds all products, including samples, examples and the command.
build_all() { build --build-tests --enable-code-coverage; }

# run_tests NAME all|concurrent ARGUMENT…: runs `swift test` without building and checks that exactly the recorded
# number of tests ran in each target. The output is line-buffered, so that the last line names a hanging test.
run_tests() {
  local name=$1 selection=$2 log="$LOGS/$1.log" report="$LOGS/$1.xml" status=0
  shift 2
  "${TIMEOUT[@]}" "${MINUTES}m" stdbuf -oL swift test --skip-build --disable-xctest --no-parallel \
    --xunit-output "$report" "$@" 2>&1 | tee "$log" || status=$?
  if ((status == 124 || status == 137)); then complain "${0##*/}: still running after $MINUTES minutes: $(tail -1 "$log")"; fi
  count_tests "$log"
  if ((status != 0)); then return "$status"; fi
  python3 Scripts/count-tests.py check "$selection" "$report" >&2
}

# Sets COUNTED, COUNTED_FAILED and COUNTED_SKIPPED to the numbers of passed, failed and skipped tests.
# The numbers are from Swift Testing's output, the last of which is `Test run with N tests in … passed after …`.
count_tests() {
  local log=$1 total
  total=$(sed -n 's/^.* Test run with \([0-9]*\) tests\{0,1\} .*\(passed\|failed\) after .*/\1/p' "$log" | tail -1)
  COUNTED_FAILED=$(grep -c '^✘ Test .* failed after ' "$log" || true)
  if grep -q '^✘ Test run with ' "$log"; then COUNTED_FAILED=$((COUNTED_FAILED - 1)); fi
  COUNTED_SKIPPED=$(grep -cE '^➜ Test .* (skipped|was cancelled)' "$log" || true)
  COUNTED=$((${total:-0} - COUNTED_FAILED - COUNTED_SKIPPED))
  if ((COUNTED < 0)); then COUNTED=0; fi
}
