import ErrandJSON

/// A name by which other libraries, such as Alamofire, Moya and YTKNetwork, declare a setting of a request.
struct ForeignName: Sendable {
  /// The property of ``APIRequest`` to declare instead, as the object of "use".
  let cure: String
  /// Whether the request leaves the setting at its default. A request that passes the property on itself does not, for
  /// example by an argument with the value of the property.
  let isUnset: @Sendable (any APIRequest) -> Bool

  /// The names. A name is in the table only if it rarely names data of a request.
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
      ForeignName(cure: "`path`, which may also be an absolute URL: `RequestPath(text)`") { request in
        !goesElsewhere(request) && sendsNothing(request)
      }
    ),
    (["httpMethod", "requestMethod"], ForeignName(cure: "`method`") { request in request.method == .get }),
    (
      ["params", "parameters", "queryParameters", "queryItems", "requestArgument"],
      ForeignName(cure: "`arguments`") { request in sendsNothing(request) }
    ),
    (
      ["httpBody", "requestBody", "bodyParameters", "bodyData"],
      ForeignName(cure: "`arguments` or `body`") { request in sendsNothing(request) && request.download == nil }
    ),
    (
      // Moya's name. A request of an app with tasks of its own has this property, too, and uses it in its path.
      ["task"],
      ForeignName(cure: "`arguments` or `body`") { request in
        sendsNothing(request) && request.download == nil && [.post, .put, .patch].contains(request.method)
      }
    ),
    (
      ["parameterEncoding"],
      ForeignName(cure: "`argumentFormat`") { request in request.argumentFormat == .inherited }
    ),
    (
      ["httpHeaders", "httpHeaderFields", "headerFields", "allHTTPHeaderFields"],
      ForeignName(cure: "`headers`") { request in request.headers.isEmpty }
    ),
    (
      ["timeout", "timeoutInterval", "requestTimeout", "requestTimeoutInterval"],
      ForeignName(cure: "`timeouts`, such as `Timeouts(total: .seconds(30))`") { request in
        request.timeouts == .inherited && sendsNothing(request)
      }
    ),
    (
      ["cachePolicy", "cacheTimeInSeconds", "cacheDuration"],
      ForeignName(cure: "`cache`, such as `.lifetime(.seconds(180))`") { request in request.cache.isInherited }
    ),
    (
      ["retryPolicy", "retryCount", "retryLimit", "maxRetries", "maxRetryCount"],
      ForeignName(cure: "`retries`") { request in request.retries.isInherited && sendsNothing(request) }
    ),
    (
      ["validationType", "validStatusCodes", "acceptableStatusCodes"],
      ForeignName(cure: "`statusRule`") { request in request.statusRule == .inherited }
    ),
    (["jsonValidator"], ForeignName(cure: "`shape`") { request in request.shape == nil }),
    (["useCDN"], ForeignName(cure: "`server`, such as `.cdn`") { request in request.server == .base }),
    (
      ["dateDecodingStrategy", "keyDecodingStrategy"],
      ForeignName(cure: "`jsonDecoding`") { request in request.jsonDecoding.isInherited }
    ),
  ]

  /// Whether the request has neither arguments nor a body.
  private static func sendsNothing(_ request: any APIRequest) -> Bool {
    request.arguments.isEmpty && request.body == nil
  }

  /// Whether the request names its server by an absolute URL or by a complete HTTP request.
  private static func goesElsewhere(_ request: any APIRequest) -> Bool {
    HTTPURL.isAbsolute(request.path.text) || (try? request.finishedRequest()) != nil
  }
}
