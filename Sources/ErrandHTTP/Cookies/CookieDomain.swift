/// Decides which hosts a cookie belongs to (RFC 6265 section 5.1.3). Hosts and domains are ASCII in lower case.
enum CookieDomain {
  /// The maximum length of a host name in DNS. A longer host has no parent names.
  private static let longest = 255

  /// Whether a cookie of a domain may be sent to a host: the host is the domain itself or one of its subdomains.
  static func matches(_ domain: String, _ host: String) -> Bool {
    if host == domain { return true }
    return !domain.isEmpty && isName(host) && host.utf8.count <= longest && host.hasSuffix(".\(domain)")
  }

  /// Returns the host and its parent names. These are the domains whose cookies may be sent to the host.
  static func domains(matching host: String) -> [String] {
    guard isName(host), host.utf8.count <= longest else { return [host] }
    var names = [host]
    var rest = host[...]
    while let dot = rest.firstIndex(of: ".") {
      rest = rest[rest.index(after: dot)...]
      if !rest.isEmpty { names.append(String(rest)) }
    }
    return names
  }

  /// Whether a host is a name, which can have parent names and subdomains. The result is false for an IP address, and
  /// also for a name with a dot at its end.
  static func isName(_ host: String) -> Bool {
    guard host.utf8.first != 0x5B else { return false }
    let label = host.utf8.suffix(while: { $0 != 0x2E })
    guard !label.isEmpty, !label.allSatisfy(ASCII.isDigit) else { return false }
    let isHex = label.starts(with: "0x".utf8) && label.dropFirst(2).allSatisfy { ASCII.hexValue($0) != nil }
    return !isHex
  }

  /// The domain of a `Domain` attribute, in lower case and without a leading dot; nil if the attribute is invalid.
  /// Letters beyond ASCII are invalid, because servers must send such a name in its `xn--` form.
  static func domain(of attribute: String) -> String? {
    let text = attribute.hasPrefix(".") ? attribute.dropFirst() : attribute[...]
    let isDomain = text.utf8.allSatisfy {
      ASCII.isAlphanumeric($0) || $0 == 0x2D || $0 == 0x2E || $0 == 0x5F || $0 == 0x3A || $0 == 0x5B || $0 == 0x5D
    }
    return isDomain ? text.lowercased() : nil
  }
}

extension BidirectionalCollection {
  /// The longest end of the collection whose elements all satisfy the rule.
  fileprivate func suffix(while rule: (Element) -> Bool) -> SubSequence {
    var start = endIndex
    while start > startIndex, rule(self[index(before: start)]) { start = index(before: start) }
    return self[start...]
  }
}
