#!/usr/bin/env bash
# Checks the format of every Swift file. With --fix it rewrites the files.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

mapfile -t folders < <(swift_folders)
if [[ ${1:-} == --fix ]]; then
  swift format format --in-place --parallel --configuration .swift-format --recursive "${folders[@]}" Package.swift
else
  swift format lint --strict --parallel --configuration .swift-format --recursive "${folders[@]}" Package.swift
fi

# Swift and Foundation search for characters: an apostrophe with a combining accent is a different character than the
# apostrophe alone. Code that quotes or masks text, or searches it for secrets, would miss it, so these files search for
# bytes or scalars (ByteText.swift). A safe line gives its reason in a comment with one of the words below.
CHARACTER_SEARCH='\.(replacingOccurrences\(|replacing\(|components\(separatedBy|range\(of:|(hasPrefix|hasSuffix|contains)\("|split\(separator: ")'
SAFE_SEARCH='//.*(ASCII|scalars|bytes|the library.s own)|unicodeScalars\.split'
careful=(
  Sources/ErrandCore/Record/*.swift Sources/ErrandTransfer/Decision/Name/*.swift
  Sources/ErrandTesting/Recording/Masking/*.swift
  Sources/ErrandJSON/{JSONMask,JSONDiagnosis}.swift Sources/ErrandHTTP/Message/Redaction.swift
  Sources/ErrandCommand/Terminal/{Secrets,TextLayout}.swift Sources/ErrandCommand/Send/RequestNotation.swift
)
for file in "${careful[@]}"; do
  if [[ ! -f $file ]]; then
    complain "lint: $file is missing; if the file was moved, correct the list of files that quote or mask text"
    exit 1
  fi
done
careless() { grep -nE "$CHARACTER_SEARCH" "$@" /dev/null | grep -vE "$SAFE_SEARCH"; }

# Check that the rule still matches an unsafe search.
if ! careless <(printf '%s\n' 'let quoted = text.replacingOccurrences(of: "a", with: "b")') >/dev/null; then
  complain "lint: the rule about searches for characters matches nothing any more; correct CHARACTER_SEARCH"
  exit 1
fi
if careless "${careful[@]}" >&2; then
  complain "lint: these lines search for characters in code that quotes or masks text; search for bytes, as ByteText.swift does, or give the reason why it is safe in a comment"
  exit 1
fi

# The thread sanitizer does not recognise `Synchronization.Mutex` on Linux, and reports its value as a race in some runs.
# `Locked` is a `pthread` mutex in builds for the sanitizer. These builds do not contain the command.
if grep -rnE '\bMutex[(<]' Sources Tests --include='*.swift' |
  grep -vE '^Sources/ErrandSupport/Locked.swift:|^Sources/ErrandCommand/|:[0-9]+:///' >&2; then
  complain "lint: the thread sanitizer reports races of a \`Mutex\`; use \`Locked\` of ErrandSupport instead"
  exit 1
fi

# Two pages of the guides are made from code.
python3 -B Scripts/mistakes.py --check
python3 -B Scripts/comparison.py --check

# Each mutant names a line of code, so a changed decision needs a changed mutant.
python3 -B Scripts/mutate.py --check
