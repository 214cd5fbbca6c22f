import ErrandJSON
import ErrandSupport
import Foundation

/// Finds stored properties of a request that the client never reads: those with the name of a requirement of
/// ``APIRequest`` and another type, those that are a part of a setting but not in it, those that are a whole setting
/// under another name, and those with a name that other libraries use. The compiler accepts them, because every
/// requirement except the path has a default.
///
/// Only stored properties are found, because computed properties cannot be listed at run time.
enum IgnoredProperties {
  /// Sentences that name each property, its type and the cure; empty if there is no such property.
  /// - Parameter built: The request as it is sent; nil if it cannot be built.
  static func sentences<R: APIRequest>(about request: R, built: HTTPRequest? = nil) -> [String] {
    let requirements = requirements(of: R.self)
    return storedProperties(of: request).compactMap { name, value in
      let type = type(of: value)
      if let requirement = requirements.first(where: { $0.name == name }) {
        guard type != requirement.type else { return nil }
        return "the client ignores the property `\(name)`, because its type is \(written(type)); declare it as "
          + "`\(requirement.spelling)`, or rename it if it is data of your own."
      }
      if let place = place(of: value, in: request) {
        return "the client ignores the property `\(name)` (\(written(type))), because it is only a part of a setting; "
          + "declare it as `\(place)`."
      }
      if ForeignName.all[name] == nil, let setting = setting(of: value, in: request, built: built) {
        return "the client ignores the property `\(name)` (\(written(type))), because no setting has this name; use "
          + "`\(setting)`."
      }
      guard let foreign = ForeignName.all[name], foreign.isUnset(request),
        !(foreign.mayBeData && built.map { SentText($0, of: request).contains(value) } == true)
      else { return nil }
      return "the client ignores the property `\(name)` (\(written(type))), because no setting has this name; "
        + "use \(foreign.cure)."
    }
  }

  /// The names and values of the stored properties, also of superclasses. Property wrappers and lazy properties are
  /// left out, because their storage has another name. A request that describes itself to mirrors shows no stored
  /// properties.
  private static func storedProperties(of request: some APIRequest) -> [(String, Any)] {
    if request is any CustomReflectable { return [] }
    var properties: [(String, Any)] = []
    var mirror: Mirror? = Mirror(reflecting: request)
    while let here = mirror {
      properties += here.children.compactMap { child in child.label.map { ($0, child.value) } }
      mirror = here.superclassMirror
    }
    return properties.filter { name, _ in !name.hasPrefix("_") && !name.hasPrefix("$") }
  }

  /// Where a value belongs that is a part of a setting, such as a ``RepeatRule``; nil if the setting has such a part, or
  /// if the value is no part of a setting.
  private static func place<R: APIRequest>(of value: Any, in request: R) -> String? {
    switch value {
    case let value as StatusRule where value != .inherited && request.validation.status == .inherited:
      "validation = ResponseValidation(status: …)"
    case is JSONShape where request.validation.shape == nil: "validation = ResponseValidation(shape: …)"
    case let value as Envelope where value != .inherited && request.validation.envelope == .inherited:
      "validation = ResponseValidation(envelope: …)"
    case let value as BodyLimit where value != .inherited && request.validation.bodyLimit == .inherited:
      "validation = ResponseValidation(bodyLimit: …)"
    case let value as JoinRule where value != .inherited && request.overlap.joining == .inherited:
      "overlap = Overlap(joining: …)"
    case let value as RepeatRule where value != .inherited && request.overlap.repeats == .inherited:
      "overlap = Overlap(repeats: …)"
    case let value as ArgumentFormat where value != .inherited && request.formats.arguments == .inherited:
      "formats = Formats(arguments: …)"
    case let value as ArgumentStyle where value != .inherited && request.formats.argumentStyle == .inherited:
      "formats = Formats(argumentStyle: …)"
    case let value as JSONDecoding where !value.isInherited && request.formats.jsonDecoding.isInherited:
      "formats = Formats(jsonDecoding: …)"
    case let value as JSONEncoding where !value.isInherited && request.formats.jsonEncoding.isInherited:
      "formats = Formats(jsonEncoding: …)"
    case is CacheKeyRule where request.cache.key == nil: "cache: CachePolicy = .inherited.keyed(by: …)"
    case is CacheTargets where request.cache.targets == nil: "cache: CachePolicy = .inherited.stored(as: …)"
    case let value as IndicatorChoice where value != .inherited && request.delivery.indicator == .inherited:
      "delivery = Delivery(indicator: …)"
    default: nil
    }
  }

