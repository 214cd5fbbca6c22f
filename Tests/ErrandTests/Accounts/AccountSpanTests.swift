import Errand
import ErrandTesting
import ErrandTransfer
import Foundation
import TestSupport
import Testing

/// Work of several calls belongs to the account that was current when the work started.
struct AccountSpanTests {
  private struct Get: APIRequest {
    typealias Response = String
    var path: Path = "/thing"
    var credential = RequestCredential.inherited
    var overlap: Overlap { Overlap(joining: .never) }
  }

  private struct Numbers: PagedRequest {
    typealias Response = [Int]
    var page = 1
    var path: Path { "/numbers" }
    var arguments: Arguments { ["page": page] }
    func items(of page: [Int]) -> [Int] { page }
    func next(after page: APIResponse<[Int]>) -> Numbers? { Numbers(page: self.page + 1) }
  }

  /// A server that holds its first response at a gate, and a client with ada logged in and bob known.
  private struct Scene {
    let gate = Gate()
    let server: LoopbackServer
    let client: APIClient
    let accounts = CredentialStore()

    init(isLoggedIn: Bool = true) async throws {
      server = try LoopbackServer { _ in .json("[1]") }
      server.enqueue(.json("[1]").held(at: gate))
      if isLoggedIn {
        for name in ["bob", "ada"] { try await accounts.login(name, with: AccountCredential(.bearer(name))) }
      }
      client = APIClient(baseURL: server.url)
      client.configure { [accounts] in $0.credentials = accounts }
    }

    /// Either bob logs in or ada logs out.
    func leave(_ isLogout: Bool) async throws {
      if isLogout { try await accounts.logout() } else { try await accounts.use("bob") }
    }

    func login() async throws { try await accounts.login("eve", with: AccountCredential(.bearer("eve"))) }

    /// The credentials that the server received, in order.
    var shown: [String?] { server.requests.map { $0.headers["Authorization"] } }
  }

  @Test(arguments: [false, true]) func `waiting batch members keep their account`(isLogout: Bool) async throws {
    let scene = try await Scene()
    let members = [Get(), Get(), Get(credential: .none)]
    async let outcomes = scene.client.outcomes(of: members, width: 1)
    try await scene.gate.reached()
    try await scene.leave(isLogout)
    scene.gate.open()
    let codes = await outcomes.map { outcome in
      if case .failure(let error) = outcome { error.code } else { APIError.Code?.none }
    }
    #expect(codes == [isLogout ? .loggedOut : nil, .loggedOut, nil])
    #expect(scene.shown == ["Bearer ada", nil])
  }

  @Test func `chain in a batch keeps its account`() async throws {
    let scene = try await Scene()
    let chain = Chain { chain in
      _ = try await chain.send(Get())
      return try await chain.send(Get())
    }
    async let ended = scene.client.outcome(of: Batch([chain]))
    try await scene.gate.reached()
    try await scene.leave(false)
    scene.gate.open()
    #expect(await ended.error?.isCancelled == true)
    #expect(scene.shown == ["Bearer ada"])
  }

  @Test func `chain follows the current account`() async throws {
    let scene = try await Scene()
    scene.gate.open()
    try await scene.client.chain { chain in
      _ = try await chain.send(Get())
      try await scene.leave(false)
      _ = try await chain.send(Get())
    }
    #expect(scene.shown == ["Bearer ada", "Bearer bob"])
  }

  @Test func `batch without account may log in`() async throws {
    let scene = try await Scene(isLoggedIn: false)
    async let outcomes = scene.client.outcomes(of: [Get(), Get()], width: 1)
    try await scene.gate.reached()
    try await scene.login()
    scene.gate.open()
    for outcome in await outcomes { _ = try outcome.get() }
    #expect(scene.shown == [nil, "Bearer eve"])
  }

  @Test func `pages belong to one account`() async throws {
    let scene = try await Scene()
    scene.gate.open()
    var pages = scene.client.pages(of: Numbers()).makeAsyncIterator()
    #expect(try await pages.next()?.value == [1])
    try await scene.leave(false)
    let error = await #expect(throws: APIError.self) { _ = try await pages.next(isolation: #isolation) }
    #expect(error?.code == .loggedOut && scene.shown == ["Bearer ada"])
  }

  @Test func `login ends pages without an account`() async throws {
    let scene = try await Scene(isLoggedIn: false)
    scene.gate.open()
    var pages = scene.client.pages(of: Numbers()).makeAsyncIterator()
    for _ in 1...2 { #expect(try await pages.next()?.value == [1]) }
    try await scene.login()
    let error = await #expect(throws: APIError.self) { _ = try await pages.next(isolation: #isolation) }
    #expect(error?.code == .loggedOut && scene.shown == [nil, nil])
  }

  @Test func `pages need no credential provider`() async throws {
    let scene = try await Scene(isLoggedIn: false)
    scene.gate.open()
    scene.client.configure { $0.credentials = nil }
    var pages = scene.client.pages(of: Numbers()).makeAsyncIterator()
    for _ in 1...2 { #expect(try await pages.next()?.value == [1]) }
  }

  @Test @MainActor func `login ends a page manager without an account`() async throws {
    let scene = try await Scene(isLoggedIn: false)
    scene.gate.open()
    let manager = PageManager(scene.client, first: Numbers())
    func load() async { if manager.loadNext() { #expect(await eventually { !manager.isLoading }) } }
    await load()
    try await scene.login()
    await load()
    #expect(manager.lastError?.code == .loggedOut && manager.items == [1] && scene.shown == [nil])
    manager.reset()
    await load()
    #expect(manager.lastError == nil && scene.shown == [nil, "Bearer eve"])
  }

  @Test @MainActor func `page manager restarts for another account`() async throws {
    let scene = try await Scene()
    scene.gate.open()
    let manager = PageManager(scene.client, first: Numbers())
    func load() async { if manager.loadNext() { #expect(await eventually { !manager.isLoading }) } }
    await load()
    try await scene.leave(false)
    await load()
    #expect(manager.lastError?.code == .loggedOut && manager.items == [1])
    manager.reset()
    await load()
    #expect(manager.lastError == nil && manager.items == [1] && scene.shown == ["Bearer ada", "Bearer bob"])
  }

  @Test(arguments: [false, true]) func `queued downloads keep their account`(isLoggedIn: Bool) async throws {
    let scene = try await Scene(isLoggedIn: isLoggedIn)
    let folder = URL.temporaryDirectory.appending(path: "errand-\(UUID().uuidString)", directoryHint: .isDirectory)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let queue = DownloadQueue(scene.client, width: 1)
    let films = ["a", "b"].map { queue.add(FileDownload("/\($0)", .to(folder.appending(path: $0)))) }
    try await scene.gate.reached()
    if isLoggedIn { try await scene.leave(false) } else { try await scene.login() }
    scene.gate.open()
    _ = try await films[0].value()
    let error = await #expect(throws: APIError.self) { _ = try await films[1].value() }
    #expect(error?.code == .loggedOut && scene.shown == [isLoggedIn ? "Bearer ada" : nil])
  }
}
