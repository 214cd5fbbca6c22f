import Errand
import ErrandCache
import ErrandSupport
import Foundation

/// Implements `errand cache`, which inspects a cache folder or removes entries from it.
@MainActor
struct CacheCommand {
  private let folder: CacheFolder
  private let store: SQLiteStore
  private let paint = Terminal.paint(for: .output)

  static func run(_ words: [String]) async -> ExitCode {
    do {
      let options = try CacheParser.parse(words)
      return await CacheCommand(try CacheFolder.existing(options.folder)).run(options.task)
    } catch {
      return Terminal.reject(error, of: "cache")
    }
  }

  /// Opens the store with a size limit that no store can reach. With a lower size limit, the store could evict entries
  /// that the user wants to keep.
  private init(_ folder: CacheFolder) {
    self.folder = folder
    store = SQLiteStore(folder: folder.url, limit: .max / 2)
  }

  private func run(_ task: CacheOptions.Task) async -> ExitCode {
    switch task {
    case .list: await list()
    case .show(let options): await show(options)
    case .stats: await stats()
    case .clear(let selection): await clear(selection)
    }
  }

  // MARK: - List and statistics

  private func list() async -> ExitCode {
    guard let listings = await store.readableList() else { return unreadable() }
    return Terminal.show(
      listings.isEmpty
        ? "“\(PlainText.visible(folder.path))” is empty.\n" : EntryTable(paint: paint, now: .now).text(listings))
  }

  private func stats() async -> ExitCode {
    guard let listings = await store.readableList() else { return unreadable() }
    let size = await store.size()
    return Terminal.show(StoreSummary(listings: listings, bytesOnDisk: Int64(size.bytes), now: .now).text(paint))
  }

  /// Reports a store that cannot be read. Its contents are unknown, so it must not be reported as empty.
  private func unreadable() -> ExitCode {
    Terminal.reportError(
      "“\(folder.path)” cannot be read now. Another process may be using the store; try again later.")
    return .busy
  }

  // MARK: - Show

  private func show(_ options: SendOptions) async -> ExitCode {
    let lookup = StoredLookup(store)
    var configuration = ClientConfiguration(baseURL: "")
    configuration.cache.store = .off
    configuration.interceptors.calls = [lookup]
    let outcome = await APIClient(configuration).outcome(of: ShellRequest(options: options))
    if let error = outcome.error {
      Terminal.reportError(error.message)
      return ExitCode(error)
    }
    let responses = Self.chosen(lookup.found.responses, options)
    guard !responses.isEmpty, let url = outcome.response?.url else {
      if await store.readableList() == nil { return unreadable() }
      return nothing(options, isElsewhere: lookup.found.isElsewhere)
    }
    for (index, answer) in responses.enumerated() {
      if index > 0 { Terminal.write("\n") }
      if let code = show(answer, of: url) { return Terminal.reportWriteFailure(code) }
    }
    return .success
  }

  /// The responses to show. The store finds responses to all methods for a GET request. They are meant only if the user
  /// gave nothing except a URL.
  private static func chosen(
    _ responses: [StoredResponses.Response], _ options: SendOptions
  ) -> [StoredResponses.Response] {
    let isPlainURL = options.method == nil && options.items.isEmpty
    if isPlainURL || options.sentMethod != .get { return responses }
    return responses.filter { $0.listing.head.label.method == HTTPMethod.get.rawValue }
  }

  /// Prints a stored response. Returns nil, or the system's error number if it cannot be written.
  private func show(_ answer: StoredResponses.Response, of url: HTTPURL) -> Int32? {
    let head = answer.listing.head
    Terminal.write(Terminal.paint(for: .error)(.dim, Wording.facts(of: answer.listing, at: .now)) + "\n", to: .error)
    if let code = Terminal.write(ExchangePrinter.lines(of: head.answer, paint) + "\n") { return code }
    return BodyPrinter.write(answer.body, of: HTTPResponse(head: head.answer, body: answer.body, url: url))
  }