  /// The name of the setting to which a value belongs by its type; nil if the request has another value for this
  /// setting, because it may be made from the property, or if the value is a default or not a setting.
  private static func setting(of value: Any, in request: some APIRequest, built: HTTPRequest?) -> String? {
    switch value {
    case let value as RetryPolicy where !value.isInherited && request.retries.isInherited: "retries"
    case let value as CachePolicy where !value.isInherited && request.cache.isInherited: "cache"
    case let value as Timeouts where value != .inherited && request.timeouts == .inherited: "timeouts"
    case let value as RedirectPolicy where value != .inherited && request.redirects == .inherited: "redirects"
    case let value as ResponseValidation where value != .inherited && request.validation == .inherited: "validation"
    case let value as Overlap where value != .inherited && request.overlap == .inherited: "overlap"
    case let value as Arguments where !value.isEmpty && request.arguments.isEmpty && !sends(value, request, built):
      "arguments"
    case let value as RequestHeaders where !value.isEmpty && request.headers.isEmpty && !sends(value, request, built):
      "headers"
    default: nil
    }
  }

  /// Whether the request may send a value in its path, its body, or an HTTP request of its own.
  private static func sends(_ value: Any, _ request: some APIRequest, _ built: HTTPRequest?) -> Bool {
    if request.body != nil || (try? request.finishedRequest()) != nil { return true }
    return built.map { SentText($0, of: request).contains(value) } == true
  }

  /// A requirement of ``APIRequest``: its name, and its type as a value and as it is written.
  struct Requirement {
    let name: String
    let type: any Any.Type
    let spelling: String

    init(_ name: String, _ type: any Any.Type, _ spelling: String) {
      (self.name, self.type, self.spelling) = (name, type, spelling)
    }
  }

  static func requirements<R: APIRequest>(of type: R.Type) -> [Requirement] {
    [
      Requirement("path", RequestPath.self, "Path"), Requirement("method", HTTPMethod.self, "HTTPMethod"),
      Requirement("server", RequestServer.self, "RequestServer"),
      Requirement("family", RequestFamily?.self, "RequestFamily?"),
      Requirement("arguments", Arguments.self, "Arguments"),
      Requirement("formats", Formats.self, "Formats"),
      Requirement("body", RequestBody?.self, "RequestBody?"),
      Requirement("headers", RequestHeaders.self, "RequestHeaders"),
      Requirement("credential", RequestCredential.self, "RequestCredential"),
      Requirement("cookies", CookieUse.self, "CookieUse"), Requirement("timeouts", Timeouts.self, "Timeouts"),
      Requirement("priority", CallPriority.self, "CallPriority"),
      Requirement("network", NetworkWish.self, "NetworkWish"),
      Requirement("redirects", RedirectPolicy.self, "RedirectPolicy"),
      Requirement("retries", RetryPolicy.self, "RetryPolicy"),
      Requirement("idempotency", Idempotency.self, "Idempotency"),
      Requirement("cache", CachePolicy.self, "CachePolicy"),
      Requirement("overlap", Overlap.self, "Overlap"), Requirement("download", Download?.self, "Download?"),
      Requirement("validation", ResponseValidation.self, "ResponseValidation"),
      Requirement("decoder", ResponseDecoder<R.Response>.self, "ResponseDecoder<Response>"),
      Requirement("delivery", Delivery<R.Response>.self, "Delivery<Response>"),
    ]
  }

