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
  private struct Parts: Sendable {
    var arguments = ArgumentFormat.inherited
    var argumentStyle = ArgumentStyle.inherited
    var response: SharedFormat?
    var jsonDecoding = JSONDecoding.inherited
    var jsonEncoding = JSONEncoding.inherited
  }

  /// The properties in one object, which the calls of a client share instead of copying it; nil if all are inherited.
  private var parts: Boxed<Parts>?

  /// The place of the arguments: the query, a form body or a JSON body.
  public var arguments: ArgumentFormat {
    get { parts?.value.arguments ?? .inherited }
    set { change { $0.arguments = newValue } }
  }
  /// How arguments such as lists, dates and Booleans are written as text.
  public var argumentStyle: ArgumentStyle {
    get { parts?.value.argumentStyle ?? .inherited }
    set { change { $0.argumentStyle = newValue } }
  }
  /// The format of error bodies, and of responses whose request declares no decoder; nil to inherit it. Without a
  /// format, JSON is read. The format applies to all `Decodable` response types except bytes, strings and
  /// ``ErrandJSON/JSONValue``.
  public var response: (any ResponseFormat)? {
    get { shared?.value }
    set { change { $0.response = newValue.map(SharedFormat.init) } }
  }
  /// The rules by which response bodies are decoded from JSON.
  public var jsonDecoding: JSONDecoding {
    get { parts?.value.jsonDecoding ?? .inherited }
    set { change { $0.jsonDecoding = newValue } }
  }
  /// The rules by which values are written in all JSON that a request sends: in JSON bodies, in JSON parts of a
  /// multipart form, and in arguments that are sent as JSON.
  ///
  /// Of arguments, the rules apply to
  /// - dates and `Data`. If the date strategy is `.deferredToDate`, the default, ``argumentStyle`` decides how dates
  ///   are written;
  /// - the names that are coding keys of a value in ``Arguments/init(encoding:)``. The names of a literal and the keys
  ///   of a dictionary are sent as they are written.
  ///
  /// The members are always sorted by name, and a number that is not finite is always an error. Arguments in a query or
  /// a form do not follow the rules.
  public var jsonEncoding: JSONEncoding {
    get { parts?.value.jsonEncoding ?? .inherited }
    set { change { $0.jsonEncoding = newValue } }
  }
  /// The format of ``response`` in an object, which calls share instead of copying it.
  var shared: SharedFormat? { parts?.value.response }

  /// Makes formats. Properties that are not given are inherited.
  public init(
    arguments: ArgumentFormat = .inherited, argumentStyle: ArgumentStyle = .inherited,
    response: (any ResponseFormat)? = nil, jsonDecoding: JSONDecoding = .inherited,
    jsonEncoding: JSONEncoding = .inherited
  ) {
    parts = Boxed(
      Parts(
        arguments: arguments, argumentStyle: argumentStyle, response: response.map(SharedFormat.init),
        jsonDecoding: jsonDecoding, jsonEncoding: jsonEncoding))
  }

  private init(_ parts: Boxed<Parts>?) { self.parts = parts }

  private mutating func change(_ body: (inout Parts) -> Void) {
    var changed = parts?.value ?? Parts()
    body(&changed)
    parts = Boxed(changed)
  }

  /// All formats are inherited from the ``RequestFamily`` or the client.
  public static let inherited = Formats(nil)
  /// The formats of a service that takes JSON: arguments go into a JSON body, except those of GET, HEAD and DELETE
  /// (``ArgumentFormat/jsonByMethod``). Responses are read as JSON by default. The other formats are inherited.
  public static let json = Formats(arguments: .jsonByMethod)
  /// The defaults of a client.
  static let standard = Formats(
    arguments: .byMethod, argumentStyle: ArgumentStyle(), jsonDecoding: .fast, jsonEncoding: .fast)

  /// Returns these formats, with inherited properties taken from `other`.
  func filled(by other: Formats?) -> Formats {
    guard let others = other?.parts else { return self }
    guard let own = parts else { return Formats(others) }
    return Formats(
      Boxed(
        Parts(
          arguments: own.value.arguments.filled(by: others.value.arguments),
          argumentStyle: own.value.argumentStyle.filled(by: others.value.argumentStyle),
          response: own.value.response ?? others.value.response,
          jsonDecoding: own.value.jsonDecoding.filled(by: others.value.jsonDecoding),
          jsonEncoding: own.value.jsonEncoding.filled(by: others.value.jsonEncoding))))
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
