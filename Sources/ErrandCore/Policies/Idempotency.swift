/// Whether sending a request twice has the same effect as sending the request once.
public enum Idempotency: Sendable, Hashable {
  /// The method decides: GET, HEAD, OPTIONS, TRACE, PUT and DELETE may be repeated (RFC 9110 section 9.2.2).
  case byMethod
  /// The request may be repeated, whatever its method is, because the server is known to recognise repeated requests.
  case assumed
  /// The request may be repeated, because a field contains a key by which the server recognises a repeated request. The
  /// key is made once for a call and stays the same in all attempts. If the request itself sets the field, its key is
  /// kept.
  case keyed(HTTPFieldName = "Idempotency-Key")
  /// As soon as a byte of the request may have reached the server, the request is not repeated, whatever its method is.
  case never
}

extension Idempotency {
  /// Whether a request with the given method may be sent again although the server may already have processed the first
  /// attempt.
  func allows(_ method: HTTPMethod) -> Bool {
    switch self {
    case .byMethod: method.isIdempotent
    case .assumed, .keyed: true
    case .never: false
    }
  }
}
