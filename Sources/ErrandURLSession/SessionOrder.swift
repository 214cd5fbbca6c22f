import ErrandHTTP
import Foundation

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// One request in the form that URLSession needs.
struct SessionOrder: Sendable {
  enum Body: Sendable, Equatable {
    case none
    case data(Data)
    case file(URL)
    /// A body that is read piece by piece. Other transports read it while they send it. URLSession needs the whole body
    /// in advance, see ``SessionUpload``.
    case source(HTTPBody)
  }

  /// The time-out of URLSession itself, in seconds. It is one week, so that the library's own time-outs always come
  /// first.
  static let patience: TimeInterval = 604_800
  /// The time-out of URLSession for a background task on which no bytes are transferred, in seconds. It is the default
  /// of the system, which then tries again. No idle time-out of the library applies to background tasks.
  static let backgroundPatience: TimeInterval = 60

  let request: URLRequest
  let body: Body
  /// Whether a cellular network may be used. Only URLSession on Apple platforms supports this choice.
  let allowsCellular: Bool
  /// Whether an expensive network may be used. Only URLSession on Apple platforms supports this choice.
  let allowsExpensive: Bool

  /// Converts a request. Throws a ``TransportFailure`` of kind `unsupported` if URLSession cannot send exactly this
  /// request.
  /// - Parameter patience: The time in seconds without transferred bytes after which URLSession ends a task.
  init(_ exchange: Exchange, _ platform: SessionPlatform, patience: TimeInterval = SessionOrder.patience) throws {
    let request = exchange.request
    try Self.check(request)
    if exchange.sink != nil, !platform.capabilities.contains(.bodySink) {
      throw RequestCheck.refused(
        "this transport cannot write the response body to a sink (capability bodySink); receive the body as data, or "
          + "use another transport")
    }
    body = try Self.body(of: request)
    if platform.resolvesDots, Self.hasDots(request.url.path) {
      throw RequestCheck.refused(
        "URLSession would remove the segments `.` and `..` from the path of the URL; leave them out, or use another "
          + "transport")
    }
    guard let url = URL(string: request.url.string), url.absoluteString == request.url.string else {
      throw RequestCheck.refused("URLSession would change the URL; use another transport")
    }
    var order = URLRequest(url: url, cachePolicy: .reloadIgnoringLocalCacheData, timeoutInterval: patience)
    order.httpMethod = request.method.rawValue
    try Self.check(order.httpMethod, is: request.method)
    order.httpShouldHandleCookies = false
    for (name, value) in Self.merged(request.fields) { order.setValue(value, forHTTPHeaderField: name) }
    allowsCellular = !exchange.network.avoidsCellular
    allowsExpensive = !exchange.network.avoidsExpensive
    #if canImport(Darwin)
      order.allowsCellularAccess = allowsCellular
      order.allowsExpensiveNetworkAccess = allowsExpensive
    #endif
    self.request = order
  }

  private static func check(_ request: HTTPRequest) throws(TransportFailure) {
    do {
      try WireRules.check(request)
    } catch {
      throw TransportFailure(.unsupported, error.message, isCertainlyNotSent: true)
    }
    if request.body?.expectsContinue == true {
      throw RequestCheck.refused("URLSession cannot wait for 100 Continue; leave `expectingContinue()` out")
    }
    if request.method == .get, let body = request.body, body.length != 0 {
      throw RequestCheck.refused("URLSession sends no body with GET; use another method or another transport")
    }
  }

  /// Methods are case-sensitive (RFC 9110 section 9.1), but Foundation writes some of them in upper case.
  private static func check(_ sent: String?, is method: HTTPMethod) throws(TransportFailure) {
    guard let sent, sent != method.rawValue else { return }
    throw RequestCheck.refused(
      "URLSession would send the method \(method) as \(sent); use \(sent) or another transport")
  }

  /// The body to send. With GET, an empty body counts as no body, because URLSession rejects every body with GET.
  private static func body(of request: HTTPRequest) throws -> Body {
    guard let body = request.body, request.method != .get else { return .none }
    if let data = body.data { return .data(data) }
    guard let path = body.filePath else { return .source(body) }
    // Opening the body throws an error if the file has changed since the request was built.
    _ = try body.open(BodyFlow {})
    return .file(URL(filePath: path))
  }

  /// Combines fields with the same name, because URLSession has only one value for each name. The values become a
  /// comma-separated list (RFC 9110 section 5.3); cookies become a cookie string (RFC 6265 section 5.4).
  static func merged(_ fields: HTTPFields) -> [(name: String, value: String)] {
    var merged: [(name: String, value: String)] = []
    for field in fields.all {
      let value = FieldOctets.readable(field.value)
      if let place = merged.firstIndex(where: { HTTPFieldName($0.name) == field.name }) {
        merged[place].value += (field.name == .cookie ? "; " : ", ") + value
      } else {
        merged.append((field.name.rawValue, value))
      }
    }
    return merged
  }

  /// Whether a segment of the path is `.` or `..`, possibly percent-encoded. RFC 3986 section 5.2.4 removes such
  /// segments.
  static func hasDots(_ path: String) -> Bool {
    path.lowercased().replacing("%2e", with: ".").split(separator: "/").contains { $0 == "." || $0 == ".." }
  }
}
