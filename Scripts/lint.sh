#!/usr/bin/env bash
# Checks the format of every Swift file, or with --fix rewrites it.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

mapfile -t folders < <(swift_folders)
if [[ ${1:-} == --fix ]]; then
  swift format format --in-place --parallel --configuration .swift-format --recursive "${folders[@]}" Package.swift
else
  swift format lint --strict --parallel --configuration .swift-format --recursive "${folders[@]}" Package.swift
fi

# Swift and Foundation look for characters: an apostrophe with a combining accent behind it is another one than the
# apostrophe alone. Where text is quoted, masked or read for secrets, that hides what has to be found, so these files look
# for bytes or scalars (String+Bytes.swift). A line that is safe says why, in a comment with one of the words below.
CHARACTER_SEARCH='\.(replacingOccurrences\(|components\(separatedBy|range\(of:|(hasPrefix|hasSuffix|contains)\("|split\(separator: ")'
SAFE_SEARCH='//.*(ASCII|scalars|bytes|the library.s own)|unicodeScalars\.split'
mapfile -t careful < <(
  find Sources/ErrandCore/Record Sources/ErrandTransfer/Decision/Name Sources/ErrandTesting/Recording/Masking -name '*.swift'
  find Sources -name 'JSONMask.swift' -o -name 'JSONExcerpt.swift' -o -name 'JSONDecodingReason.swift' -o -name 'TerminalText.swift' -o -name 'Redaction.swift'
)
careless() { grep -nE "$CHARACTER_SEARCH" "$@" /dev/null | grep -vE "$SAFE_SEARCH"; }

# The rule must find what it is there for.
if ! careless <(printf '%s\n' 'let quoted = text.replacingOccurrences(of: "a", with: "b")') >/dev/null; then
  complain "lint: the rule about searches for characters finds nothing any more"
  exit 1
fi
if careless "${careful[@]}" >&2; then
  complain "lint: these lines look for characters where text is quoted or masked; look for bytes, as String+Bytes.swift does, or say in a comment why it is safe"
  exit 1
fi
