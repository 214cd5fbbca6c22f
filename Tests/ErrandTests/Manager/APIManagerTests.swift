@testable import ErrandCore
import Errand
import ErrandTesting
import Foundation
import Testing
import TestSupport

/// One object per API, over real sockets.
struct APIManagerTests {
  private struct GetUser: APIRequest {
    let id: Int
    var path: Path { "/users/\(id)" }
    typealias Response = String
    func check() throws {
      guard id > 0 else { throw Wrong() }
    }
    struct Wrong: Error {}
  }

  @MainActor private final class Page: APIManagerDelegate {
    var id = 7
    private(set) var events: [(manager: any APIManaging, isSuccess: Bool)] = []
    private var waiter: CheckedContinuation<Void, Never>?

    func managerFinished(_ manager: any APIManaging) { tell(manager, true) }
    func managerFailed(_ manager: any APIManaging) { tell(manager, false) }

    private func tell(_ manager: any APIManaging, _ isSuccess: Bool) {
      events.append((manager, isSuccess))
      waiter?.resume()
      waiter = nil
    }

    /// Waits until the total number of events is `count`.
    func heard(_ count: Int) async {
      while events.count < count { await withCheckedContinuation { waiter = $0 } }
    }
  }

  private func server() throws -> LoopbackServer { try LoopbackServer { .ok("user \($0.path.dropFirst(7))") } }

  @Test @MainActor func `manager takes requests from its source`() async throws {
    let server = try server()
    let page = Page()
    let manager = APIManager(APIClient(baseURL: server.url)) { GetUser(id: page.id) }
    manager.delegate = page
    #expect(manager.start() != nil && manager.isLoading && manager.lastOutcome == nil)
    await page.heard(1)
    #expect(manager.lastOutcome?.value == "user 7" && manager.lastError == nil && !manager.isLoading)
    page.id = 8
    manager.start()
    await page.heard(2)
    #expect(manager.lastOutcome?.value == "user 8" && manager.lastOutcome?.response?.status == 200)
    #expect(page.events.allSatisfy { $0.isSuccess && $0.manager === manager } && server.requests.count == 2)
  }

  @Test @MainActor func `manager takes requests from the caller`() async throws {
    let server = try server()
    let page = Page()
    let manager = APIManager<GetUser>(APIClient(baseURL: server.url))
    manager.delegate = page
    manager.start(GetUser(id: 3))
    await page.heard(1)
    #expect(manager.lastOutcome?.value == "user 3" && server.requests.count == 1)
    #expect(manager.start() == nil)
    #expect(page.events.count == 2 && manager.lastError?.message.contains("no source") == true)
  }

  @Test @MainActor func `invalid parameters open no socket`() async throws {
    let server = try server()
    let page = Page()
    let manager = APIManager(APIClient(baseURL: server.url)) { GetUser(id: 0) }
    manager.delegate = page
    manager.start()
    await page.heard(1)
    #expect(manager.lastError?.code == .parameter && server.requests.isEmpty)
    manager.source = { throw GetUser.Wrong() }
    #expect(manager.start() == nil)
    #expect(manager.lastError?.cause is GetUser.Wrong && page.events.map(\.isSuccess) == [false, false])
  }

  @Test @MainActor func `reformers read the last response`() async throws {
    let server = try server()
    let page = Page()
    let manager = APIManager(APIClient(baseURL: server.url)) { GetUser(id: 5) }
    manager.delegate = page
    let count = Reform<String, Int> { $0.count }
    let early = #expect(throws: APIError.self) { try manager.fetch(as: count) }
    #expect(early?.message.contains("no outcome yet") == true)
    manager.start()
    await page.heard(1)
    #expect(try manager.fetch(as: count) == 6)
    #expect(try manager.fetch(as: Reform { $0.uppercased() }) == "USER 5" && server.requests.count == 1)
  }

  @Test @MainActor func `manager cancels only its own calls`() async throws {
    let gate = Gate()
    let server = try LoopbackServer { _ in .ok("late").held(at: gate) }
    let client = APIClient(baseURL: server.url)
    let (page, other) = (Page(), Page())
    let manager = APIManager(client) { GetUser(id: 1) }
    let neighbour = APIManager(client) { GetUser(id: 2) }
    (manager.delegate, neighbour.delegate) = (page, other)
    manager.start()
    neighbour.start()
    try await gate.reached(times: 2)
    manager.cancelAll()
    await page.heard(1)
    #expect(manager.lastError?.isCancelled == true && neighbour.isLoading)
    gate.open()
    await other.heard(1)
    #expect(neighbour.lastOutcome?.value == "late" && page.events.count == 1 && server.requests.count == 2)
  }

  @Test @MainActor func `released manager cancels its calls`() async throws {
    let gate = Gate()
    let server = try LoopbackServer { _ in .ok().held(at: gate) }
    let client = APIClient(baseURL: server.url)
    let page = Page()
    weak var freed: APIManager<GetUser>?
    do {
      let manager = APIManager(client) { GetUser(id: 1) }
      manager.delegate = page
      manager.start()
      freed = manager
      try await gate.reached()
    }
    #expect(freed == nil)
    #expect(await eventually { client.running.isEmpty })
    #expect(page.events.isEmpty, "the manager that would notify the delegate is released")
    gate.open()
    withExtendedLifetime(server) {}
  }
}
