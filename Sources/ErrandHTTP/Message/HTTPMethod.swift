/// The method of a request (RFC 9110 section 9): a known method or any other token.
///
/// A method is checked when a call is built: if it is not a token, the call fails with
/// ``ErrandCore/APIError/Code/invalidMethod``.
public struct HTTPMethod: Sendable, Hashable, Codable, RawRepresentable, ExpressibleByStringLiteral {
  /// The method as it is sent; its case is kept.
  public let rawValue: String

  /// Makes a method from any token, such as `"PURGE"`.
  public init(rawValue: String) { self.rawValue = rawValue }
  /// Makes a method from any token.
  public init(_ rawValue: String) { self.rawValue = rawValue }
  /// Makes a method from a literal token.
  public init(stringLiteral value: String) { rawValue = value }

  /// Reads a resource.
  public static let get = HTTPMethod("GET")
  /// Submits data to a resource.
  public static let post = HTTPMethod("POST")
  /// Replaces a resource.
  public static let put = HTTPMethod("PUT")
  /// Changes part of a resource (RFC 5789).
  public static let patch = HTTPMethod("PATCH")
  /// Removes a resource.
  public static let delete = HTTPMethod("DELETE")
  /// Reads only the response headers.
  public static let head = HTTPMethod("HEAD")
  /// Asks for the options of a resource.
  public static let options = HTTPMethod("OPTIONS")

  /// Whether the method is safe: requests with the method only read (RFC 9110 section 9.2.1). An unknown method is not
  /// safe.
  package var isSafe: Bool {
    switch rawValue {
    case "GET", "HEAD", "OPTIONS", "TRACE": true
    default: false
    }
  }

  /// Whether sending a request several times has the same effect as sending it once (RFC 9110 section 9.2.2).
  package var isIdempotent: Bool { isSafe || self == .put || self == .delete }

  /// Whether the arguments of a request go into the query by default; otherwise they go into the body.
  package var takesArgumentsInQuery: Bool {
    switch rawValue {
    case "GET", "HEAD", "DELETE": true
    default: false
    }
  }
}

extension HTTPMethod: CustomStringConvertible {
  /// The method as it is sent.
  public var description: String { rawValue }
}
