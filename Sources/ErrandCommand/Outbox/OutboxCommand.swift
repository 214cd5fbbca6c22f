import Errand
import ErrandCache
import ErrandOutbox
import Foundation

/// Implements `errand outbox`, which lists the entries of an outbox and decides about those that need a decision.
@MainActor
struct OutboxCommand {
  private let files: OutboxFiles
  private let folder: String
  private let paint = Terminal.paint(for: .output)

  static func run(_ words: [String]) -> ExitCode {
    do {
      let options = try OutboxOptions(words)
      return try OutboxCommand(options.folder).run(options.task)
    } catch let error as OutboxError {
      Terminal.reportError(error.message)
      return ExitCode(error)
    } catch {
      return Terminal.reject(error, of: "outbox")
    }
  }

  private init(_ folder: String) throws(OutboxError) {
    self.folder = folder
    files = try OutboxFiles(URL(filePath: folder, directoryHint: .isDirectory))
  }

  private func run(_ task: OutboxOptions.Task) throws(OutboxError) -> ExitCode {
    switch task {
    case .list(let states): return try list(states)
    case .show(let id): return try show(id)
    case .resend(let ids): return decide(ids, "will be sent again", files.resend)
    case .discard(let ids): return decide(ids, "discarded", files.discard)
    }
  }

  /// Applies a decision to the entries until it is refused for one of them. Prints how many entries have changed.
  private func decide(
    _ ids: [OutboxEntry.ID], _ result: String, _ apply: (OutboxEntry.ID) throws(OutboxError) -> Void
  ) -> ExitCode {
    for (index, id) in ids.enumerated() {
      do throws(OutboxError) {
        try apply(id)
      } catch {
        Terminal.reportError(Self.sentence(for: error, at: index, of: ids, result))
        return ExitCode(error)
      }
    }
    return Terminal.show("\(Wording.entries(ids.count)) \(result)\n")
  }

  /// The message if a decision was refused for one of the entries. It says what was done before.
  static func sentence(
    for error: OutboxError, at index: Int, of ids: [OutboxEntry.ID], _ result: String
  ) -> String {
    if ids.count == 1 { return error.message }
    let rest =
      index < ids.count - 1 ? "entry \(ids[index]) and the entries named after it are" : "entry \(ids[index]) is"
    return "\(error.message) \(Wording.entries(index)) \(result); \(rest) unchanged."
  }

  private func list(_ states: [OutboxState]) throws(OutboxError) -> ExitCode {
    let entries = try files.entries(in: states, after: nil, limit: .max)
    if entries.isEmpty { return Terminal.show("“\(PlainText.visible(folder))” has no such entries.\n") }
    return Terminal.show(OutboxTable(paint: paint, now: files.now).text(entries))
  }

  /// Prints the stored request to standard output, and the facts of the entry to standard error.
  private func show(_ id: OutboxEntry.ID) throws(OutboxError) -> ExitCode {
    let (entry, json) = try files.entry(id)
    Terminal.write(OutboxTable(paint: Terminal.paint(for: .error), now: files.now).details(of: entry), to: .error)
    guard let json else {
      if entry.isSealed, entry.reason?.code != .damaged {
        Terminal.reportError("The stored request is sealed with a key of the app.")
        return .success
      }
      Terminal.reportError("The stored request is damaged: it cannot be read.")
      return .data
    }
    guard let text = String(validating: json, as: UTF8.self) else {
      Terminal.reportError("The stored request is damaged: it is not text.")
      return .data
    }
    return text.isEmpty ? .success : Terminal.show(JSONPrinter.pretty(text, paint: paint) + "\n")
  }
}

struct OutboxTable {
  let paint: Paint
  let now: WallTime

  func text(_ entries: [OutboxEntry]) -> String {
    let heading = ["id", "state", "age", "tries", "lane", "request", "account", "reason"]
    return TextTable(paint: paint).text([heading.map { ($0, .dim) }] + entries.map(row))
  }

  private func row(_ entry: OutboxEntry) -> [(text: String, style: Paint.Style?)] {
    [
      ("\(entry.id)", .bold), (entry.state.rawValue, style(of: entry.state)), (age(of: entry), nil),
      ("\(entry.attempts)", nil), (PlainText.visible(entry.lane), nil),
      (entry.type.isEmpty ? "?" : PlainText.visible(entry.type), nil),
      (PlainText.visible(entry.account ?? "none"), nil), (reason(of: entry), nil),
    ]
  }

  func details(of entry: OutboxEntry) -> String {
    var lines = [
      ("entry", "\(entry.id)"), ("state", entry.state.rawValue), ("request", "\(entry.type), version \(entry.version)"),
      ("account", entry.account ?? "none"), ("lane", entry.lane), ("age", age(of: entry)),
      ("tries", "\(entry.attempts)"), ("key", entry.key),
    ]
    if entry.mayHaveBeenSent { lines.append(("fate", "the server may have carried it out")) }
    if let reason = entry.reason { lines.append(("reason", reason.description)) }
    return TextTable(paint: paint).facts(lines.map { ($0, PlainText.visible($1)) })
  }

  private func age(of entry: OutboxEntry) -> String {
    // The facts of a damaged entry may be lost.
    if entry.added.milliseconds == 0 { return "?" }
    return Wording.span(seconds: max(0, entry.added.milliseconds(to: now)) / 1_000)
  }

  private func reason(of entry: OutboxEntry) -> String {
    guard let reason = entry.reason else { return "" }
    return PlainText.visible(reason.code.rawValue) + (reason.status.map { " \($0)" } ?? "")
  }

  private func style(of state: OutboxState) -> Paint.Style? {
    switch state {
    case .delivered: .green
    case .rejected, .parked, .unknown, .expired: .red
    case .queued, .sending: .yellow
    case .cancelled: .dim
    }
  }
}

extension ExitCode {
  init(_ error: OutboxError) {
    self =
      switch error.code {
      case .folder, .damaged, .version: .noStore
      case .noEntry: .notStored
      case .busy: .busy
      default: .other
      }
  }
}
