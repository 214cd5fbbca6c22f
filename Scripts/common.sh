# shellcheck shell=bash
# Shared settings and helpers of the other scripts, which source this file.
set -euo pipefail

ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$ROOT"

# After a crash Swift's backtracer can keep a pipe open for minutes.
export SWIFT_BACKTRACE=enable=no

# The options of the thread sanitizer. Without the inner quotes, a space in the path would end the option.
THREAD_SANITIZER="halt_on_error=1:suppressions='$ROOT/Scripts/races.supp':print_suppressions=0"

# The build of the tests. It has no debug information, which takes a sixth of the time, so it has a folder of its own:
# other options would make a plain `swift build` compile everything again. The compiler works on up to 64 files at once
# instead of 25, because it reads the other files of the module for each group of files. The linker of the toolchain links
# the 48 programs in two thirds of the time of the system's linker.
TESTS=(
  --scratch-path .build-test --enable-code-coverage -debug-info-format none
  -Xswiftc -driver-batch-size-limit -Xswiftc 64 -Xswiftc -use-ld=lld
)
# The build for the thread sanitizer, whose reports name lines.
THREAD=(--scratch-path .build-tsan --sanitize=thread -Xswiftc -DTSAN)

say() { printf '%s\n' "$*"; }
complain() { printf '%s\n' "$*" >&2; }

# nginx is in /usr/sbin, which is not on every user's PATH.
find_nginx() { PATH="$PATH:/usr/sbin:/usr/local/sbin" command -v nginx; }

find_redis() { command -v redis-server; }

# The folders of Swift sources that exist, for the formatter.
swift_folders() {
  local folder
  for folder in Sources Examples Tests Snippets Fuzz Benchmarks/Package.swift Benchmarks/Sources; do
    if [[ -e $folder ]]; then printf '%s\n' "$folder"; fi
  done
}
