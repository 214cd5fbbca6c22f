/// Checks a request before a transport writes it: the rules of ``WireRules``, the length of the host and the bytes of
/// the URL. The pipeline also checks its requests, but a caller may use a transport without the pipeline.
package enum RequestCheck {
  /// The maximum length of a host in bytes; no DNS name is longer. libcurl up to 8.3.0 copies a longer name into a
  /// buffer for SOCKS5 without checking its length (CVE-2023-38545).
  private static let longestHost = 255

  package static func check(_ request: HTTPRequest) throws(TransportFailure) {
    guard request.url.host.utf8.count <= longestHost else {
      throw refused("the host of the URL has more than \(longestHost) bytes")
    }
    guard ASCII.all(request.url.string, { $0 > 0x20 && $0 < 0x7F }) else {
      throw refused("the URL contains a space, a control character or a byte that is not ASCII")
    }
    do throws(WireFault) {
      try WireRules.check(request)
    } catch {
      throw TransportFailure(.unsupported, error.message, isCertainlyNotSent: true)
    }
  }

  /// The failure of a request that cannot be sent. `text` completes "The request cannot be sent: ….".
  package static func refused(_ text: String) -> TransportFailure {
    TransportFailure(.unsupported, "The request cannot be sent: \(text).", isCertainlyNotSent: true)
  }
}