  /// The name of a type as Swift code writes it: `[String]?` instead of `Optional<Array<String>>`.
  private static func written(_ type: any Any.Type) -> String {
    if let type = type as? any Sugared.Type { return type.sugar(written) }
    return "\(type)"
  }
}

/// A generic type that Swift code writes with brackets or a question mark.
private protocol Sugared {
  static func sugar(_ written: (any Any.Type) -> String) -> String
}

extension Optional: Sugared {
  fileprivate static func sugar(_ written: (any Any.Type) -> String) -> String { written(Wrapped.self) + "?" }
}

extension Array: Sugared {
  fileprivate static func sugar(_ written: (any Any.Type) -> String) -> String { "[\(written(Element.self))]" }
}

extension Dictionary: Sugared {
  fileprivate static func sugar(_ written: (any Any.Type) -> String) -> String {
    "[\(written(Key.self)): \(written(Value.self))]"
  }
}

/// The text that a request sends: its path, its query, the fields that it declares, and its body. A property whose
/// value is part of this text is data of the request, although it may have the name of a setting of another library.
struct SentText {
  /// The largest body that is searched, in bytes. A larger body may contain any value.
  private static let mostSearched = 16_384

  /// Nil if the body is not in memory or too large, so that its content is unknown.
  private let texts: [[UInt8]]?

  init(_ built: HTTPRequest, of request: any APIRequest) {
    let target = "\(built.url.path)?\(built.url.query ?? "")"
    let fields = request.headers.entries.compactMap { $0.value?.text }
    let body = built.body?.data ?? Data()
    guard built.body == nil || built.body?.data != nil, body.count <= Self.mostSearched else {
      texts = nil
      return
    }
    // JSON encoders may escape slashes, and a form writes a space as a plus sign.
    let plain = String(decoding: body, as: UTF8.self).replacingBytes(of: "\\/", with: "/")
    let form = plain.replacingBytes(of: "+", with: " ")
    texts = ([target, plain, form].flatMap { [$0, $0.removingPercentEncoding ?? ""] } + fields).map { Array($0.utf8) }
  }

  /// Whether the text may contain the value of a property, or a part of the value.
  func contains(_ value: Any) -> Bool {
    guard let texts else { return true }
    return Self.parts(of: value).contains { part in
      let part = Array(part.utf8)
      return texts.contains { Self.occurs(part, in: $0) }
    }
  }

  private static func parts(of value: Any, depth: Int = 0) -> [String] {
    let whole = (value as? Double).flatMap { Int(exactly: $0) }.map { ["\($0)"] } ?? []
    let children = depth < 6 ? Mirror(reflecting: value).children.prefix(64).map { $0.value } : []
    let text = "\(value)"
    return (text.isEmpty || text == "nil" ? [] : [text]) + whole + children.flatMap { parts(of: $0, depth: depth + 1) }
  }

  /// Whether the part occurs as a whole word or number.
  private static func occurs(_ part: [UInt8], in text: [UInt8]) -> Bool {
    let isNumber = part.allSatisfy { ASCII.isDigit($0) || $0 == 0x2D || $0 == 0x2E }
    func isWord(_ index: Int) -> Bool {
      guard text.indices.contains(index) else { return false }
      return ASCII.isAlphanumeric(text[index]) || text[index] >= 0x80 || isNumber && text[index] == 0x2E
    }
    guard part.count <= text.count else { return false }
    return (0...(text.count - part.count)).contains { start in
      text[start...].starts(with: part) && !isWord(start - 1) && !isWord(start + part.count)
    }
  }
}

