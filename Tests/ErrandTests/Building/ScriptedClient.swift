import Errand
import ErrandTesting
import Foundation

/// A client over a scripted transport, with short helpers to use it.
struct ScriptedClient {
  let transport: ScriptedTransport
  let client: APIClient

  init(
    baseURL: String = "http://h.example", cdnURL: String? = nil,
    _ change: (inout ClientConfiguration) -> Void = { _ in },
    answer: @escaping @Sendable (HTTPRequest) async throws -> ScriptedAnswer = { _ in .status(200) }
  ) {
    transport = ScriptedTransport(answer)
    var configuration = ClientConfiguration(baseURL: baseURL, cdnURL: cdnURL)
    configuration.transport = .own(transport)
    change(&configuration)
    client = APIClient(configuration)
  }

  init(answers: [ScriptedAnswer], change: (inout ClientConfiguration) -> Void = { _ in }) {
    let rest = Recorded(answers)
    self.init(change) { _ in rest.takeFirst() ?? .failure(.notScripted, "the script has no response left") }
  }

  /// The HTTP request that is sent for a request.
  func sent(_ request: some APIRequest, options: CallOptions = CallOptions()) async throws -> HTTPRequest? {
    _ = try await client.send(request, options: options)
    return transport.requests.last
  }

  /// The URL that is sent for a request.
  func url(_ request: some APIRequest) async throws -> String? { try await sent(request)?.url.string }

  /// The error of a request, or nil if it succeeds.
  func failure(of request: some APIRequest, options: CallOptions = CallOptions()) async -> APIError? {
    await client.outcome(of: request, options: options).error
  }

  /// The warnings that two calls of a request write.
  static func warnings(_ request: some APIRequest, options: CallOptions = CallOptions()) async -> [String] {
    let lines = Recorded<LogLine>()
    let bench = ScriptedClient { $0.log = { lines.append($0) } }
    for _ in 0..<2 { _ = await bench.client.outcome(of: request, options: options) }
    return lines.all.filter { $0.level == .warning }.map(\.text)
  }
}

extension HTTPRequest {
  /// The body as text.
  var text: String? { body?.data.map { String(decoding: $0, as: UTF8.self) } }

  /// The names and values of the query, decoded as a server does.
  var queryPairs: [[String]] { pairs(url.query ?? "", plusIsSpace: false) }

  /// The names and values of a form, decoded as a server does.
  var formPairs: [[String]] { pairs(text ?? "", plusIsSpace: true) }

  private func pairs(_ text: String, plusIsSpace: Bool) -> [[String]] {
    text.split(separator: "&").map { pair in
      pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map { half in
        let spaced = plusIsSpace ? String(half).replacing("+", with: " ") : String(half)
        return spaced.removingPercentEncoding ?? "not UTF-8: \(spaced)"
      }
    }
  }
}
