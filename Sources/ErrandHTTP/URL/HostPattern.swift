/// A host such as `api.example.com`, or every host below a name that begins with a dot, such as `.example.com`.
package struct HostPattern: Sendable, Hashable {
  private let text: String

  package init(_ text: String) { self.text = text.lowercased() }

  /// Whether it is the pattern of a host, which is given in lower case.
  package func covers(_ host: String) -> Bool { text.hasPrefix(".") ? host.hasSuffix(text) : host == text }

  /// How closely it says which host is meant: an exact one before all others, then the longer name.
  package var closeness: Int { text.hasPrefix(".") ? text.utf8.count : Int.max }

  /// Whether a host can be meant at all: an address in brackets, or letters, digits, `-`, `_` and single dots.
  package var isSound: Bool {
    if text.hasPrefix("[") { return text.hasSuffix("]") && text.utf8.count > 2 }
    let name = text.hasPrefix(".") ? text.dropFirst() : text[...]
    let labels = name.split(separator: ".", omittingEmptySubsequences: false)
    return labels.allSatisfy { label in
      !label.isEmpty && label.utf8.allSatisfy { ASCII.isAlphanumeric($0) || $0 == 0x2D || $0 == 0x5F }
    }
  }
}
