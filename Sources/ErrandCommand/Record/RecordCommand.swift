import Errand
import ErrandRecord
import Foundation

/// Implements `errand record`, which shows the calls of a flight file or an HTTP archive.
@MainActor
enum RecordCommand {
  static func run(_ words: [String]) -> ExitCode {
    do {
      let options = try RecordOptions(words)
      return try run(options, RecordFile(options.file))
    } catch {
      return Terminal.reject(error, of: "record")
    }
  }

  private static func run(_ options: RecordOptions, _ file: RecordFile) throws(Refusal) -> ExitCode {
    let paint = Terminal.paint(for: .output)
    switch options.task {
    case .list: return show(.list(file.calls.map(\.masked), of: file, paint: paint), options)
    case .why(let id): return show(.why(try file.call(id), paint: paint), options)
    case .diff(let a, let b): return show(.diff(try file.call(a), try file.call(b), paint: paint), options)
    case .compare(let other):
      return show(.compare(file.archive.masked, try RecordFile(other).archive.masked, paint: paint), options)
    case .curl(let id): return Terminal.show(PlainText.visible(try file.curl(id)) + "\n")
    case .har: return write(file.archive.masked.serialized())
    case .page: return write(try file.page())
    }
  }

  /// Writes an archive or a page. Only the texts of their JSON can contain scalars that control a terminal.
  private static func write(_ data: Data) -> ExitCode {
    Terminal.show(PlainText.visibleJSON(String(decoding: data, as: UTF8.self), keepsLines: true))
  }

  private static func show(_ report: RecordReport, _ options: RecordOptions) -> ExitCode {
    if !options.isJSON { return Terminal.show(report.text) }
    // Serialising fails only for numbers that are not finite. The report contains none.
    let text = (try? report.json.serialized(pretty: true)) ?? Data()
    return Terminal.show(PlainText.visibleJSON(String(decoding: text, as: UTF8.self), keepsLines: true) + "\n")
  }
}

/// A flight file or an HTTP archive that was read.
struct RecordFile {
  let path: String
  /// The archive with its secrets, which must be masked before they are shown.
  let archive: HTTPArchive
  /// The calls of the archive with their secrets.
  let calls: [ArchivedCall]
  /// Whether the file contains calls of several runs, of which the numbers alone may mean several calls.
  let hasRuns: Bool

  init(_ path: String) throws(Refusal) {
    self.path = path
    do throws(HTTPArchiveError) {
      archive = try HTTPArchive(contentsOf: URL(filePath: path))
    } catch {
      let isMissing = error.code == .unreadable
      throw Refusal(
        description: isMissing ? "\(error)" : "“\(path)”: \(error)", code: isMissing ? .noStore : .data)
    }
    calls = archive.calls
    hasRuns = Set(calls.map(\.run)).count > 1
  }

  /// The call with an id, with masked secrets. The word `last` is the last call.
  func call(_ id: String) throws(Refusal) -> ArchivedCall {
    let found = id == "last" ? calls.suffix(1) : archive.calls(withID: id)[...]
    guard let call = found.last else {
      throw Refusal(
        description: "“\(path)” has no call “\(id)”; “errand record FILE list” prints the ids.", code: .notStored)
    }
    guard found.count == 1 else {
      let ids = found.suffix(3).map { "“\(TextLayout.shortened($0.id, to: RecordReport.longestID))”" }.joined(
        separator: ", ")
      throw Refusal(
        description: "“\(path)” has \(found.count) calls “\(id)” of different runs; name one of them: \(ids).",
        code: .notStored)
    }
    return call.masked
  }

  /// The calls as one web page, with masked secrets.
  func page() throws(Refusal) -> Data {
    do {
      return try FlightPage(archive: archive.masked.serialized()).html
    } catch {
      throw Refusal(description: "“\(path)”: \(error)", code: .data)
    }
  }

  /// The curl command of the last request of a call.
  func curl(_ id: String) throws(Refusal) -> String {
    if let command = try call(id).entries.last?.request.curlCommand { return command }
    throw Refusal(
      description: "Call “\(id)” of “\(path)” has no HTTP request that curl could send; “why” shows what it did.",
      code: .notStored)
  }
}
