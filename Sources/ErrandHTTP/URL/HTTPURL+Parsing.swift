import Foundation

extension HTTPURL {
  /// The error that is thrown if a text is not a URL that can be sent.
  public struct Invalid: Error, Sendable, Hashable, CustomStringConvertible {
    /// An English clause that names the URL and the reason. Secrets in the URL are masked.
    public let description: String
  }

  /// Parses an absolute URL. Characters that are not allowed in a URL are percent-encoded, existing percent-encoding is
  /// kept, and the fragment is removed.
  public init(_ text: String) throws(Invalid) {
    let bytes = Array(text.utf8)
    let (scheme, authorityStart) = try Self.scheme(of: bytes, in: text)
    let authorityEnd = bytes[authorityStart...].firstIndex { $0 == 0x2F || $0 == 0x3F || $0 == 0x23 } ?? bytes.count
    let (host, port) = try Self.authority(bytes[authorityStart..<authorityEnd], in: text)
    let origin = Origin(scheme: scheme, host: host, port: port ?? scheme.defaultPort)

    var out = Array("\(scheme)://\(host)".utf8)
    if let port { out += Array(":\(port)".utf8) }
    let pathStart = out.count
    let tail = bytes[authorityEnd...].prefix { $0 != 0x23 }
    let path = tail.prefix { $0 != 0x3F }
    try Self.refuseControls(in: tail, of: text)
    PercentEncoding.append(path, to: &out, keeping: .pathText)
    let queryStart = out.count
    if path.endIndex < tail.endIndex {
      out.append(0x3F)
      PercentEncoding.append(tail[(path.endIndex + 1)...], to: &out, keeping: .queryText)
    }
    self.init(
      unchecked: String(decoding: out, as: UTF8.self), origin: origin, pathStart: pathStart, queryStart: queryStart)
  }

  /// Whether a text begins with a scheme and `://`, as an absolute URL does.
  package static func isAbsolute(_ text: String) -> Bool {
    text.utf8.withContiguousStorageIfAvailable { isAbsolute($0) } ?? isAbsolute(Array(text.utf8))
  }

  private static func isAbsolute(_ text: some RandomAccessCollection<UInt8>) -> Bool {
    guard let first = text.first, ASCII.lowercased(first) &- 0x61 < 26 else { return false }
    let rest = text.drop { ASCII.isAlphanumeric($0) || $0 == 0x2B || $0 == 0x2D || $0 == 0x2E }
    return rest.prefix(3).elementsEqual("://".utf8)
  }

  private static func scheme(of bytes: [UInt8], in text: String) throws(Invalid) -> (Scheme, Int) {
    for scheme in [Scheme.http, .https] {
      let start = Array("\(scheme)://".utf8)
      if bytes.count > start.count, ASCII.equalFolded(bytes[..<start.count], start) { return (scheme, start.count) }
    }
    let shown = Redaction.url(text)
    if let first = bytes.first, first <= 0x20 {
      throw Invalid(description: "\"\(shown)\" begins with a space or a line break; remove it")
    }
    throw Invalid(description: "\"\(shown)\" is not an absolute http or https URL; write it like https://host/path")
  }

  private static func authority(_ bytes: ArraySlice<UInt8>, in text: String) throws(Invalid) -> (String, Int?) {
    guard !bytes.contains(0x40) else {
      let shown = Redaction.url(text)
      throw Invalid(
        description: "\"\(shown)\" contains a user name or password; remove it and use a basic credential")
    }
    guard bytes.first == 0x5B || bytes.count(where: { $0 == 0x3A }) < 2 else {
      let shown = Redaction.url(text)
      throw Invalid(description: "the host of \"\(shown)\" contains several colons; write an IPv6 address in brackets")
    }
    if let blank = bytes.last, blank <= 0x20, text.utf8.last == blank {
      throw Invalid(description: "\"\(Redaction.url(text))\" ends with a space or a line break; remove it")
    }
    let portSearch = bytes.first == 0x5B ? bytes.lastIndex(of: 0x5D) ?? bytes.endIndex : bytes.startIndex
    let colon = bytes[portSearch...].firstIndex(of: 0x3A)
    let port = try colon.flatMap { colon throws(Invalid) in try Self.port(bytes[(colon + 1)...], in: text) }
    return (try host(bytes[..<(colon ?? bytes.endIndex)], in: text), port)
  }

  private static func port(_ digits: ArraySlice<UInt8>, in text: String) throws(Invalid) -> Int? {
    if digits.isEmpty { return nil }
    guard digits.allSatisfy(ASCII.isDigit), let port = Int(String(decoding: digits, as: UTF8.self)),
      (1...65_535).contains(port)
    else { throw Invalid(description: "the port of \"\(Redaction.url(text))\" is not a number from 1 to 65535") }
    return port
  }

  private static func host(_ bytes: ArraySlice<UInt8>, in text: String) throws(Invalid) -> String {
    guard let host = host(bytes), !host.isEmpty else {
      let shown = Redaction.url(text)
      throw Invalid(
        description: "the host of \"\(shown)\" is empty or contains a character that is not allowed in a host")
    }
    return host
  }

  /// Returns the host in lower case; nil if the host is invalid.
  private static func host(_ bytes: ArraySlice<UInt8>) -> String? {
    if bytes.first == 0x5B {
      let inside = bytes.dropFirst().dropLast()
      let isAddress = bytes.last == 0x5D && inside.allSatisfy { ASCII.hexValue($0) != nil || $0 == 0x3A || $0 == 0x2E }
      return isAddress && inside.count > 1 ? String(decoding: bytes, as: UTF8.self).lowercased() : nil
    }
    if bytes.contains(where: { $0 >= 0x80 }) { return international(bytes) }
    let isHost: (UInt8) -> Bool = { ASCII.isAlphanumeric($0) || $0 == 0x2D || $0 == 0x2E || $0 == 0x5F }
    return bytes.allSatisfy(isHost) ? String(decoding: bytes, as: UTF8.self).lowercased() : nil
  }

  /// Returns the ASCII form (IDNA) of a host that contains letters beyond ASCII. Foundation makes this form.
  private static func international(_ bytes: ArraySlice<UInt8>) -> String? {
    // A host name has at most 253 characters of at most four bytes each. Longer texts are rejected first, because
    // Foundation would need very long to convert them.
    guard bytes.count <= 253 * 4 else { return nil }
    let url = URLComponents(string: "http://\(String(decoding: bytes, as: UTF8.self))/")
    guard let host = url?.encodedHost,
      host.utf8.allSatisfy({ ASCII.isAlphanumeric($0) || $0 == 0x2D || $0 == 0x2E })
    else { return nil }
    return host.lowercased()
  }

  private static func refuseControls(in bytes: ArraySlice<UInt8>, of text: String) throws(Invalid) {
    guard bytes.contains(where: { $0 < 0x20 || $0 == 0x7F }) else { return }
    let shown = Redaction.url(text)
    throw Invalid(description: "\"\(shown)\" holds a control character such as a line break; remove it")
  }
}
