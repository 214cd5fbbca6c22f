public import ErrandJSON
import ErrandSupport

/// How the values of a request are written, and how the body of a response is read.
///
/// ```swift
/// configuration.formats.arguments = .jsonByMethod                        // a service that takes JSON
/// configuration.formats.jsonDecoding = .fast(keys: .convertFromSnakeCase)
/// ```
///
/// A request, its ``RequestFamily`` and the client each have formats. Each property that is not declared is inherited.
/// If none of them declares a property, arguments go into the query or a form (``ArgumentFormat/byMethod``), and
/// Errand's own encoder and decoder for JSON are used with Foundation's default strategies; the encoder sorts the
/// members of objects.
public struct Formats: Sendable {
  /// The place of the arguments: the query, a form body or a JSON body.
  public var arguments: ArgumentFormat
  /// How arguments such as lists, dates and Booleans are written as text.
  public var argumentStyle: ArgumentStyle
  /// The format of error bodies, and of responses whose request declares no decoder; nil to inherit it. Without a
  /// format, JSON is read. The format applies to all `Decodable` response types except bytes, strings and
  /// ``ErrandJSON/JSONValue``.
  public var response: (any ResponseFormat)? {
    get { shared?.value }
    set { shared = newValue.map(SharedFormat.init) }
  }
  /// The rules by which response bodies are decoded from JSON.
  public var jsonDecoding: JSONDecoding
  /// The rules by which request bodies are encoded as JSON.
  public var jsonEncoding: JSONEncoding
  /// The format of ``response`` in an object, which calls share instead of copying it.
  private(set) var shared: SharedFormat?

  /// Makes formats. Properties that are not given are inherited.
  public init(
    arguments: ArgumentFormat = .inherited, argumentStyle: ArgumentStyle = .inherited,
    response: (any ResponseFormat)? = nil, jsonDecoding: JSONDecoding = .inherited,
    jsonEncoding: JSONEncoding = .inherited
  ) {
    self.arguments = arguments
    self.argumentStyle = argumentStyle
    self.jsonDecoding = jsonDecoding
    self.jsonEncoding = jsonEncoding
    shared = response.map(SharedFormat.init)
  }

  /// All formats are inherited from the ``RequestFamily`` or the client.
  public static let inherited = Formats()
  /// The formats of a service that takes JSON: arguments go into a JSON body, except those of GET, HEAD and DELETE
  /// (``ArgumentFormat/jsonByMethod``). Responses are read as JSON by default. The other formats are inherited.
  public static let json = Formats(arguments: .jsonByMethod)
  /// The defaults of a client.
  static let standard = Formats(
    arguments: .byMethod, argumentStyle: ArgumentStyle(), jsonDecoding: .fast, jsonEncoding: .fast)

  /// Returns these formats, with inherited properties taken from `other`.
  func filled(by other: Formats?) -> Formats {
    guard let other else { return self }
    var formats = self
    formats.arguments = arguments.filled(by: other.arguments)
    formats.argumentStyle = argumentStyle.filled(by: other.argumentStyle)
    formats.shared = shared ?? other.shared
    formats.jsonDecoding = jsonDecoding.filled(by: other.jsonDecoding)
    formats.jsonEncoding = jsonEncoding.filled(by: other.jsonEncoding)
    return formats
  }
}

/// The place of a request's arguments: the query, a form body or a JSON body.
public enum ArgumentFormat: Sendable, Hashable {
  /// The format of the ``RequestFamily`` or the client; ``byMethod`` if neither of them declares a format.
  case inherited
  /// The arguments go into the query for GET, HEAD and DELETE, and into a form body for other methods. If the request
  /// has its own body, the arguments always go into the query.
  case byMethod
  /// The arguments go into the query for GET, HEAD and DELETE, and into a JSON body for other methods. If the request
  /// has its own body, the arguments always go into the query. Use this format for a service that takes JSON.
  case jsonByMethod
  /// The arguments go into the query, for any method.
  case query
  /// The arguments go into a body of type `application/x-www-form-urlencoded`, for any method.
  case form
  /// The arguments go into a body of type `application/json`, for any method.
  case json

  /// Returns `other` if this format is inherited and `other` is not nil; otherwise returns this format.
  func filled(by other: ArgumentFormat?) -> ArgumentFormat { self == .inherited ? other ?? self : self }
}
