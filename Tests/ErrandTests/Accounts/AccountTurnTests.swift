import Errand
import ErrandCore
import ErrandSupport
import ErrandTesting
import Foundation
import Testing
import TestSupport

/// A whole session from login through refresh to the farewell, in which each step fails in turn.
struct AccountTurnTests {
  private struct Get: APIRequest {
    typealias Response = String
    var path: Path = "/thing"
    var method = HTTPMethod.get
    var joining = JoinRule.never
    var overlap: Overlap { Overlap(joining: joining) }
  }

  private struct Renew: APIRequest {
    typealias Response = String
    let token: String
    var path: Path { "/token" }
    var method: HTTPMethod { .post }
    var arguments: Arguments { ["refresh": token] }
  }

  /// Counts the steps, and performs an action at one of them.
  private final class Turns: Sendable {
    private let state = Locked((count: 0, action: (@Sendable () -> Void)?.none))
    private let turn: Int

    init(_ turn: Int) { self.turn = turn }

    /// Returns whether the step has not been reached, and prevents it from being reached later.
    func end() -> Bool {
      state.withLock { state in
        defer { state.count = max(state.count, turn) }
        return state.count < turn
      }
    }

    func at(_ action: @escaping @Sendable () -> Void) { state.withLock { $0.action = action } }

    /// True only at the chosen step.
    @discardableResult func pass() -> Bool {
      let (isIt, action) = state.withLock { state in
        state.count += 1
        return (state.count == turn, state.action)
      }
      if isIt { action?() }
      return isIt
    }
  }

  /// Saves to a file, and counts a step before and after.
  private struct Keeper: CredentialKeeper {
    let file: FileCredentialKeeper
    let turns: Turns

    func load() throws -> KeptAccounts? { try file.load() }
    func save(_ accounts: KeptAccounts) throws {
      turns.pass()
      try file.save(accounts)
      turns.pass()
    }
  }

  /// A server that accepts the token "new" and the refresh token "r".
  private final class Session: Sendable {
    let folder: URL
    let server: LoopbackServer
    let client: APIClient
    let accounts: CredentialStore

    init(
      _ keeper: (URL) -> any CredentialKeeper, answer: @escaping @Sendable (LoopbackAnswer) -> LoopbackAnswer
    ) async throws {
      folder = FileManager.default.temporaryDirectory.appending(path: "errand-\(UUID().uuidString)")
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
      server = try LoopbackServer { request in
        switch request.path {
        case "/token": answer(request.bodyText == "refresh=r" ? .ok("new") : .status(400))
        case "/farewell": answer(.ok("bye"))
        default:
          answer(request.headers["Authorization"] == "Bearer new" ? .ok("right") : .status(401, body: "who?"))
        }
      }
      let renewing = APIClient(baseURL: server.url)
      accounts = try await CredentialStore(keeping: keeper(folder.appending(path: "accounts"))) { old, _ in
        let token = try await renewing.send(Renew(token: old.refreshToken ?? "none"))
        return AccountCredential(.bearer(token), refreshToken: old.refreshToken)
      }
      var configuration = ClientConfiguration(baseURL: server.url)
      configuration.credentials = accounts
      client = APIClient(configuration)
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    var file: URL { folder.appending(path: "accounts") }
    var kept: KeptAccounts { get throws { try FileCredentialKeeper(file: file).load() ?? KeptAccounts() } }

    /// The errors of the steps, nil for a step that succeeded.
    func play() async -> [(any Error)?] {
      var errors: [(any Error)?] = []
      func step(_ body: () async throws -> Void) async {
        do {
          try await body()
          errors.append(nil)
        } catch {
          errors.append(error)
        }
      }
      await step { try await accounts.login("bob", with: AccountCredential(.bearer("new"))) }
      await step { try await accounts.login("ada", with: AccountCredential(.bearer("old"), refreshToken: "r")) }
      await step { try await ask() }
      await step { _ = try await accounts.logout { _ = try await self.client.send(Get(path: "/farewell")) } }
      await step { try await accounts.use("bob") }
      await step { try await ask() }
      return errors
    }

    private func ask() async throws {
      let answer = try await client.send(Get())
      #expect(answer == "right")
    }

    /// The conditions that hold after every run.
    func check(_ turn: Int) async throws {
      let isQuiet = await eventually { client.running.isEmpty && client.admission == (0, 0) }
      #expect(isQuiet, "turn \(turn)")
      #expect(!accounts.accounts.contains("ada"), "turn \(turn)")
      let renewals = server.requests.filter { $0.path == "/token" }.count
      #expect(renewals <= 2, "turn \(turn)")
      try await accounts.login("eve", with: AccountCredential(.bearer("old"), refreshToken: "r"))
      #expect(try await client.send(Get()) == "right", "turn \(turn): the next session works")
      let kept = try kept
      #expect(kept.current == "eve" && Array(kept.credentials.keys).sorted() == accounts.accounts, "turn \(turn)")
      #expect(kept.credentials["eve"]?.credential == .bearer("new"), "turn \(turn)")
    }
  }

  @Test func `each file operation may fail`() async throws {
    var turn = 1
    while true {
      let turns = Turns(turn)
      let files = HookedFiles { _, _, _ in turns.pass() ? ENOSPC : nil }
      guard let session = try? await Session({ FileCredentialKeeper(file: $0, files: files) }, answer: { $0 }) else {
        #expect(turn == 1, "the saved accounts cannot be read, so no store exists")
        turn += 1
        continue
      }
      let errors = await session.play()
      #expect(errors[2] == nil && errors[5] == nil, "turn \(turn): calls are not affected")
      #expect(errors.count { $0 != nil } <= 1, "turn \(turn): one operation failed and is reported once")
      #expect(session.accounts.account == "bob" && files.openCount == 0)
      let isOver = turns.end()
      try await session.check(turn)
      if isOver { break }
      turn += 1
    }
    #expect(turn > 20)
  }

  @Test func `each exchange may fail`() async throws {
    var turn = 1
    while true {
      let turns = Turns(turn)
      let session = try await Session({ FileCredentialKeeper(file: $0) }) {
        turns.pass() ? .ok("never").reset(after: 2) : $0
      }
      let errors = await session.play()
      let isOver = turns.end()
      #expect(errors.count { $0 != nil } == (isOver ? 0 : 1), "turn \(turn)")
      #expect(errors.compactMap { $0 }.allSatisfy { ($0 as? APIError)?.stage != .cancelled })
      #expect(session.accounts.account == "bob", "turn \(turn)")
      try await session.check(turn)
      if isOver { break }
      turn += 1
    }
    #expect(turn == 6, "rejected, renewed, repeated, farewell, another account")
  }

  @Test func `each step may be cancelled`() async throws {
    var turn = 1
    while true {
      let turns = Turns(turn)
      let session = try await Session({ Keeper(file: FileCredentialKeeper(file: $0), turns: turns) }) { answer in
        turns.pass()
        return answer
      }
      let began = Latch()
      let playing = Task {
        try? await began.wait()
        return await session.play()
      }
      turns.at { playing.cancel() }
      began.open()
      let errors = await playing.value
      for error in errors.compactMap({ $0 }) {
        #expect(error is CancellationError || (error as? APIError)?.isCancelled == true, "turn \(turn): \(error)")
      }
      let isOver = turns.end()
      #expect(!isOver || errors.allSatisfy { $0 == nil })
      try await session.check(turn)
      if isOver { break }
      turn += 1
    }
    #expect(turn > 10)
  }
}
