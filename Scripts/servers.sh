#!/usr/bin/env bash
# The real servers of the tests and benchmarks, all on loopback and on free ports.
#
# Manually:       Scripts/servers.sh start     prints the addresses as shell exports; for example
#                                              eval "$(Scripts/servers.sh start)" && swift test
#                 Scripts/servers.sh stop
# In a script:    source Scripts/servers.sh; trap servers_stop EXIT; servers_start test|bench
#
# Afterwards the environment has ERRAND_NGINX, ERRAND_NGINX_TLS, ERRAND_NGINX_CA and others (see nginx_export),
# ERRAND_REDIS (host:port), ERRAND_REDIS_SOCKET, ERRAND_REDIS_PROGRAM, ERRAND_COLLECTOR and ERRAND_SMALL_DISK.
# `bench` starts only nginx, without compression, and adds /stream of 1 GiB.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

SERVERS_DIR=""
SERVERS_PIDS=()
# How often a start is checked, 20 times a second: a minute. A slow machine needs ten seconds for httpbin alone. The wait
# ends at once if the process ends.
SERVERS_TICKS=1200

servers_start() {
  local profile=${1:-test}
  # URLSession uses the proxies of the environment, also for servers on loopback.
  unset http_proxy https_proxy HTTPS_PROXY all_proxy ALL_PROXY no_proxy NO_PROXY
  SERVERS_DIR=$(mktemp -d)
  # The worker of nginx does not run as root and must still be able to read the files.
  chmod 755 "$SERVERS_DIR"
  nginx_start "$profile"
  if [[ $profile == test ]]; then httpbin_start; fi
  if [[ $profile == test ]]; then doors_start; fi
  if [[ $profile == test ]]; then collector_start; fi
  if [[ $profile == test ]]; then redis_start; fi
  if [[ $profile == test ]]; then small_disk_start; fi
}

# Stops only the processes that this shell started, by process ID.
servers_stop() {
  local pid
  for pid in "${SERVERS_PIDS[@]}"; do kill "$pid" 2>/dev/null || true; done
  for pid in "${SERVERS_PIDS[@]}"; do wait_for_end "$pid"; done
  SERVERS_PIDS=()
  small_disk_stop
  if [[ -n $SERVERS_DIR ]]; then rm -rf "$SERVERS_DIR"; fi
  SERVERS_DIR=""
}

# Waits up to five seconds for a process to stop, then kills it.
wait_for_end() {
  local pid=$1 tick
  for ((tick = 0; tick < 100; tick++)); do
    kill -0 "$pid" 2>/dev/null || return 0
    sleep 0.05
  done
  kill -9 "$pid" 2>/dev/null || true
}

# free_ports COUNT: prints COUNT different free ports.
free_ports() {
  python3 - "$1" <<'PYTHON'
import socket, sys
held = []
while len(held) < int(sys.argv[1]):
    four = socket.socket()
    four.bind(("127.0.0.1", 0))
    held.append(four)
print(*(four.getsockname()[1] for four in held))
PYTHON
}

has_ipv6() { python3 -c 'import socket; socket.socket(socket.AF_INET6).bind(("::1", 0))' 2>/dev/null; }

# Waits until the address responds. Fails if the process ends or after a minute.
wait_for_answer() {
  local pid=$1 url=$2 tick
  for ((tick = 0; tick < SERVERS_TICKS; tick++)); do
    kill -0 "$pid" 2>/dev/null || return 1
    if answers "$url"; then return 0; fi
    sleep 0.05
  done
  return 1
}

answers() {
  python3 -c '
import sys, urllib.request
opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
sys.exit(opener.open(sys.argv[1], timeout=5).status != 200)' "$1" 2>/dev/null
}

nginx_start() {
  local profile=$1 attempt
  python3 Scripts/servers/files.py "$SERVERS_DIR/files" "$([[ $profile == bench ]] && echo --large)"
  Scripts/servers/certificates.sh "$SERVERS_DIR/tls"
  mkdir -p "$SERVERS_DIR/temp"
  # Another program may take a port before nginx binds it, so failed attempts choose new ports.
  for attempt in 1 2 3 4 5; do
    if nginx_try "$profile"; then return; fi
    complain "servers: nginx did not start (attempt $attempt)"
  done
  cat "$SERVERS_DIR"/nginx*.log >&2
  complain "servers: nginx does not start"
  return 1
}

