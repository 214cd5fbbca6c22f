import Errand
@testable import ErrandCore
import ErrandTesting
import Foundation
import Testing
import TestSupport

/// Responses with a body beyond the limit: the status is validated first.
struct LongAnswerTests {
  private struct Get: APIRequest {
    typealias Response = String
    var path: Path = "/page"
    var statusRule: StatusRule = .inherited
    var cache = CachePolicy.inherited
    var validation: ResponseValidation { ResponseValidation(status: statusRule) }
  }

  private final class Tokens: RefreshingProvider {
    let account: String? = "ada"
    private let number = Recorded([0])
    func credential(for account: String?) async throws -> Credential? { .bearer("\(number.count)") }
    func refresh(_ old: Credential, for account: String?) async throws -> Credential {
      number.append(0)
      return .bearer("\(number.count)")
    }
  }

  private static let page = String(repeating: "<p>no</p>", count: 20_000)

  private func client(
    _ server: LoopbackServer, _ change: (inout ClientConfiguration) -> Void = { _ in }
  ) -> APIClient {
    var configuration = ClientConfiguration(baseURL: server.url)
    configuration.limits = ResponseLimits(bodyBytes: 1_000)
    change(&configuration)
    return APIClient(configuration)
  }

  @Test(arguments: [401, 404, 503]) func `long error response reports its status`(status: Int) async throws {
    let server = try LoopbackServer { _ in .status(status, body: Self.page) }
    let error = try #require(await client(server).outcome(of: Get()).error)
    #expect(error.stage == .validate && error.code == .status && error.status == status)
    #expect(error.response?.body == Data(Self.page.utf8.prefix(1_000)))
  }

  @Test func `endless error response reports its status`() async throws {
    let block = [UInt8](repeating: 0x61, count: 10_000)
    let server = try LoopbackServer { _ in LoopbackAnswer([.head(status: 404), .body(block, times: nil)]) }
    let error = try #require(await client(server).outcome(of: Get()).error)
    #expect(error.code == .status && error.status == 404)
  }

  @Test func `long 401 is refreshed`() async throws {
    let server = try LoopbackServer { request in
      request.headers["Authorization"] == "Bearer 2" ? .ok("in") : .status(401, body: Self.page)
    }
    let client = client(server) { $0.credentials = Tokens() }
    #expect(try await client.send(Get()) == "in")
  }

  @Test func `long 503 is retried`() async throws {
    let server = try LoopbackServer()
    server.enqueue(.status(503, body: Self.page).setting("Retry-After", to: "0"), .ok("well"))
    #expect(try await client(server) { $0.retries = .standard }.send(Get()) == "well")
  }

  @Test(arguments: [200, 404]) func `accepted body must be complete`(status: Int) async throws {
    let server = try LoopbackServer { _ in .status(status, body: Self.page) }
    let error = try #require(await client(server).outcome(of: Get(statusRule: .any)).error)
    #expect(error.transportKind == .tooLarge && error.message.contains("more than 1000 bytes"), "\(error)")
  }

  @Test func `truncated response is not stored`() async throws {
    let server = try LoopbackServer { _ in .status(404, body: Self.page).setting("Cache-Control", to: "max-age=600") }
    let client = client(server) { $0.cache.store = .memory(limit: 1 << 20) }
    for _ in 1...2 { #expect(await client.outcome(of: Get(cache: .http)).error?.status == 404) }
    #expect(server.requests.count == 2)
  }
}
