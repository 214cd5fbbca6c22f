#!/usr/bin/env bash
# Throws made-up bytes at every parser of wire and disk data, by LLVM's libFuzzer under the address sanitizer.
#
#   FUZZ_SECONDS=60   how long for each target
#   FUZZ_RUNS=N       so many executions for each target instead
#   FUZZ_SEED=N       the same inputs each time, so that a run can be repeated
#   FUZZ_TARGETS="…"  some targets alone; without it all that the program lists
#   FUZZ_JOBS=N       how many targets at a time (as many as there are processors)
#
# With --build it builds the program and throws nothing.
#
# It begins with the inputs of Fuzz/Corpus and keeps what it learns in .build-fuzz/corpus. The bytes of a finding lie in
# .build-fuzz/findings: they belong into a unit test of that parser, together with the mend.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

SCRATCH=.build-fuzz
BUILD=(
  -c release --scratch-path "$SCRATCH" --sanitize=address -Xswiftc -sanitize=fuzzer -Xswiftc -enable-testing
  -Xswiftc -use-ld=lld
)

export ERRAND_FUZZ=1
# Objects that live as long as the program look like leaks to it.
export ASAN_OPTIONS=detect_leaks=0

if [[ ${1:-} == --build ]]; then exec swift build --product ErrandFuzz "${BUILD[@]}"; fi
swift build --product ErrandFuzz "${BUILD[@]}"
FUZZER=$(swift build --show-bin-path "${BUILD[@]}")/ErrandFuzz
export FUZZER SCRATCH

# What all runs share: an input that takes ten seconds, or a gibibyte, is a finding, too.
LIMIT=(-max_total_time="${FUZZ_SECONDS:-60}")
if [[ -n ${FUZZ_RUNS:-} ]]; then LIMIT=(-runs="$FUZZ_RUNS"); fi
if [[ -n ${FUZZ_SEED:-} ]]; then LIMIT+=(-seed="$FUZZ_SEED"); fi
export OPTIONS="${LIMIT[*]} -timeout=10 -rss_limit_mb=1024 -print_final_stats=1"

# fuzz TARGET: one line about it; the whole log where something was found.
fuzz() {
  local target=$1 log="$SCRATCH/$1.log" options
  read -ra options <<<"$OPTIONS"
  mkdir -p "$SCRATCH/corpus/$target" "$SCRATCH/findings"
  if ! "$FUZZER" "$target" "${options[@]}" -artifact_prefix="$SCRATCH/findings/$target-" \
    "$SCRATCH/corpus/$target" "Fuzz/Corpus/$target" >"$log" 2>&1; then
    cat "$log" >&2
    printf 'fuzz: %s has a finding; again: %s %s %s/findings/%s-…\n' \
      "$target" "$FUZZER" "$target" "$SCRATCH" "$target" >&2
    return 1
  fi
  printf 'fuzz: %-20s %9s executions, %5s inputs, %6s edges\n' "$target" \
    "$(sed -n 's/^stat::number_of_executed_units: //p' "$log")" "$(find "$SCRATCH/corpus/$target" -type f | wc -l)" \
    "$(sed -n 's/^.* cov: \([0-9]*\) .*/\1/p' "$log" | tail -1)"
}
export -f fuzz

targets() {
  local target
  for target in ${FUZZ_TARGETS:-$("$FUZZER")}; do
    if [[ ! -d Fuzz/Corpus/$target ]]; then
      complain "fuzz: Fuzz/Corpus/$target is missing"
      return 1
    fi
    printf '%s\n' "$target"
  done
}

LIST=$(targets)
xargs -P "${FUZZ_JOBS:-$(nproc)}" -I TARGET bash -c 'fuzz TARGET' <<<"$LIST"
