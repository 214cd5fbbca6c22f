#!/usr/bin/env bash
# Sends mutated responses through libcurl as the transport configures it, under valgrind.
#
#   FUZZ_SECONDS=60   the duration
#   FUZZ_SEED=1       the same responses in each run of the same seed, one sequence per connection
#   FUZZ_REUSE=1      reuse the easy handle, as the transport does from libcurl 8.1.1 on
#
# A C program replaces the transport, because valgrind 3.19 cannot run Swift programs. Its findings are faults of libcurl
# that a server can trigger; each needs a workaround in Sources/ErrandCurl and a row in the guide on libcurl.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

SCRATCH=.build-fuzz/responses
mkdir -p "$SCRATCH"
for tool in cc valgrind python3; do
  if ! command -v "$tool" >/dev/null; then
    complain "fuzz-responses: $tool is missing; install it with apt-get install gcc valgrind python3"
    exit 1
  fi
done
# shellcheck disable=SC2046 # flags are words
cc -g -O1 -Wall -Wextra -o "$SCRATCH/client" Fuzz/Responses/client.c $(pkg-config --cflags --libs libcurl)

# A new file each time: the background process may create it late, and the port of an earlier run must not be read.
PORT=$(mktemp)
python3 Fuzz/Responses/server.py "${FUZZ_SEED:-1}" >"$PORT" &
SERVER=$!
trap 'kill "$SERVER" 2>/dev/null || true; rm -f "$PORT"' EXIT
for _ in $(seq 600); do
  if [[ -s $PORT ]] || ! kill -0 "$SERVER" 2>/dev/null; then break; fi
  sleep 0.1
done
if [[ ! -s $PORT ]]; then
  complain "fuzz-responses: the server does not start"
  exit 1
fi

MODE=()
if [[ -n ${FUZZ_REUSE:-} ]]; then MODE=(reuse); fi
if ! valgrind --quiet --error-exitcode=9 --leak-check=no --log-file="$SCRATCH/valgrind.log" \
  "$SCRATCH/client" "$(cat "$PORT")" "${FUZZ_SECONDS:-60}" "${MODE[@]}"; then
  cat "$SCRATCH/valgrind.log" >&2
  complain "fuzz-responses: a response of seed ${FUZZ_SEED:-1} harms libcurl $(pkg-config --modversion libcurl)"
  exit 1
fi
# Without the server every exchange fails, and libcurl reads nothing.
if ! kill -0 "$SERVER" 2>/dev/null; then
  complain "fuzz-responses: the server ended before libcurl had read its responses"
  exit 1
fi
