import Errand
import ErrandHTTP
import ErrandTesting
import Foundation
import Testing

/// The message of a call quotes an error of the app. An error that conforms to `LocalizedError` is quoted by its
/// sentence, wherever the app may throw it.
struct AppErrorTests {
  private struct SessionEnded: LocalizedError {
    var errorDescription: String? { "your session has ended" }
  }

  private struct Silent: LocalizedError {}

  private struct Get: APIRequest {
    var wrong: (any Error)?
    var body: RequestBody?
    var method: HTTPMethod = .get
    var path: Path { "/get" }
    typealias Response = String

    func check() throws { if let wrong { throw wrong } }
  }

  private struct Refusing: Interceptor {
    func intercept(_ request: HTTPRequest, context: CallContext, next: Next) async throws -> HTTPResponse {
      throw SessionEnded()
    }
  }

  private final class Tokens: RefreshingProvider {
    let account: String? = "ada"

    func credential(for account: String?) async throws -> Credential? { .bearer("old") }
    func refresh(_ old: Credential, for account: String?) async throws -> Credential { throw SessionEnded() }
  }

  private final class Broken: BodySource {
    func read(into buffer: UnsafeMutableRawBufferPointer) throws -> BodyRead { throw SessionEnded() }
  }

  private struct Title: Reformer {
    func reform(_ text: String) throws -> Int { throw SessionEnded() }
  }

  @Test func `a wrong parameter is quoted`() async {
    let bench = ScriptedClient(answers: [])
    let error = await bench.failure(of: Get(wrong: SessionEnded()))
    #expect(error?.message == "A parameter is wrong: your session has ended." && error?.cause is SessionEnded)
    #expect(await bench.failure(of: Get(wrong: Silent()))?.message == "A parameter is wrong: Silent().")
  }

  @Test func `an interceptor's error is quoted`() async {
    let bench = ScriptedClient(answers: []) { $0.interceptors.calls = [Refusing()] }
    #expect(await bench.failure(of: Get())?.message == "An interceptor failed: your session has ended.")
  }

  @Test func `a failed refresh is quoted`() async {
    let bench = ScriptedClient(answers: [.status(401)]) { $0.credentials = Tokens() }
    let error = await bench.failure(of: Get())
    #expect(error?.code == .refreshFailed && error?.message.hasSuffix("log in again: your session has ended.") == true)
  }

  @Test func `a failed body source is quoted`() async {
    let body = RequestBody.stream(length: 4, isReplayable: true) { _ in Broken() }
    let error = await ScriptedClient(answers: [.text("")]).failure(of: Get(body: body, method: .put))
    #expect(error?.code == .bodySource)
    #expect(error?.message == "The source of the body failed: your session has ended.")
  }

  @Test func `reformers and chains are quoted`() async {
    let client = ScriptedClient(answers: [.text("a")]).client
    let reformed = await client.outcome(of: Get(), as: Title()).error
    #expect(reformed?.code == .reform && reformed?.message.hasSuffix("Title: your session has ended.") == true)
    let chained = await client.outcome(of: Chain { _ in throw SessionEnded() }).error
    #expect(chained?.message == "A step of the chain failed: your session has ended.")
  }
}
