#!/usr/bin/env bash
# Builds the documentation of the package into docs-out. A warning, such as a dead link, fails it.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

CATALOG=Sources/Errand/Errand.docc
OUTPUT=docs-out

if [[ ! -d $CATALOG ]]; then
  say "docs: no $CATALOG yet, nothing to build"
  exit 0
fi
# docc lies beside the swift that runs, which may be a link.
DOCC=$(command -v docc || echo "$(dirname "$(readlink -f "$(command -v swift)")")/docc")

swift package dump-symbol-graph --minimum-access-level public --skip-synthesized-members >/dev/null
graphs=$(mktemp -d)
trap 'rm -rf "$graphs"' EXIT
# What users can import; tests, the command and the bridges have no place in it.
while IFS= read -r file; do
  cp "$file" "$graphs/"
done < <(find .build -path '*/symbolgraph/*' -name 'Errand*.symbols.json' \
  ! -name '*Tests*' ! -name 'ErrandCommand*' ! -name '*.build-*')

rm -rf "$OUTPUT"
"$DOCC" convert "$CATALOG" \
  --additional-symbol-graph-dir "$graphs" \
  --fallback-display-name Errand \
  --fallback-bundle-identifier errand \
  --transform-for-static-hosting \
  --warnings-as-errors \
  --output-path "$OUTPUT"
say "docs: written to $OUTPUT"
