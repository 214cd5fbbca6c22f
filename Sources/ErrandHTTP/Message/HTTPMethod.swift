/// The method of a request (RFC 9110 section 9): one of the known ones or any other token.
///
/// A method is checked when a call is built: one that is no token fails it with
/// ``ErrandCore/APIError/Code/invalidMethod``.
public struct HTTPMethod: Sendable, Hashable, Codable, RawRepresentable, ExpressibleByStringLiteral {
  /// The method as it is sent, case and all.
  public let rawValue: String

  /// Makes a method of any token, such as `"PURGE"`.
  public init(rawValue: String) { self.rawValue = rawValue }
  /// Makes a method of any token.
  public init(_ rawValue: String) { self.rawValue = rawValue }
  /// Makes a method of a literal token.
  public init(stringLiteral value: String) { rawValue = value }

  /// Reads a resource.
  public static let get = HTTPMethod("GET")
  /// Hands something over to a resource.
  public static let post = HTTPMethod("POST")
  /// Replaces a resource.
  public static let put = HTTPMethod("PUT")
  /// Changes a part of a resource (RFC 5789).
  public static let patch = HTTPMethod("PATCH")
  /// Removes a resource.
  public static let delete = HTTPMethod("DELETE")
  /// Reads the head alone.
  public static let head = HTTPMethod("HEAD")
  /// Asks what a resource can do.
  public static let options = HTTPMethod("OPTIONS")

  /// Whether it only reads (RFC 9110 section 9.2.1). A method that nobody knows is not safe.
  package var isSafe: Bool {
    switch rawValue {
    case "GET", "HEAD", "OPTIONS", "TRACE": true
    default: false
    }
  }

  /// Whether a second one does no more than the first (RFC 9110 section 9.2.2).
  package var isIdempotent: Bool { isSafe || self == .put || self == .delete }

  /// Whether arguments go into the query where a request says nothing else.
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
