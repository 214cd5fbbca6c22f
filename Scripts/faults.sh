#!/usr/bin/env bash
# Prints the table of the page Faults: how Errand, the command curl and URLSession handle a server's faults.
# With --write it writes the table to the page.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

Scripts/set-up.sh bench
swift build --package-path Benchmarks --product fault-table
page=Sources/Errand/Errand.docc/Faults.md
table=$(mktemp)
trap 'rm -f "$table"' EXIT
Benchmarks/.build/debug/fault-table | tee "$table"
if [ "${1:-}" = --write ]; then
  { sed '/^| fault |/,$d' "$page"; cat "$table"; } > "$table.page"
  mv "$table.page" "$page"
  say "faults: written to $page"
fi
