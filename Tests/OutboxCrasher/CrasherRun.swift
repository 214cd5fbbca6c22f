import Errand
import ErrandCache
import ErrandOutbox
import ErrandSupport
import Foundation

/// An entry in the ledger: the server checks that each number of a lane arrives once and in order.
struct Book: OutboxRequest {
  let account: String
  let lane: String
  let number: Int
  var path: Path { "/book/\(account)/\(lane)/\(number)" }
  var method: HTTPMethod { .post }
  var outbox: OutboxRule { .lane(lane).attempts(100_000).expires(after: .never) }
  typealias Response = Nothing
}

/// The work of the process.
final class CrasherRun: Sendable {
  private let outbox: Outbox
  private let name: String
  private let account: String
  /// What this process has begun to add and has added, over all its runs. Each line is one system call, so a kill loses
  /// none that was written. A line that the limit of the file's size has cut off lacks the full stop at its end.
  private let journal: FileHandle
  private let next: Locked<[String: Int]>
  private let count: Int

  private static func variable(_ name: String) -> Int? { ProcessInfo.processInfo.environment[name].flatMap(Int.init) }

  init(folder: URL, url: String, name: String, account: String) async throws {
    let accounts = CredentialStore()
    try await accounts.login(account, with: AccountCredential(.bearer(account)))
    var client = ClientConfiguration(baseURL: url)
    client.credentials = accounts
    client.timeouts = Timeouts(total: .seconds(5))
    var configuration = OutboxConfiguration()
    configuration.firstDelay = .milliseconds(5)
    configuration.longestDelay = .milliseconds(50)
    configuration.pollInterval = .milliseconds(100)
    let wrong = Int64(Self.variable("CLOCK") ?? 0)
    configuration.clock = { WallTime.now.advanced(byMilliseconds: wrong) }
    configuration.onPoint = Self.killer()
    self.name = name
    self.account = account
    count = Self.variable("COUNT") ?? 12
    let file = folder.deletingLastPathComponent().appending(path: "\(name).journal")
    next = Locked(Self.numbers(in: file, account))
    if !FileManager.default.fileExists(atPath: file.path) { try Data().write(to: file) }
    journal = try FileHandle(forWritingTo: file)
    if try journal.seekToEnd() > 0 { try journal.write(contentsOf: Data("\n".utf8)) }
    if let limit = Self.variable("FILE_LIMIT") {
      signal(SIGXFSZ, SIG_IGN)
      var limits = rlimit(rlim_cur: rlim_t(limit), rlim_max: .max)
      getrlimit(Self.fileSize, &limits)
      limits.rlim_cur = rlim_t(limit)
      setrlimit(Self.fileSize, &limits)
    }
    outbox = try Outbox(
      folder: folder, client: APIClient(client), requests: [Book.self], configuration: configuration)
  }

  #if canImport(Darwin)
    private static let fileSize = RLIMIT_FSIZE
  #else
    private static let fileSize = __rlimit_resource_t(RLIMIT_FSIZE.rawValue)
  #endif

  /// Ends the process when it reaches a point for the given time.
  private static func killer() -> (@Sendable (OutboxPoint) -> Void)? {
    guard let point = ProcessInfo.processInfo.environment["KILL_AT"].flatMap(OutboxPoint.init) else { return nil }
    let left = Locked(variable("KILL_NUMBER") ?? 1)
    return { reached in
      guard reached == point else { return }
      let isLast = left.withLock { left in
        left -= 1
        return left == 0
      }
      if isLast { kill(getpid(), SIGKILL) }
    }
  }

  /// The next number of each lane. A number whose addition had begun is never used again.
  private static func numbers(in file: URL, _ account: String) -> [String: Int] {
    var numbers: [String: Int] = [:]
    for line in (try? String(contentsOf: file, encoding: .utf8))?.split(separator: "\n") ?? [] {
      let words = line.split(separator: " ")
      guard words.count == 5, words[0] == "adding", words[1] == account, let number = Int(words[3]) else { continue }
      numbers[String(words[2])] = max(numbers[String(words[2])] ?? 0, number + 1)
    }
    return numbers
  }

  private func note(_ text: String) throws { try journal.write(contentsOf: Data((text + " .\n").utf8)) }

  /// Adds entries, then sends until the process is killed.
  func work() async throws {
    for index in 0..<count {
      let lane = "\(name)-\(index % 3)"
      let number = next.withLock { next in
        defer { next[lane, default: 0] += 1 }
        return next[lane] ?? 0
      }
      try note("adding \(account) \(lane) \(number)")
      do {
        let receipt = try await outbox.add(Book(account: account, lane: lane, number: number))
        try note("added \(account) \(lane) \(number) \(receipt.id)")
      } catch let error as OutboxError {
        try note("refused \(account) \(lane) \(number) \(error.code)")
      }
    }
    guard ProcessInfo.processInfo.environment["KILL_AT"] != nil else {
      for await _ in outbox.changes {}
      return
    }
    // The point was not reached often enough.
    while try await outbox.prepareLogout(of: account, .sendFirst(within: .seconds(1))) > 0 {}
    exit(3)
  }

  /// Sends until no entry of the account waits.
  func drain() async throws {
    while try await outbox.prepareLogout(of: account, .sendFirst(within: .seconds(1))) > 0 {}
    for entry in try await outbox.deadLetters(limit: 100_000) {
      print("dead \(entry.id) \(entry.state.rawValue) \(entry.reason?.code.rawValue ?? "none")")
    }
    await outbox.close()
    print("drained")
  }
}