  private func nothing(_ options: SendOptions, isElsewhere: Bool) -> ExitCode {
    let cure =
      isElsewhere
      ? "another account has a stored response; give the credential of that account."
      : "“errand cache list” shows what is stored."
    let url = PlainText.visible(Secrets.maskedTarget(options.url))
    Terminal.reportError("Nothing is stored for \(options.sentMethod) \(url); \(cure)")
    return .notStored
  }

  // MARK: - Clear

  private func clear(_ selection: CacheSelection) async -> ExitCode {
    guard let before = await store.readableList() else { return unreadable() }
    store.remove(selection)
    await store.flush()
    guard let after = await store.readableList() else { return unreadable() }
    // Removed entries are still in the write-ahead log of the index. Closing the store removes them from the log, too.
    await store.close()
    let meant = before.count { selection.picks($0.key, $0.head) }
    let left = after.count { selection.picks($0.key, $0.head) }
    guard left == 0 || left < meant else {
      Terminal.reportError(
        "Nothing could be removed from “\(folder.path)”. Check whether the disk is full or the store is in use.")
      return .other
    }
    return Terminal.show("\(Wording.entries(meant - left)) removed, \(after.count) left\n")
  }
}

struct StoreSummary {
  let listings: [CacheListing]
  let bytesOnDisk: Int64
  let now: WallTime

  func text(_ paint: Paint) -> String { TextTable(paint: paint).facts(lines) }

  private var lines: [(name: String, value: String)] {
    let fresh = listings.count { $0.state(at: now).isFresh }
    let bodies = listings.reduce(Int64(0)) { $0.addingReportingOverflow(Int64($1.bodyLength)).partialValue }
    let limit = Wording.bytes(Int64(SendCache.limit))
    return [
      ("entries", "\(listings.count): \(fresh) fresh, \(listings.count - fresh) not"),
      ("bodies", Wording.bytes(bodies)),
      ("on disk", "\(Wording.bytes(bytesOnDisk)), with the index"),
      ("limit", "\(limit) for “errand send”; a program sets its own"),
    ] + hosts.enumerated().map { ($0 == 0 ? "hosts" : "", "\($1.name): \(Wording.entries($1.count))") }
  }

  /// The hosts with their numbers of responses. The host with the most responses is first.
  private var hosts: [(name: String, count: Int)] {
    let counts = Dictionary(grouping: listings) { $0.head.label.host }.mapValues(\.count)
    return counts.sorted { ($1.value, $0.key) < ($0.value, $1.key) }
      .map { (PlainText.visible($0.key), $0.value) }
  }
}

/// An interceptor that looks up the stored responses to a request, and sends nothing. The client has built the request
/// in the same way as for sending, so the store finds the responses that this request would get.
final class StoredLookup: Interceptor {
  private let store: any CacheStore
  private let noted = Locked(StoredResponses())

  init(_ store: any CacheStore) { self.store = store }

  var found: StoredResponses { noted.withLock { $0 } }

  func intercept(_ request: HTTPRequest, context: CallContext, next: Next) async throws -> HTTPResponse {
    let found = await store.responses(to: request, in: context)
    noted.withLock { $0 = found }
    return HTTPResponse(head: ResponseHead(status: 204), url: request.url)
  }
}

struct EntryTable {
  let paint: Paint
  let now: WallTime

  func text(_ listings: [CacheListing]) -> String {
    let hasTags = listings.contains { $0.head.label.tag != nil }
    let heading = ["age", "state", "size", "status", "method", "url"] + (hasTags ? ["tag"] : [])
    return TextTable(paint: paint).text(
      [heading.map { ($0, .dim) }]
        + listings.map { Array(zip(row($0), styles($0))) })
  }

  private func row(_ listing: CacheListing) -> [String] {
    let head = listing.head
    let cells = [
      Wording.age(of: listing, at: now), Wording.state(listing.state(at: now)),
      Wording.bytes(Int64(listing.bodyLength)), String(head.answer.status), PlainText.visible(head.label.method),
      PlainText.visible(head.label.url),
    ]
    return cells + (head.label.tag.map { [PlainText.visible($0)] } ?? [])
  }

  private func styles(_ listing: CacheListing) -> [Paint.Style?] {
    [.none, listing.state(at: now).isFresh ? .green : .yellow, .none, .none, .none, .bold, .none]
  }
}
