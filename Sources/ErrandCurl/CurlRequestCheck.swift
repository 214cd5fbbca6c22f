#if os(Linux)
  import ErrandCore

  /// The last belt before libcurl, which would send line ends in methods and fields as they are.
  enum CurlRequestCheck {
    static func check(_ request: HTTPRequest) throws(TransportFailure) {
      guard ASCII.isToken(request.method.rawValue) else { throw refused("its method is not a token") }
      guard request.url.string.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else {
        throw refused("its URL holds a blank, a control character or a byte that is not ASCII")
      }
      if request.method == .head, let body = request.body, !body.isEmpty {
        throw refused("a HEAD request has no body")
      }
      for field in request.fields.all { try check(field) }
    }

    private static func check(_ field: HTTPField) throws(TransportFailure) {
      let name = field.name.rawValue.utf8
      guard !name.isEmpty, name.allSatisfy({ CurlLine.isToken($0) }) else {
        throw refused("the name of a field is not a token")
      }
      guard field.value.utf8.allSatisfy({ $0 != 0x0D && $0 != 0x0A && $0 != 0 }) else {
        throw refused("the value of \(field.name) holds a line end or NUL")
      }
      if isFraming(field.name) { throw refused("\(field.name) is the transport's own field") }
    }

    private static func isFraming(_ name: HTTPFieldName) -> Bool {
      switch name.rawValue.utf8.count {
      case 4: name == "Host"
      case 6: name == "Expect"
      case 7: name == "Upgrade"
      case 10: name == "Connection" || name == "Keep-Alive"
      case 14: name == .contentLength
      case 16: name == "Proxy-Connection"
      case 17: name == "Transfer-Encoding"
      default: false
      }
    }

    private static func refused(_ text: String) -> TransportFailure {
      TransportFailure(.unsupported, "The request cannot be sent: \(text).", isCertainlyNotSent: true)
    }
  }
#endif
