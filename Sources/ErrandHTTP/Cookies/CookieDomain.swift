/// Which hosts a cookie belongs to (RFC 6265 section 5.1.3). Hosts and domains are ASCII in lower case.
enum CookieDomain {
  /// The longest host that has names above it; no name in DNS is longer.
  private static let longest = 255

  /// Whether a host is one of a domain's: the same, or a name below it.
  static func holds(_ domain: String, _ host: String) -> Bool {
    if host == domain { return true }
    return !domain.isEmpty && isName(host) && host.utf8.count <= longest && host.hasSuffix(".\(domain)")
  }

  /// The host and every name above it that may hold it.
  static func holding(_ host: String) -> [String] {
    guard isName(host), host.utf8.count <= longest else { return [host] }
    var names = [host]
    var rest = host[...]
    while let dot = rest.firstIndex(of: ".") {
      rest = rest[rest.index(after: dot)...]
      if !rest.isEmpty { names.append(String(rest)) }
    }
    return names
  }

  /// Whether a host has names above and below it. An address has none, and neither has a name with a dot at its end,
  /// which is a host of its own here.
  static func isName(_ host: String) -> Bool {
    guard host.utf8.first != 0x5B else { return false }
    let label = host.utf8.suffix(while: { $0 != 0x2E })
    guard !label.isEmpty, !label.allSatisfy(ASCII.isDigit) else { return false }
    let isHex = label.starts(with: "0x".utf8) && label.dropFirst(2).allSatisfy { ASCII.hexValue($0) != nil }
    return !isHex
  }

  /// The domain that an attribute names, in lower case and without the dot at its head; nil where it names none.
  /// Letters beyond ASCII are not taken: on the wire such a name is written in its `xn--` form.
  static func domain(of attribute: String) -> String? {
    let text = attribute.hasPrefix(".") ? attribute.dropFirst() : attribute[...]
    let isDomain = text.utf8.allSatisfy {
      ASCII.isAlphanumeric($0) || $0 == 0x2D || $0 == 0x2E || $0 == 0x5F || $0 == 0x3A || $0 == 0x5B || $0 == 0x5D
    }
    return isDomain ? text.lowercased() : nil
  }
}

extension BidirectionalCollection {
  /// The last elements, as far as they fit a rule.
  fileprivate func suffix(while rule: (Element) -> Bool) -> SubSequence {
    var start = endIndex
    while start > startIndex, rule(self[index(before: start)]) { start = index(before: start) }
    return self[start...]
  }
}
