#!/usr/bin/env bash
# Fuzzes every parser of wire and disk data with LLVM's libFuzzer under the address sanitizer.
#
#   FUZZ_SECONDS=60   the duration for each target
#   FUZZ_RUNS=N       a number of executions for each target instead of a duration
#   FUZZ_SEED=N       the seed, so that a run can be repeated with the same inputs
#   FUZZ_TARGETS="…"  the targets to run; by default all that the program lists
#   FUZZ_JOBS=N       the number of concurrent targets; by default the number of processors
#
# With --build it only builds the program.
#
# It starts with the inputs of Fuzz/Corpus and stores new inputs in .build-fuzz/corpus. The bytes of a finding are in
# .build-fuzz/findings: add them to a unit test of that parser, together with the fix.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

SCRATCH=.build-fuzz
BUILD=(
  -c release --scratch-path "$SCRATCH" --sanitize=address -Xswiftc -sanitize=fuzzer -Xswiftc -enable-testing
  -Xswiftc -use-ld=lld
)

export ERRAND_FUZZ=1
# The sanitizer reports objects that live until the program exits as leaks.
export ASAN_OPTIONS=detect_leaks=0

if [[ ${1:-} == --build ]]; then exec swift build --product ErrandFuzz "${BUILD[@]}"; fi
swift build --product ErrandFuzz "${BUILD[@]}"
FUZZER=$(swift build --show-bin-path "${BUILD[@]}")/ErrandFuzz
export FUZZER SCRATCH

# The options of all runs. An input that takes ten seconds or 1 GiB of memory is a finding too.
LIMIT=(-max_total_time="${FUZZ_SECONDS:-60}")
if [[ -n ${FUZZ_RUNS:-} ]]; then LIMIT=(-runs="$FUZZ_RUNS"); fi
if [[ -n ${FUZZ_SEED:-} ]]; then LIMIT+=(-seed="$FUZZ_SEED"); fi
export OPTIONS="${LIMIT[*]} -timeout=10 -rss_limit_mb=1024 -print_final_stats=1"

# Targets whose executions take about 20 ms, because each makes connections. They get a tenth of the executions.
export SLOW=" http2 tls-records "

# fuzz TARGET: prints one line about the target, or its whole log if there is a finding.
fuzz() {
  local target=$1 log="$SCRATCH/$1.log" options
  read -ra options <<<"$OPTIONS"
  if [[ -n ${FUZZ_RUNS:-} && $SLOW == *" $target "* ]]; then options+=(-runs="$((FUZZ_RUNS / 10))"); fi
  mkdir -p "$SCRATCH/corpus/$target" "$SCRATCH/findings"
  if ! "$FUZZER" "$target" "${options[@]}" -artifact_prefix="$SCRATCH/findings/$target-" \
    "$SCRATCH/corpus/$target" "Fuzz/Corpus/$target" >"$log" 2>&1; then
    cat "$log" >&2
    printf 'fuzz: %s has a finding; run it again with: %s %s %s/findings/%s-…\n' \
      "$target" "$FUZZER" "$target" "$SCRATCH" "$target" >&2
    return 1
  fi
  printf 'fuzz: %-20s %9s executions, %5s inputs, %6s edges\n' "$target" \
    "$(sed -n 's/^stat::number_of_executed_units: //p' "$log")" "$(find "$SCRATCH/corpus/$target" -type f | wc -l)" \
    "$(sed -n 's/^.* cov: \([0-9]*\) .*/\1/p' "$log" | tail -1)"
}
export -f fuzz

targets() {
  local target names=${FUZZ_TARGETS:-}
  if [[ -z $names ]] && ! names=$("$FUZZER"); then
    complain "fuzz: the program cannot list its targets"
    return 1
  fi
  for target in $names; do
    if [[ ! -d Fuzz/Corpus/$target ]]; then
      complain "fuzz: Fuzz/Corpus/$target is missing"
      return 1
    fi
    printf '%s\n' "$target"
  done
}

LIST=$(targets)
if [[ -z $LIST ]]; then
  complain "fuzz: there are no targets"
  exit 1
fi
xargs -P "${FUZZ_JOBS:-$(nproc)}" -I TARGET bash -c 'fuzz TARGET' <<<"$LIST"
