#!/usr/bin/env bash
# Builds the documentation of the package into docs-out. Fails on a warning, such as a dead link, on a sample that is in
# no snippet, and on a status page that names a test that does not exist.
# With --built FOLDER it documents the modules of an earlier build in that folder.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

CATALOG=Sources/Errand/Errand.docc
OUTPUT=docs-out
BUILD=.build
if [[ ${1:-} == --built ]]; then BUILD=$2; fi

if [[ ! -d $CATALOG ]]; then
  say "docs: no $CATALOG yet, nothing to build"
  exit 0
fi
if command -v python3 >/dev/null; then
  python3 Scripts/check-samples.py
  python3 Scripts/check-status.py
else
  complain "docs: samples and status are not checked because python3 is not installed"
fi
if [[ ${1:-} != --built ]]; then swift build; fi

# The tools of the toolchain are in the same folder as its swift, which may be a symbolic link on the PATH.
tool() { command -v "$1" || echo "$(dirname "$(readlink -f "$(command -v swift)")")/$1"; }

# The options that loading the modules needs: the module maps of the C bridges and their header folders. `debug` is a
# symbolic link; a cache must be named as the compiler named it, or its modules count as defined twice.
PRODUCTS=$(readlink -f "$BUILD/debug")
search=(-I "$PRODUCTS/Modules" -module-cache-path "$PRODUCTS/ModuleCache")
for map in Sources/*/module.modulemap "$PRODUCTS"/*.build/module.modulemap; do
  if [[ -e $map ]]; then search+=(-Xcc "-fmodule-map-file=$map"); fi
done
for folder in Sources/*/include; do search+=(-Xcc "-I$folder"); done
for flag in $(pkg-config --cflags-only-I libcurl libcrypto zlib libbrotlidec libzstd); do search+=(-Xcc "$flag"); done

# `swift package dump-symbol-graph` does the same, but it builds everything again, without coverage.
graphs=$(mktemp -d)
trap 'rm -rf "$graphs"' EXIT
target=$(swift -print-target-info | sed -n 's/.*"triple" *: *"\([^"]*\)".*/\1/p' | head -1)
for module in Sources/Errand*; do
  module=$(basename "$module")
  # The command is not a library.
  if [[ $module == *Command ]]; then continue; fi
  "$(tool swift-symbolgraph-extract)" -module-name "$module" -target "$target" "${search[@]}" \
    -minimum-access-level public -skip-synthesized-members -output-dir "$graphs"
done
if command -v python3 >/dev/null; then python3 Scripts/check-exports.py "$graphs"; fi

rm -rf "$OUTPUT"
"$(tool docc)" convert "$CATALOG" \
  --additional-symbol-graph-dir "$graphs" \
  --fallback-display-name Errand \
  --fallback-bundle-identifier errand \
  --transform-for-static-hosting \
  --warnings-as-errors \
  --output-path "$OUTPUT"

# The root has no page, so it redirects to the first one.
cat >"$OUTPUT/index.html" <<'PAGE'
<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>Errand</title>
<meta http-equiv="refresh" content="0; url=documentation/errand/">
<p><a href="documentation/errand/">The documentation of Errand</a></p>
</html>
PAGE
say "docs: written to $OUTPUT; to read them: python3 -m http.server -d $OUTPUT"
