/// Whether sending a request twice does no more than sending it once.
public enum Idempotency: Sendable, Hashable {
  /// By the method: GET, HEAD, OPTIONS, TRACE, PUT and DELETE may be repeated (RFC 9110 section 9.2.2).
  case byMethod
  /// It may be repeated, whatever the method: the server is known to take a second one for the first.
  case assumed
  /// It may be repeated, since a field carries a key by which the server knows a second one. The key is made once for a
  /// call and stays the same over its attempts; one that the request sets itself is kept.
  case keyed(HTTPFieldName = "Idempotency-Key")
  /// It is not repeated, whatever the method, once a byte of it may have reached the server.
  case never
}

extension Idempotency {
  /// Whether a request may be sent again though the server may have seen it.
  func allows(_ method: HTTPMethod) -> Bool {
    switch self {
    case .byMethod: method.isIdempotent
    case .assumed, .keyed: true
    case .never: false
    }
  }
}
