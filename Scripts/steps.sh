# shellcheck shell=bash
# Shared functions of test.sh and check.sh, which source this file: steps, builds and test runs.
source "$(dirname "${BASH_SOURCE[0]}")/servers.sh"

# The linker prints this for about a hundred symbols of the address sanitizer.
LINKER_NOISE='ld.gold: warning: Cannot export local symbol'

LOGS=$(mktemp -d)
# The folder for temporary files of all steps. The compiler leaves a folder in it for each module. All users may use it,
# like /tmp: apt and the worker of nginx do not run as root.
TEMPORARY=$(mktemp -d)
chmod 1777 "$TEMPORARY"
export TMPDIR=$TEMPORARY
STEP="start"
PASSED=0
FAILED=0

finish() {
  local status=$?
  servers_stop
  if ((status != 0)); then
    if ((FAILED == 0)); then FAILED=1; fi
    complain "${0##*/}: failed in step \"$STEP\""
  fi
  rm -rf "$TEMPORARY"
  if ((status == 0)); then rm -rf "$LOGS"; else complain "${0##*/}: the logs are in $LOGS"; fi
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
build_all() { build --build-tests "${TESTS[@]}"; }

# The test program of a build with the given options.
test_program() { printf '%s/ErrandPackageTests.xctest' "$(swift build --show-bin-path "$@")"; }

# run_tests all|thread|address OPTION…: runs the tests of a build and adds up their numbers.
run_tests() {
  local selection=$1 program passed failed status=0
  shift
  program=$(test_program "$@")
  mkdir "$LOGS/$STEP"
  python3 -B Scripts/tests.py run "$selection" "$program" "$LOGS/$STEP" | tee "$LOGS/summary" || status=$?
  read -r passed _ failed _ < <(grep -E '^[0-9]+ passed, [0-9]+ failed$' "$LOGS/summary" || echo 0 passed, 1 failed)
  PASSED=$((PASSED + passed))
  FAILED=$((FAILED + failed))
  return "$status"
}
