@testable import ErrandCore
@testable import ErrandHTTP

/// URLs, redirects and what is shown of them.
enum URLTargets {
  static func url(_ input: FuzzInput) {
    guard let url = try? HTTPURL(input.text) else { return }
    checkWire(url)
  }

  /// The first line is where the answer came from, the rest its `Location`.
  static func location(_ input: FuzzInput) {
    let lines = input.textLines
    let base = (try? HTTPURL(lines[0])) ?? Self.base
    let reference = lines.dropFirst().joined(separator: "\n")
    guard let url = try? base.resolving(reference) else { return }
    checkWire(url)
    let names = authority(of: Array(reference.utf8))
    if names == nil { check(url.origin == base.origin, "a path stays on its origin") }
    if let names, !names.contains(where: { $0 >= 0x80 }) {
      let host = String(decoding: names, as: UTF8.self).lowercased()
      check(host.hasPrefix(url.host), "the host is the one that the reference names")
    }
  }

  private static let base: HTTPURL = {
    guard let url = try? HTTPURL("http://base.example/a/b?c") else { fatalError("the base is a URL") }
    return url
  }()

  /// Host and port of a reference by bytes alone, user info taken off; nil where it has none.
  private static func authority(of reference: [UInt8]) -> ArraySlice<UInt8>? {
    var rest = reference.prefix { $0 != 0x23 }
    for scheme in ["http:", "https:"]
    where rest.count >= scheme.utf8.count && ASCII.equalFolded(rest.prefix(scheme.utf8.count), scheme.utf8) {
      rest = rest.dropFirst(scheme.utf8.count)
      break
    }
    guard rest.starts(with: "//".utf8) else { return nil }
    let authority = rest.dropFirst(2).prefix { $0 != 0x2F && $0 != 0x3F }
    guard let at = authority.lastIndex(of: 0x40) else { return authority }
    return authority[(at + 1)...]
  }

  private static func checkWire(_ url: HTTPURL) {
    let bytes = url.string.utf8
    check(bytes.allSatisfy { $0 > 0x20 && $0 < 0x7F }, "every byte is legal on the wire")
    check(bytes.starts(with: "\(url.scheme)://\(url.host)".utf8), "a URL begins with scheme and host")
    check(!url.host.utf8.contains { $0 == 0x40 || $0 == 0x2F || $0 == 0x3F || $0 == 0x23 }, "a host is only a host")
    check((1...65_535).contains(url.port), "a port is a port")
    guard let again = try? HTTPURL(url.string) else { fatalError("property: a URL is read again") }
    check(again == url && again.origin == url.origin && again.path == url.path && again.query == url.query, "the same")
  }

  /// What is shown is one line and holds no value of the query of a URL.
  static func redaction(_ input: FuzzInput) {
    let shown = Redaction.url(input.text)
    check(!shown.utf8.contains { $0 < 0x20 || $0 == 0x7F }, "what is shown is one line")
    let query = input.text.utf8.prefix { $0 != 0x23 }.drop { $0 != 0x3F }.dropFirst()
    let masked = String(decoding: Array(shown.utf8).drop { $0 != 0x3F }, as: UTF8.self)
    for pair in query.split(separator: 0x26) {
      guard let equals = pair.firstIndex(of: 0x3D) else { continue }
      let value = pair[pair.index(after: equals)...]
      guard value.count > 7, value.allSatisfy({ ASCII.isAlphanumeric($0) }) else { continue }
      check(!masked.contains("=" + String(decoding: value, as: UTF8.self)), "no value of a query is shown")
    }
  }
}
