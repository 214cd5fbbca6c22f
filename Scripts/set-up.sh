#!/usr/bin/env bash
# Installs missing packages.
#
#   Scripts/set-up.sh build    the C libraries that the package links
#   Scripts/set-up.sh test     … and the servers of the tests
#   Scripts/set-up.sh check    … and the browser of `make check`
#   Scripts/set-up.sh bench    … and the servers and commands of the benchmarks
#
# Uses root, or sudo if it works. Without either it prints the packages to install and fails.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

LEVEL=${1:-build}
VENV=.servers/python
REQUIREMENTS=Scripts/servers/requirements.txt

case $LEVEL in
  build | test | check | bench) ;;
  *) complain "usage: Scripts/set-up.sh build|test|check|bench" && exit 64 ;;
esac
# The level `check` includes the level `test`.
BROWSER=
if [[ $LEVEL == check ]]; then LEVEL=test BROWSER=chromium; fi

# Succeeds if the library's pkg-config file or its Debian package is installed.
has_library() {
  pkg-config --exists "$1" 2>/dev/null \
    || dpkg-query --show --showformat='${Status}' "$2" 2>/dev/null | grep -q 'ok installed'
}

# Debian packages the module for virtual environments separately from python3.
has_venv() { python3 -c 'import venv, ensurepip' 2>/dev/null; }

# Prints the Debian packages that are missing for this level, one per line.
missing_packages() {
  command -v pkg-config >/dev/null || echo pkg-config
  has_library libcurl libcurl4-openssl-dev || echo libcurl4-openssl-dev
  has_library zlib zlib1g-dev || echo zlib1g-dev
  has_library libbrotlidec libbrotli-dev || echo libbrotli-dev
  has_library libzstd libzstd-dev || echo libzstd-dev
  has_library libnghttp2 libnghttp2-dev || echo libnghttp2-dev
  has_library libssl libssl-dev || echo libssl-dev
  has_library sqlite3 libsqlite3-dev || echo libsqlite3-dev
  has_library hiredis libhiredis-dev || echo libhiredis-dev
  has_library libpsl libpsl-dev || echo libpsl-dev
  if [[ $LEVEL == build ]]; then return; fi
  find_nginx >/dev/null || echo nginx-light
  command -v openssl >/dev/null || echo openssl
  command -v python3 >/dev/null || echo python3
  if [[ $LEVEL == bench ]]; then missing_commands; fi
  if [[ -n $BROWSER ]] && ! command -v chromium >/dev/null; then echo "$BROWSER"; fi
  if [[ $LEVEL == test ]] && ! has_venv; then echo python3-venv; fi
  if [[ $LEVEL == test ]] && ! command -v curl >/dev/null; then echo curl; fi
  if [[ $LEVEL == test ]] && ! command -v valgrind >/dev/null; then echo valgrind; fi
  if [[ $LEVEL == test ]] && ! command -v cc >/dev/null; then echo gcc libc6-dev | tr ' ' '\n'; fi
  if [[ $LEVEL == test ]] && ! find_redis >/dev/null; then echo redis-server; fi
}

# The commands that the benchmark compares with Errand.
missing_commands() {
  command -v curl >/dev/null || echo curl
  command -v wget >/dev/null || echo wget
  command -v aria2c >/dev/null || echo aria2
}

# The optional peers of the JSON comparison. The benchmark reports a missing one.
missing_peers() {
  has_library simdjson libsimdjson-dev || echo libsimdjson-dev
  command -v go >/dev/null || echo golang-go
}

# Prints the prefix that runs a command as root, which is empty for root. Fails if no prefix works.
root_prefix() {
  if [[ $(id -u) == 0 ]]; then return; fi
  command -v sudo >/dev/null || return 1
  if sudo -n true 2>/dev/null; then echo "sudo -n"; return; fi
  if [[ -t 0 && -t 2 ]]; then echo sudo; return; fi
  return 1
}

# Debian starts and enables a server when it is installed, but the tests start their own. A policy prevents service
# starts while apt runs, and a unit that apt has just enabled is disabled. A unit that existed before is not changed.
# shellcheck disable=SC2016
AS_ROOT='
  set -eu
  export DEBIAN_FRONTEND=noninteractive
  policy=/usr/sbin/policy-rc.d
  had_nginx=$(command -v /usr/sbin/nginx || true)
  had_redis=$(command -v /usr/bin/redis-server || true)
  if [ ! -e "$policy" ]; then
    printf "#!/bin/sh\nexit 101\n" >"$policy"
    chmod 755 "$policy"
    trap "rm -f $policy" EXIT INT TERM
  fi
  # A new machine often installs its updates at this moment, and another run of this script may install packages.
  install() { apt-get install -o DPkg::Lock::Timeout=600 -y -qq --no-install-recommends "$@"; }
  install "$@" || { apt-get update -qq; install "$@"; }
  disable() {
    if command -v systemctl >/dev/null; then systemctl --quiet disable "$1" 2>/dev/null || true; fi
  }
  if [ -z "$had_nginx" ] && [ -x /usr/sbin/nginx ]; then disable nginx.service; fi
  if [ -z "$had_redis" ] && [ -x /usr/bin/redis-server ]; then disable redis-server.service; fi
'

install_packages() {
  local packages=("$@") prefix log
  if ! command -v apt-get >/dev/null; then
    complain "Errand needs these Debian packages or their equivalents; install them: ${packages[*]}"
    exit 1
  fi
  if ! prefix=$(root_prefix); then
    complain "Errand needs packages that only root can install. Ask an administrator to run:"
    complain "  apt-get install ${packages[*]}"
    exit 1
  fi
  say "set-up: installing ${packages[*]}"
  log=$(mktemp)
  # shellcheck disable=SC2086
  if ! $prefix sh -c "$AS_ROOT" sh "${packages[@]}" >"$log" 2>&1; then
    cat "$log" >&2
    rm -f "$log"
    complain "set-up: apt-get failed to install: ${packages[*]}"
    exit 1
  fi
  rm -f "$log"
}

# httpbin and mcp in a separate virtual environment, which is created again when the list of versions changes.
install_httpbin() {
  mkdir -p .servers
  # Another run at the same time must not remove the environment that this one fills. The lock ends with the script.
  exec 9>.servers/lock
  flock 9
  if cmp -s "$REQUIREMENTS" "$VENV/installed.txt" && [[ -x $VENV/bin/python ]]; then return; fi
  say "set-up: installing httpbin, gunicorn and mcp from PyPI into $VENV"
  rm -rf "$VENV"
  python3 -m venv "$VENV"
  if ! "$VENV/bin/pip" install --quiet --disable-pip-version-check --requirement "$REQUIREMENTS"; then
    complain "set-up: pip failed to install $REQUIREMENTS"
    exit 1
  fi
  cp "$REQUIREMENTS" "$VENV/installed.txt"
}

if ! command -v swift >/dev/null; then
  complain "Errand needs Swift 6.3 or later on the PATH: https://www.swift.org/install"
  exit 1
fi
mapfile -t missing < <(missing_packages)
if ((${#missing[@]} > 0)); then install_packages "${missing[@]}"; fi
if [[ $LEVEL == test ]]; then install_httpbin; fi
if [[ $LEVEL == bench ]]; then
  mapfile -t peers < <(missing_peers)
  if ((${#peers[@]} > 0)) && ! (install_packages "${peers[@]}"); then
    complain "set-up: only the JSON comparison needs these packages; continuing without them"
  fi
fi