nginx_try() {
  local profile=$1 plain tls expired wrong self common early old middle retiring h2c h2c_retiring ipv6='# ' gzip=on pid
  read -r plain tls expired wrong self common early old middle retiring h2c h2c_retiring < <(free_ports 12)
  if has_ipv6; then ipv6=''; fi
  if [[ $profile == bench ]]; then gzip=off; fi
  sed -e "s|@DIR@|$SERVERS_DIR|g" -e "s|@IPV6@|$ipv6|g" -e "s|@GZIP@|$gzip|g" -e "s|@PLAIN@|$plain|g" \
    -e "s|@TLS@|$tls|g" -e "s|@EXPIRED@|$expired|g" -e "s|@WRONG_HOST@|$wrong|g" -e "s|@SELF_SIGNED@|$self|g" -e "s|@COMMON_NAME@|$common|g" \
    -e "s|@NOT_YET_VALID@|$early|g" -e "s|@TLS_1_1@|$old|g" -e "s|@TLS_1_2@|$middle|g" \
    -e "s|@RETIRING@|$retiring|g" -e "s|@H2C@|$h2c|g" -e "s|@H2C_RETIRING@|$h2c_retiring|g" \
    Scripts/servers/nginx.conf >"$SERVERS_DIR/nginx.conf"
  "$(find_nginx)" -p "$SERVERS_DIR" -e "$SERVERS_DIR/nginx.log" -c "$SERVERS_DIR/nginx.conf" \
    >"$SERVERS_DIR/nginx-output.log" 2>&1 </dev/null &
  pid=$!
  if ! wait_for_answer "$pid" "http://127.0.0.1:$plain/200b"; then
    kill "$pid" 2>/dev/null || true
    wait_for_end "$pid"
    return 1
  fi
  SERVERS_PIDS+=("$pid")
  nginx_export
}

# Uses the ports that nginx_try chose.
nginx_export() {
  export ERRAND_NGINX="http://127.0.0.1:$plain"
  export ERRAND_NGINX_IPV6="${ipv6:-http://[::1]:$plain}"
  if [[ -n $ipv6 ]]; then ERRAND_NGINX_IPV6=""; fi
  export ERRAND_NGINX_FILES="$SERVERS_DIR/files"
  export ERRAND_NGINX_TLS="https://localhost:$tls"
  export ERRAND_NGINX_CA="$SERVERS_DIR/tls/ca.pem"
  export ERRAND_NGINX_EXPIRED="https://localhost:$expired"
  export ERRAND_NGINX_WRONG_HOST="https://localhost:$wrong"
  export ERRAND_NGINX_SELF_SIGNED="https://localhost:$self"
  export ERRAND_NGINX_COMMON_NAME="https://localhost:$common"
  export ERRAND_NGINX_NOT_YET_VALID="https://localhost:$early"
  export ERRAND_NGINX_TLS_1_1="https://localhost:$old"
  export ERRAND_NGINX_TLS_1_2="https://localhost:$middle"
  export ERRAND_NGINX_H2C="http://127.0.0.1:$h2c"
  export ERRAND_NGINX_H2C_RETIRING="http://127.0.0.1:$h2c_retiring"
  export ERRAND_NGINX_RETIRING="https://localhost:$retiring"
  export ERRAND_NGINX_H2C_SOCKET="$SERVERS_DIR/h2c.sock"
  export ERRAND_NGINX_SOCKET="$SERVERS_DIR/nginx.sock"
  export ERRAND_NGINX_TLS_SOCKET="$SERVERS_DIR/tls.sock"
  # The folder with the certificates, their keys, and the pins of their public keys.
  export ERRAND_CERTIFICATES="$SERVERS_DIR/tls"
}

# gunicorn chooses a free port itself and writes it to its log.
httpbin_start() {
  local log="$SERVERS_DIR/httpbin.log" pid tick address=""
  # The file must exist before it is read below, and the background process may create it late.
  : >"$log"
  .servers/python/bin/python -m gunicorn --bind 127.0.0.1:0 --worker-class gthread --workers 1 --threads 32 \
    --keep-alive 75 --graceful-timeout 1 --worker-tmp-dir "$SERVERS_DIR" httpbin:app >>"$log" 2>&1 </dev/null &
  pid=$!
  for ((tick = 0; tick < SERVERS_TICKS; tick++)); do
    address=$(sed -n 's|.*Listening at: \(http://[0-9.:]*\).*|\1|p' "$log")
    if [[ -n $address ]] || ! kill -0 "$pid" 2>/dev/null; then break; fi
    sleep 0.05
  done
  if [[ -z $address ]] || ! wait_for_answer "$pid" "$address/get"; then
    kill "$pid" 2>/dev/null || true
    cat "$log" >&2
    complain "servers: httpbin does not start"
    return 1
  fi
  SERVERS_PIDS+=("$pid")
  export ERRAND_HTTPBIN="$address"
}

