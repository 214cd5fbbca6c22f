#if os(Linux)
  import ErrandHTTP

  /// The last belt before libcurl, which would send line ends in methods and fields as they are.
  enum CurlRequestCheck {
    /// No name of the domain name system is longer. libcurl up to 8.3.0 copies longer ones into a buffer for SOCKS5
    /// without looking at their length (CVE-2023-38545).
    private static let longestHost = 255
    /// libcurl 8.13.0 to 8.21.0 leaves longer fields out of the request without a word.
    private static let longestField = 300_000
    private static let refusal = CurlVersion.running.refusal

    static func check(_ request: HTTPRequest) throws(TransportFailure) {
      if let refusal { throw refused(refusal) }
      guard request.url.host.utf8.count <= longestHost else {
        throw refused("its host has more than \(longestHost) bytes")
      }
      for field in request.fields.all where field.value.utf8.count > longestField {
        throw refused("the value of \(field.name) has more than \(longestField) bytes")
      }
      if WireRules.isSound(request), all(request.url.string, { $0 > 0x20 && $0 < 0x7F }) { return }
      guard isToken(request.method.rawValue) else { throw refused("its method is not a token") }
      guard all(request.url.string, { $0 > 0x20 && $0 < 0x7F }) else {
        throw refused("its URL holds a blank, a control character or a byte that is not ASCII")
      }
      if request.method == .head, let body = request.body, body.length != 0 {
        throw refused("a HEAD request has no body")
      }
      for field in request.fields.all { try check(field) }
    }

    private static func check(_ field: HTTPField) throws(TransportFailure) {
      guard isToken(field.name.rawValue) else { throw refused("the name of a field is not a token") }
      guard all(field.value, { $0 != 0x0D && $0 != 0x0A && $0 != 0 }) else {
        throw refused("the value of \(field.name) holds a line end or NUL")
      }
      if WireRules.isFraming(field.name) { throw refused("\(field.name) is the transport's own field") }
    }

    private static func isToken(_ text: String) -> Bool { !text.isEmpty && all(text) { CurlLine.isToken($0) } }

    /// Whether every byte of a text keeps a rule. Looks at all of them without branching, since nearly all do.
    @inline(__always)
    private static func all(_ text: String, _ rule: (UInt8) -> Bool) -> Bool {
      text.utf8.withContiguousStorageIfAvailable { bytes in
        var keeps = true
        for byte in bytes { keeps = keeps && rule(byte) }
        return keeps
      } ?? text.utf8.allSatisfy(rule)
    }

    private static func refused(_ text: String) -> TransportFailure {
      TransportFailure(.unsupported, "The request cannot be sent: \(text).", isCertainlyNotSent: true)
    }
  }
#endif