/// A name by which other libraries, such as Alamofire, Moya and YTKNetwork, declare a setting of a request.
struct ForeignName: Sendable {
  /// The property of ``APIRequest`` to declare instead, as the object of "use".
  let cure: String
  /// Whether the request leaves the setting at its default.
  let isUnset: @Sendable (any APIRequest) -> Bool
  /// Whether the name may also name data of a request. Such a property is not reported if the request sends its value.
  var mayBeData = false

  /// The names by which a property is found.
  static let all: [String: ForeignName] = {
    var all: [String: ForeignName] = [:]
    for (names, name) in groups { for spelling in names { all[spelling] = name } }
    return all
  }()

  private static let groups: [([String], ForeignName)] = [
    (
      ["baseURL", "baseUrl"],
      ForeignName(cure: "`server`, a `family` with a base URL, or the base URL of the client") { request in
        request.server == .base && request.family?.baseURL == nil && !goesElsewhere(request)
      }
    ),
    (
      ["url", "URL", "urlString", "requestURL", "requestUrl"],
      ForeignName(
        cure: "`path`, which may also be an absolute URL: `RequestPath(text)`", isUnset: { !goesElsewhere($0) },
        mayBeData: true)
    ),
    (["httpMethod", "requestMethod"], ForeignName(cure: "`method`") { request in request.method == .get }),
    (
      ["params", "parameters", "queryParameters", "queryItems", "requestArgument"],
      ForeignName(cure: "`arguments`", isUnset: { _ in true }, mayBeData: true)
    ),
    (
      ["httpBody", "requestBody", "bodyParameters", "bodyData"],
      ForeignName(cure: "`arguments` or `body`", isUnset: { $0.body == nil }, mayBeData: true)
    ),
    (
      // Moya's name. A request of an app with tasks of its own has this property, too, and uses it in its path.
      ["task"],
      ForeignName(cure: "`arguments` or `body`", isUnset: { $0.download == nil }, mayBeData: true)
    ),
    (
      ["parameterEncoding"],
      ForeignName(cure: "`formats`, such as `.json`") { request in request.formats.arguments == .inherited }
    ),
    (
      ["httpHeaders", "httpHeaderFields", "headerFields", "allHTTPHeaderFields"],
      ForeignName(cure: "`headers`") { request in request.headers.isEmpty }
    ),
    (
      ["timeout", "timeoutInterval", "requestTimeout", "requestTimeoutInterval"],
      ForeignName(
        cure: "`timeouts`, such as `Timeouts(total: .seconds(30))`", isUnset: { $0.timeouts == .inherited },
        mayBeData: true)
    ),
    (
      ["cachePolicy", "cacheTimeInSeconds", "cacheDuration"],
      ForeignName(cure: "`cache`, such as `.lifetime(.seconds(180))`") { request in request.cache.isInherited }
    ),
    (
      ["retryPolicy", "retryCount", "retryLimit", "maxRetries", "maxRetryCount"],
      ForeignName(cure: "`retries`", isUnset: { $0.retries.isInherited }, mayBeData: true)
    ),
    (
      ["validationType", "validStatusCodes", "acceptableStatusCodes"],
      ForeignName(cure: "`validation`, such as `ResponseValidation(status: [200, 404])`") { request in
        request.validation.status == .inherited
      }
    ),
    (
      ["jsonValidator"],
      ForeignName(cure: "`validation`, such as `ResponseValidation(shape: …)`") { request in
        request.validation.shape == nil
      }
    ),
    (["useCDN"], ForeignName(cure: "`server`, such as `.cdn`") { request in request.server == .base }),
    (
      ["dateDecodingStrategy", "keyDecodingStrategy"],
      ForeignName(cure: "`formats`, such as `Formats(jsonDecoding: .fast(dates: .iso8601))`") { request in
        request.formats.jsonDecoding.isInherited
      }
    ),
  ]

  /// Whether the request names its server by an absolute URL or by a complete HTTP request.
  private static func goesElsewhere(_ request: any APIRequest) -> Bool {
    HTTPURL.isAbsolute(request.path.text) || (try? request.finishedRequest()) != nil
  }
}
