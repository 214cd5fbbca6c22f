import Errand
import ErrandCache
import Foundation

/// Looks into the folder of a store, and removes from it.
@MainActor
struct CacheCommand {
  private let folder: CacheFolder
  private let store: SQLiteStore
  private let paint = Terminal.paint(for: .output)

  /// Reads the words, does what they ask for, and says how it went.
  static func run(_ words: [String]) async -> ExitCode {
    do {
      let options = try CacheParser.parse(words)
      return await CacheCommand(try CacheFolder.existing(options.folder)).run(options.task)
    } catch let refusal as CacheFolder.Refusal {
      Terminal.complain(refusal.description)
      return refusal.code
    } catch {
      Terminal.complain("\(error)")
      Terminal.write("“errand cache --help” teaches.\n", to: .error)
      return .usage
    }
  }

  /// The limit is out of reach: to look into a store and to remove from it must not make anything else go.
  private init(_ folder: CacheFolder) {
    self.folder = folder
    store = SQLiteStore(folder: folder.url, limit: .max / 2)
  }

  private func run(_ task: CacheOptions.Task) async -> ExitCode {
    switch task {
    case .list: await list()
    case .show(let options): await show(options)
    case .stats: await stats()
    case .clear(let choice): await clear(choice)
    }
  }

  // MARK: - List and statistics

  private func list() async -> ExitCode {
    guard let listings = await store.readableList() else { return unreadable() }
    return Terminal.show(
      listings.isEmpty ? "“\(folder.path)” is empty.\n" : EntryTable(paint: paint, now: .now).text(listings))
  }

  private func stats() async -> ExitCode {
    guard let listings = await store.readableList() else { return unreadable() }
    let size = await store.size()
    return Terminal.show(StoreSummary(listings: listings, bytesOnDisk: Int64(size.bytes), now: .now).text(paint))
  }

  /// What lies in it is not known, so that “empty” would be a lie.
  private func unreadable() -> ExitCode {
    Terminal.complain("“\(folder.path)” cannot be read now; is it in use by another process? Try again later.")
    return .busy
  }

  // MARK: - Show

  private func show(_ options: SendOptions) async -> ExitCode {
    let lookup = StoredLookup(store)
    var configuration = ClientConfiguration(baseURL: "")
    configuration.cache = .off
    configuration.interceptors = [lookup]
    let outcome = await APIClient(configuration).outcome(of: ShellRequest(options: options))
    if let error = outcome.error {
      Terminal.complain(error.message)
      return ExitCode(error)
    }
    guard !lookup.found.answers.isEmpty, let url = outcome.response?.url else {
      if await store.readableList() == nil { return unreadable() }
      return nothing(options, isElsewhere: lookup.found.isElsewhere)
    }
    for (index, answer) in lookup.found.answers.enumerated() {
      if index > 0 { Terminal.write("\n") }
      if let lost = show(answer, of: url) { return Terminal.lost(lost) }
    }
    return .success
  }

  /// Returns the system's error number where the body cannot be written.
  private func show(_ answer: StoredAnswers.Answer, of url: HTTPURL) -> Int32? {
    let head = answer.listing.head
    Terminal.write(Terminal.paint(for: .error)(.dim, Wording.facts(of: answer.listing, at: .now)) + "\n", to: .error)
    Terminal.write(Talk(paint: paint) { _ in }.head(HTTPResponse(head: head.answer, url: url)) + "\n")
    return BodyPrinter.write(answer.body, of: HTTPResponse(head: head.answer, body: answer.body, url: url))
  }

  private func nothing(_ options: SendOptions, isElsewhere: Bool) -> ExitCode {
    let cure =
      isElsewhere
      ? "somebody else's answer is; give the credential that it was asked for with."
      : "“errand cache list” shows what is."
    let url = PlainText.visible(Secrets.maskedTarget(options.url))
    Terminal.complain("Nothing is stored for \(options.sentMethod) \(url); \(cure)")
    return .notStored
  }

  // MARK: - Clear

  private func clear(_ choice: CacheOptions.Choice) async -> ExitCode {
    let selection = choice.selection(now: .now)
    guard let before = await store.readableList() else { return unreadable() }
    store.remove(selection)
    await store.flush()
    guard let after = await store.readableList() else { return unreadable() }
    // So that nothing of it is left in the index's log either.
    await store.close()
    let meant = before.count { selection.picks($0.key, $0.head) }
    let left = after.count { selection.picks($0.key, $0.head) }
    guard left == 0 || left < meant else {
      Terminal.complain("Nothing could be removed from “\(folder.path)”; is the disk full or the store in use?")
      return .other
    }
    return Terminal.show("\(Wording.entries(meant - left)) removed, \(after.count) left\n")
  }
}

/// How much is in a store.
struct StoreSummary {
  let listings: [CacheListing]
  let bytesOnDisk: Int64
  let now: WallTime

  /// A line for each figure.
  func text(_ paint: Paint) -> String {
    lines.map { name, value in
      paint(.dim, name) + String(repeating: " ", count: max(1, 9 - name.count)) + value + "\n"
    }.joined()
  }

  private var lines: [(name: String, value: String)] {
    let fresh = listings.count { $0.state(at: now).isFresh }
    let bodies = listings.reduce(Int64(0)) { $0.addingReportingOverflow(Int64($1.bodyLength)).partialValue }
    let limit = Wording.bytes(Int64(SendCache.limit))
    return [
      ("entries", "\(listings.count): \(fresh) fresh, \(listings.count - fresh) not"),
      ("bodies", Wording.bytes(bodies)),
      ("on disk", "\(Wording.bytes(bytesOnDisk)), with the index"),
      ("limit", "\(limit) where “errand send” fills it; a program sets its own"),
    ] + hosts.enumerated().map { ($0 == 0 ? "hosts" : "", "\($1.name): \(Wording.entries($1.count))") }
  }

  /// The hosts, those with most answers first.
  private var hosts: [(name: String, count: Int)] {
    let counts = Dictionary(grouping: listings) { $0.head.label.host }.mapValues(\.count)
    return counts.sorted { ($1.value, $0.key) < ($0.value, $1.key) }
      .map { (PlainText.visible($0.key), $0.value) }
  }
}
