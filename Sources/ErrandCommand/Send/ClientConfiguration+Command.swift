import Errand
import ErrandCore
import ErrandHTTP
import ErrandSupport
import Foundation

#if os(Linux)
  import ErrandCurl
  import ErrandEngine
#endif

extension ClientConfiguration {
  /// The common configuration of the command's clients: no base URL and no cache. The printer, if there is one, prints
  /// the exchanges.
  static func ofCommand(printer: ExchangePrinter?, usesProxy: Bool) -> ClientConfiguration {
    var configuration = ClientConfiguration(baseURL: "")
    configuration.cache.store = .off
    configuration.additions.userAgent = "errand/\(HelpText.version)"
    if let printer { configuration.interceptors.exchanges = [printer] }
    #if os(Linux)
      if usesProxy, let transport = try? proxyTransport() { configuration.transport = .own(transport) }
    #endif
    return configuration
  }

  #if os(Linux)
    /// A transport that uses the proxies in environment variables. It is based on libcurl if one of them is not an HTTP
    /// proxy, because the engine supports only HTTP proxies.
    private static func proxyTransport() throws -> any Transport {
      let environment = ProcessInfo.processInfo.environment
      let names = ["http_proxy", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"]
      let needsCurl = names.compactMap { environment[$0]?.lowercased() }.contains { url in
        ["socks", "https:"].contains { url.utf8.starts(with: $0.utf8) }
      }
      if needsCurl {
        var settings = CurlConfiguration()
        settings.proxy = .environment
        return try CurlTransport(settings)
      }
      var settings = EngineConfiguration()
      settings.proxy = .environment
      return try EngineTransport(settings)
    }
  #endif
}

/// Prints each request when it is sent and each response when it is received, if the option `-v` is given. Secrets are
/// masked.
struct ExchangePrinter: Interceptor {
  /// Whether a ``VerboseSink`` has printed the headers of the current exchange. Only calls that run one exchange after
  /// the other have such a sink.
  private final class Progress: Sendable {
    let isShown = Locked(false)
  }

  let paint: Paint
  let write: @Sendable (String) -> Void
  private let progress = Progress()

  init(paint: Paint, write: @escaping @Sendable (String) -> Void) { (self.paint, self.write) = (paint, write) }

  /// A printer for standard error; nil if the output is not verbose.
  static func onError(isVerbose: Bool) -> ExchangePrinter? {
    guard isVerbose else { return nil }
    return ExchangePrinter(paint: Terminal.paint(for: .error)) { Terminal.write($0, to: .error) }
  }

  func intercept(_ request: HTTPRequest, context: CallContext, next: Next) async throws -> HTTPResponse {
    write(sent(request))
    progress.isShown.withLock { $0 = false }
    let response = try await next(request)
    let isShown = progress.isShown.withLock { $0 }
    if !isShown { write(Self.lines(of: response.head, mark: "< ", paint)) }
    return response
  }

  /// Prints the headers of a response before its body is written.
  fileprivate func show(_ head: ResponseHead) {
    progress.isShown.withLock { $0 = true }
    write(Self.lines(of: head, mark: "< ", paint))
  }

  /// The lines to print for a request: method and URL, the fields, and the length of the body.
  private func sent(_ request: HTTPRequest) -> String {
    let line = "> \(request.method) \(Secrets.maskedTarget(request.url.string))"
    var lines = [paint(.bold, line)] + request.fields.all.map { "> " + Self.shown($0, paint) }
    if let body = request.body {
      let length = body.length.map(Wording.bytes) ?? "an unknown length"
      lines.append(paint(.dim, "> (\(length) of body)"))
    }
    return lines.map { $0 + "\n" }.joined()
  }

  /// The status line and the fields of a response. Each line begins with `mark`.
  static func lines(of head: ResponseHead, mark: String = "", _ paint: Paint) -> String {
    let line = "\(mark)\(head.version.rawValue) \(head.status)\(head.reason.isEmpty ? "" : " \(head.reason)")"
    let status = paint(head.isSuccess ? .green : .yellow, PlainText.visible(line))
    return ([status] + head.fields.all.map { mark + shown($0, paint) }).map { $0 + "\n" }.joined()
  }

  private static func shown(_ field: HTTPField, _ paint: Paint) -> String {
    let value =
      field.isSecret ? Secrets.mask : Secrets.maskedTarget(Secrets.shown(field.value, of: field.name.rawValue))
    return paint(.dim, "\(field.name):") + " " + PlainText.visible(value)
  }
}

/// Passes the body of a response to another sink, and prints the headers of the response before.
struct VerboseSink: ForwardingSink {
  let inner: any BodySink
  let printer: ExchangePrinter

  func begin(_ head: ResponseHead, flow: BodyFlow) throws -> BodyDisposition {
    printer.show(head)
    return try inner.begin(head, flow: flow)
  }
}
