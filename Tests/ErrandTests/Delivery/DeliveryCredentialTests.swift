import ErrandSupport
import Errand
@testable import ErrandCore
import ErrandTesting
import Foundation
import Testing

/// Credentials in the pipeline: when the provider is asked, and for which account.
struct DeliveryCredentialTests {
  private final class Provider: CredentialProvider {
    let latch: Latch?
    let failure: (any Error)?
    let asked = Recorded<String>()
    private let name = Locked<String?>("ada")

    init(latch: Latch? = nil, failure: (any Error)? = nil) {
      self.latch = latch
      self.failure = failure
    }

    var account: String? {
      asked.append("account")
      return name.withLock { $0 }
    }

    func logIn(_ other: String) { name.withLock { $0 = other } }

    func credential(for account: String?) async throws -> Credential? {
      asked.append("credential \(account ?? "nobody")")
      try await latch?.wait()
      if let failure { throw failure }
      return .bearer("token of \(account ?? "nobody")")
    }
  }

  private func client(_ provider: Provider, _ transport: ScriptedTransport, _ clock: ManualClock = ManualClock())
    -> APIClient
  {
    var configuration = ClientConfiguration(baseURL: "http://h.example")
    configuration.transport = .own(transport)
    configuration.credentials = provider
    configuration.timers = clock
    return APIClient(configuration)
  }

  @Test func `account is read at the start`() async throws {
    let latch = Latch()
    let provider = Provider(latch: latch)
    let transport = ScriptedTransport(.text("hello"))
    let client = client(provider, transport)
    async let value = client.send(WatchedRequest())
    await latch.reached()
    provider.logIn("eve")
    latch.open()
    #expect(try await value == "hello")
    #expect(transport.requests.map { $0.fields["Authorization"] } == ["Bearer token of ada"])
    #expect(provider.asked.all == ["account", "credential ada", "account"])
  }

  @Test(arguments: [true, false]) func `stop ends the wait for a credential`(isExpiry: Bool) async {
    let latch = Latch()
    let clock = ManualClock()
    let transport = ScriptedTransport(.text("hello"))
    let client = client(Provider(latch: latch), transport, clock)
    let ended = Latch()
    let told = Recorded<String>()
    client.start(outcomeOf: WatchedRequest(), on: .inPlace, options: .tag("credential")) {
      told.append($0.told)
      ended.open()
    }
    await latch.reached()
    #expect(client.admission == (0, 0), "a call waiting for a credential holds no slot")
    if isExpiry { clock.advance(by: .seconds(120)) } else { client.cancel(tag: "credential") }
    await ended.waitStubbornly()
    #expect(told.all == [isExpiry ? "deadline" : "cancelled"])
    #expect(transport.requests.isEmpty)
    #expect(clock.pending == 0)
  }

  @Test func `credential is sent only to its origins`() async throws {
    let provider = Provider()
    let transport = ScriptedTransport(.redirect(to: "http://other.example/"), .text("end"))
    let client = client(provider, transport)
    #expect(try await client.send(WatchedRequest()) == "end")
    #expect(transport.requests.map { $0.fields["Authorization"] } == ["Bearer token of ada", nil])
    #expect(provider.asked.all == ["account", "credential ada", "account"])
  }

  @Test func `provider's error has stage authorize`() async {
    struct LoggedOut: Error {}
    let transport = ScriptedTransport(.text("hello"))
    let error = await client(Provider(failure: LoggedOut()), transport).outcome(of: WatchedRequest()).error
    #expect(error?.stage == .authorize)
    #expect(error?.code == .noCredential)
    #expect(error?.cause is LoggedOut)
    #expect(transport.requests.isEmpty)
  }

  /// Fetches its credential with another client.
  private struct Fetching: CredentialProvider {
    let account: String? = "ada"
    let tokens: APIClient

    func credential(for account: String?) async throws -> Credential? {
      .bearer(try await tokens.get("/token", as: String.self))
    }
  }

  private func client(_ transport: ScriptedTransport, tokens: ScriptedTransport) -> APIClient {
    let source = APIClient(baseURL: "http://tokens.example")
    source.configure { $0.transport = .own(tokens) }
    let client = APIClient(baseURL: "http://h.example")
    client.configure {
      $0.transport = .own(transport)
      $0.credentials = Fetching(tokens: source)
    }
    return client
  }

  @Test func `stored response replaces an unreachable token server`() async throws {
    let transport = ScriptedTransport(.text("hello"))
    let client = client(transport, tokens: ScriptedTransport(.text("token"), .failure(.offline)))
    client.configure { $0.cache.policy = .lifetime(.seconds(60)) }
    #expect(try await client.send(WatchedRequest()) == "hello")
    let again = try await client.response(WatchedRequest(), options: .cache(.networkElseCached))
    #expect(again.value == "hello" && again.origin == .cacheStale)
    #expect(transport.requests.count == 1)
  }

  @Test(arguments: [(404, APIError.Code.noCredential), (503, .refreshUnavailable)])
  func `status of the token server is not the call's`(status: Int, code: APIError.Code) async {
    let transport = ScriptedTransport(.text("hello"))
    let client = client(transport, tokens: ScriptedTransport(.status(status)))
    let error = await client.outcome(of: WatchedRequest()).error
    #expect(error?.stage == .authorize && error?.code == code)
    #expect(error?.status == nil && error?.request?.url.host == "h.example")
    #expect((error?.cause as? APIError)?.status == status)
    #expect(transport.requests.isEmpty)
  }
}
