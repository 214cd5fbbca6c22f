/// A host such as `api.example.com`, or every host below a name that begins with a dot, such as `.example.com`.
struct HostPattern: Sendable, Hashable {
  private let text: String

  init(_ text: String) { self.text = text.lowercased() }

  /// Whether it is the pattern of a host, which is given in lower case.
  func covers(_ host: String) -> Bool { text.hasPrefix(".") ? host.hasSuffix(text) : host == text }
}
