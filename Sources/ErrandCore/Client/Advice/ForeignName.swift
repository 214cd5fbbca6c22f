import ErrandJSON

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
