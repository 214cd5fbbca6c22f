import Errand
import ErrandTesting
import Foundation
import Testing
import TestSupport

/// Failures of the transport that an interceptor around the exchange has seen are still failures of the transport.
@Suite(.timeLimit(.minutes(2))) struct InterceptedFailureTests {
  private struct Get: APIRequest {
    typealias Response = String
    var path: Path = "/thing"
    var retries: RetryPolicy? = RetryPolicy(firstDelay: .zero, busyDelay: .zero)
  }

  private static let signing = Signing { $0.fields["X-Signature"] = "signed" }

  @Test func `signed call is tried again`() async {
    let seen = Recorded<String?>()
    var configuration = ClientConfiguration(baseURL: "http://h.example")
    configuration.exchangeInterceptors = [Self.signing]
    configuration.transport = .own(
      ScriptedTransport { request in
        seen.append(request.fields["X-Signature"])
        return seen.count == 1 ? .failure(.reset, "The connection was reset.") : .text("ok")
      })
    let outcome = await APIClient(configuration).outcome(of: Get())
    #expect(outcome.value == "ok" && seen.all == ["signed", "signed"])
    #expect(outcome.metrics.retries.count == 1)
  }

  @Test func `signed call goes to another server`() async throws {
    let (first, second) = (try LoopbackServer { _ in .ok("first") }, try LoopbackServer { _ in .ok("second") })
    var configuration = ClientConfiguration(baseURL: first.url)
    configuration.environment.fallbackURLs = [second.url]
    configuration.exchangeInterceptors = [Self.signing]
    first.stop()
    let outcome = await APIClient(configuration).outcome(of: Get(retries: nil))
    #expect(outcome.value == "second", "\(outcome.error?.message ?? "")")
  }

  @Test func `signed download is taken up`() async throws {
    let content = String(repeating: "0123456789abcdef", count: 12_500)
    let server = try LoopbackServer { request in
      let range = request.headers["Range"]
      guard let start = range.flatMap({ Int($0.dropFirst("bytes=".count).dropLast()) }) else {
        return .status(200, headers: ["ETag": "\"1\"", "Accept-Ranges": "bytes"], body: content).cut(after: 100_000)
      }
      let fields: LoopbackHeaders = [
        "ETag": "\"1\"", "Content-Range": "bytes \(start)-\(content.count - 1)/\(content.count)",
      ]
      return .status(206, headers: fields, body: String(content.dropFirst(start)))
    }
    var configuration = ClientConfiguration(baseURL: server.url)
    configuration.exchangeInterceptors = [Self.signing]
    let folder = FileManager.default.temporaryDirectory.appending(path: "errand-\(UUID())")
    defer { try? FileManager.default.removeItem(at: folder) }
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let target = folder.appending(path: "film")
    _ = try await APIClient(configuration).send(GetFile(download: .to(target)))
    #expect(try String(contentsOf: target, encoding: .utf8) == content)
    #expect(server.requests.count == 2)
  }

  private struct GetFile: APIRequest {
    typealias Response = DownloadedFile
    let path: Path = "/film"
    var download: Download?
  }
}
