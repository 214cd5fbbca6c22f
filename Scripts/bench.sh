#!/usr/bin/env bash
# Compares Errand with libcurl in C, with URLSession and with commands, in one interleaved run against nginx, and its
# JSON decoding with Foundation, simdjson and Go.
# Options go to Benchmarks/driver.py: --rounds N, --quick, --only requests|transfers|json, --strict, --json FILE.
# Transfers need about 4 GiB of disk space in TMPDIR.
source "$(dirname "${BASH_SOURCE[0]}")/servers.sh"

PEERS=Benchmarks/.build/peers

# build_peer NAME COMPILER ARGUMENT…: builds $PEERS/NAME, or writes the reason for a failure to $PEERS/NAME.txt.
build_peer() {
  local name=$1 log
  shift
  say "bench: building $name"
  if ! command -v "$1" >/dev/null; then
    say "$1 is not installed" >"$PEERS/$name.txt"
  elif ! log=$("$@" 2>&1); then
    complain "$log"
    say "does not build: $(grep -m 1 ': ' <<<"$log")" >"$PEERS/$name.txt"
  fi
}

Scripts/set-up.sh bench
# An incremental release build can keep objects with an outdated layout of types from another package.
swift package --package-path Benchmarks clean
clients=(bench-curl bench-command bench-urlsession bench-errand bench-json)
if [[ " $* " == *" --only json "* ]]; then clients=(bench-json); fi
for client in "${clients[@]}"; do
  say "bench: building $client"
  # The driver prints "not measured" for a missing client; an old build must not be measured in its place.
  if ! swift build -c release --package-path Benchmarks --product "$client"; then
    complain "bench: $client does not build"
    rm -f "Benchmarks/.build/release/$client"
  fi
done
rm -rf "$PEERS"
mkdir -p "$PEERS"
# g++ produces faster code here than clang++, which is part of the Swift toolchain.
build_peer bench-simdjson "$(command -v g++ || echo clang++)" -std=c++17 -O3 -march=native Benchmarks/Peers/simdjson.cpp \
  -lsimdjson -o "$PEERS/bench-simdjson"
build_peer bench-go go build -o "$PEERS/bench-go" Benchmarks/Peers/values.go
build_peer bench-go-http go build -o "$PEERS/bench-go-http" Benchmarks/Peers/requests.go

trap servers_stop EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
servers_start bench
python3 -B Benchmarks/driver.py --programs Benchmarks/.build/release --peers "$PEERS" \
  --url "$ERRAND_NGINX" --tls "$ERRAND_NGINX_TLS" --files "$ERRAND_NGINX_FILES" "$@"
