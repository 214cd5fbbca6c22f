#!/usr/bin/env bash
# Starts the test servers and runs Scripts/mutate.py, which receives all options.
source "$(dirname "${BASH_SOURCE[0]}")/servers.sh"

trap servers_stop EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
servers_start test
python3 -B Scripts/mutate.py "$@"
