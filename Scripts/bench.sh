#!/usr/bin/env bash
# Compares Errand with libcurl in C, with URLSession and with commands, in one interleaved run against nginx.
# Options go to Benchmarks/driver.py: --rounds N, --quick, --only requests|transfers|json, --strict, --json FILE.
# Transfers need about 4 GiB of disk; TMPDIR says where.
source "$(dirname "${BASH_SOURCE[0]}")/servers.sh"

Scripts/set-up.sh bench
# An incremental release build has been seen to keep objects with an old layout of types in another package.
swift package --package-path Benchmarks clean
clients=(bench-curl bench-command bench-urlsession bench-errand bench-json)
if [[ " $* " == *" --only json "* ]]; then clients=(bench-json); fi
for client in "${clients[@]}"; do
  say "bench: building $client"
  # The driver says "not measured" of a client that is not there; an old one must not stand in for it.
  if ! swift build -c release --package-path Benchmarks --product "$client"; then
    complain "bench: $client does not build"
    rm -f "Benchmarks/.build/release/$client"
  fi
done

trap servers_stop EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
servers_start bench
python3 -B Benchmarks/driver.py --programs Benchmarks/.build/release --url "$ERRAND_NGINX" --files "$ERRAND_NGINX_FILES" "$@"