doors_start() { printing_start doors python3 Scripts/servers/doors.py "$SERVERS_DIR/tls"; }

collector_start() { printing_start collector .servers/python/bin/python Scripts/servers/collector.py; }

# printing_start NAME COMMAND…: starts servers that choose free ports themselves and print them as shell exports.
printing_start() {
  local name=$1 said="$SERVERS_DIR/$1.sh" pid tick
  shift
  : >"$said"
  "$@" >>"$said" 2>"$SERVERS_DIR/$name.log" </dev/null &
  pid=$!
  for ((tick = 0; tick < SERVERS_TICKS; tick++)); do
    if [[ -s $said ]] || ! kill -0 "$pid" 2>/dev/null; then break; fi
    sleep 0.05
  done
  if [[ ! -s $said ]]; then
    kill "$pid" 2>/dev/null || true
    cat "$SERVERS_DIR/$name.log" >&2
    complain "servers: $* does not start"
    return 1
  fi
  SERVERS_PIDS+=("$pid")
  # shellcheck source=/dev/null
  source "$said"
}

redis_start() {
  local attempt
  for attempt in 1 2 3 4 5; do
    if redis_try; then return; fi
    complain "servers: redis-server did not start (attempt $attempt)"
  done
  cat "$SERVERS_DIR/redis.log" >&2
  complain "servers: redis-server does not start"
  return 1
}

# Uses no system configuration and stores nothing on a disk.
redis_try() {
  local port pid tick socket="$SERVERS_DIR/redis.sock"
  read -r port < <(free_ports 1)
  : >"$SERVERS_DIR/redis.log"
  "$(find_redis)" - >>"$SERVERS_DIR/redis.log" 2>&1 < <(
    sed -e "s|@DIR@|$SERVERS_DIR|g" -e "s|@PORT@|$port|g" -e "s|@SOCKET@|$socket|g" Scripts/servers/redis.conf
  ) &
  pid=$!
  for ((tick = 0; tick < SERVERS_TICKS; tick++)); do
    kill -0 "$pid" 2>/dev/null || return 1
    if grep -q 'Ready to accept connections' "$SERVERS_DIR/redis.log"; then break; fi
    sleep 0.05
  done
  if ((tick == SERVERS_TICKS)); then
    kill "$pid" 2>/dev/null || true
    wait_for_end "$pid"
    return 1
  fi
  SERVERS_PIDS+=("$pid")
  export ERRAND_REDIS="127.0.0.1:$port"
  export ERRAND_REDIS_SOCKET="$socket"
  ERRAND_REDIS_PROGRAM=$(find_redis)
  export ERRAND_REDIS_PROGRAM
}

# A file system of 2 MiB for tests of a full disk. If this user may not mount one, the variable is empty, and those tests
# use only a limit on the file size of a process.
small_disk_start() {
  export ERRAND_SMALL_DISK="$SERVERS_DIR/small-disk"
  mkdir "$ERRAND_SMALL_DISK"
  if ! mount -t tmpfs -o size=2m,mode=0700 errand "$ERRAND_SMALL_DISK" 2>/dev/null; then ERRAND_SMALL_DISK=""; fi
}

small_disk_stop() {
  local place="$SERVERS_DIR/small-disk"
  if [[ -z $SERVERS_DIR ]] || ! mountpoint -q "$place" 2>/dev/null; then return; fi
  umount "$place" 2>/dev/null || umount -l "$place" || true
}

# Started manually, the servers outlive the script; a file records the processes to stop.
servers_main() {
  local state=.servers/running
  case ${1:-} in
    start)
      # common.sh has changed the folder, so a relative path of this script may name no file any more.
      if [[ -e $state ]]; then Scripts/servers.sh stop; fi
      trap servers_stop EXIT
      servers_start "${2:-test}"
      mkdir -p .servers
      declare -p SERVERS_DIR SERVERS_PIDS >"$state"
      trap - EXIT
      declare -px | sed -n 's/^declare -x \(ERRAND_[A-Z0-9_]*=\)/export \1/p'
      ;;
    stop)
      if [[ ! -e $state ]]; then return; fi
      # shellcheck source=/dev/null
      source "$state"
      rm -f "$state"
      # If the folder is gone, the processes have ended, and other processes may have their IDs.
      if [[ -d $SERVERS_DIR ]]; then servers_stop; fi
      ;;
    *) complain "usage: Scripts/servers.sh start [test|bench] | stop" && exit 64 ;;
  esac
}

if [[ ${BASH_SOURCE[0]} == "$0" ]]; then servers_main "$@"; fi
