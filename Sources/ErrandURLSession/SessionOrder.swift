import ErrandHTTP
import Foundation

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// One request as URLSession takes it, or the reason why it cannot.
struct SessionOrder: Sendable {
  /// What the request asks to travel with the head.
  enum Body: Sendable, Equatable {
    case none
    case data(Data)
    case file(URL)
    /// Read while it is sent elsewhere; here before that, see ``SessionUpload``.
    case source(HTTPBody)
  }

  /// URLSession's own time-outs never come before ours: a week, in seconds.
  static let patience: TimeInterval = 604_800

  let request: URLRequest
  let body: Body
  /// Whether it may go over a cellular network, where URLSession can tell.
  let allowsCellular: Bool
  /// Whether it may go over an expensive network, where URLSession can tell.
  let allowsExpensive: Bool

  /// Throws ``TransportFailure`` of kind `unsupported` where URLSession would send something else.
  init(_ exchange: Exchange, _ platform: SessionPlatform) throws {
    let request = exchange.request
    try Self.check(request)
    if exchange.sink != nil, !platform.capabilities.contains(.bodySink) {
      throw Self.refused("this transport cannot hand a body to a sink (capability bodySink)")
    }
    body = try Self.body(of: request)
    if platform.resolvesDots, Self.hasDots(request.url.path) {
      throw Self.refused("URLSession would resolve the dots in its path")
    }
    guard let url = URL(string: request.url.string), url.absoluteString == request.url.string else {
      throw Self.refused("URLSession would write its URL differently")
    }
    var order = URLRequest(url: url, cachePolicy: .reloadIgnoringLocalCacheData, timeoutInterval: Self.patience)
    order.httpMethod = request.method.rawValue
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
      throw refused("URLSession cannot wait for 100 Continue; leave `expectingContinue()` out")
    }
    if request.method == .get, let body = request.body, body.length != 0 {
      throw refused("URLSession sends no body with GET; use another method, or the transport on libcurl")
    }
  }

  /// An empty body of a GET is none: URLSession refuses that, too.
  private static func body(of request: HTTPRequest) throws -> Body {
    guard let body = request.body, request.method != .get else { return .none }
    if let data = body.data { return .data(data) }
    guard let path = body.filePath else { return .source(body) }
    // Finds out whether the file is still the one that the request was built with.
    _ = try body.open(BodyFlow {})
    return .file(URL(filePath: path))
  }

  /// URLSession has one value for each name. Fields of one name become a list (RFC 9110 section 5.3), cookies a list of
  /// their own kind (RFC 6265 section 5.4).
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

  /// Whether a segment of the path is `.` or `..`, which RFC 3986 section 5.2.4 takes out; escaped dots count, too.
  static func hasDots(_ path: String) -> Bool {
    path.lowercased().replacing("%2e", with: ".").split(separator: "/").contains { $0 == "." || $0 == ".." }
  }

  private static func refused(_ text: String) -> TransportFailure {
    TransportFailure(.unsupported, "The request cannot be sent: \(text).", isCertainlyNotSent: true)
  }
}
