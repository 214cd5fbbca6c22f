/// Whether sending a request twice has the same effect as sending it once.
public enum Idempotency: Sendable, Hashable {
  /// The method decides: GET, HEAD, OPTIONS, TRACE, PUT and DELETE may be repeated (RFC 9110 section 9.2.2).
  case byMethod
  /// The request may be repeated, whatever the method is: the server is known to recognise a repeated request.
  case assumed
  /// The request may be repeated, because a field contains a key by which the server recognises a repeated request. The
  /// key is made once for a call and stays the same in all attempts. A key that the request itself sets is kept.
  case keyed(HTTPFieldName = "Idempotency-Key")
  /// The request is not repeated, whatever the method is, once a byte of the request may have reached the server.
  case never
}

extension Idempotency {
  /// Whether a request may be sent again although the server may have processed it.
  func allows(_ method: HTTPMethod) -> Bool {
    switch self {
    case .byMethod: method.isIdempotent
    case .assumed, .keyed: true
    case .never: false
    }
  }
}
