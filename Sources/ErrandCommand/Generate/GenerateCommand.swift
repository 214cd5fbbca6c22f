import ErrandCore
import ErrandGenerate
import ErrandRecord
import Foundation

/// Implements `errand generate`, which writes Swift code for the API that a document describes.
@MainActor
struct GenerateCommand {
  private let arguments: GenerateArguments
  private let document: URL
  private let folder: URL

  static func run(_ words: [String]) -> ExitCode {
    do {
      return GenerateCommand(try GenerateArguments(words)).run()
    } catch {
      return Terminal.reject(error, of: "generate")
    }
  }

  private init(_ arguments: GenerateArguments) {
    self.arguments = arguments
    document = URL(filePath: arguments.document)
    folder = URL(filePath: arguments.folder, directoryHint: .isDirectory)
  }

  private var source: String { document.lastPathComponent }

  private func run() -> ExitCode {
    do {
      let root = try RecordingReader.isRecording(source) ? draft() : Self.read(document, arguments.document)
      let result = try RequestGenerator.generate(root, source: source, options: arguments.options) { [document] path in
        try Self.read(document.deletingLastPathComponent().appending(path: path), path)
      }
      for note in result.notes {
        Terminal.write(PlainText.visible("\(source)\(note)") + "\n", to: .error)
      }
      return apply(result)
    } catch let error as FileProblem {
      Terminal.reportError("\(error).")
      return .notStored
    } catch let error as HTTPArchiveError where error.code == .unreadable {
      Terminal.reportError("\(error)")
      return .notStored
    } catch let error as DocumentError {
      Terminal.reportError("\(source), \(error)")
    } catch {
      Terminal.reportError("\(source): \(error)")
    }
    return .data
  }

  private func draft() throws -> DocumentNode {
    let archive = try HTTPArchive(contentsOf: document)
    let draft = try RecordingDraft(RecordingReader.exchanges(archive), host: arguments.host)
    if arguments.host == nil, !draft.otherHosts.isEmpty {
      let others = draft.otherHosts.prefix(5).joined(separator: ", ")
      let note = "\(source): the draft is for \(draft.host); choose another host with --host: \(others)"
      Terminal.write(PlainText.visible(note) + "\n", to: .error)
    }
    return draft.document
  }

  /// Reads YAML from a file with such an extension, and JSON from every other file. Messages contain `name`.
  nonisolated private static func read(_ file: URL, _ name: String) throws -> DocumentNode {
    let bytes: Data
    do { bytes = try Data(contentsOf: file) } catch { throw FileProblem(name, "cannot be read", error) }
    let isYAML = [".yaml", ".yml"].contains { name.lowercased().hasSuffix($0) }
    return isYAML ? try YAMLReader.read(Array(bytes)) : try JSONReader.read(Array(bytes))
  }

  private func apply(_ result: GenerateResult) -> ExitCode {
    let plan = FilePlan(result.files, existing: existing(), source: source)
    for path in plan.conflicts {
      Terminal.reportError("“\(path)” was not generated and is not replaced; move it, or use another folder.")
    }
    if arguments.isCheck { return check(plan) }
    guard plan.conflicts.isEmpty else { return .exists }
    do {
      try write(plan)
    } catch {
      Terminal.reportError("\(error).")
      return .disk
    }
    return Terminal.show(
      "\(result.requests) requests and \(result.models) models; \(plan.writes.count) files written, "
        + "\(plan.removals.count) removed, \(plan.unchanged) unchanged\n")
  }

  /// Lists the differences; returns the exit status.
  private func check(_ plan: FilePlan) -> ExitCode {
    let lines = plan.writes.map { "differs: \($0.path)" } + plan.removals.map { "not needed: \($0)" }
    guard !plan.isEmpty else { return Terminal.show("\(plan.unchanged) files are up to date\n") }
    if let code = Terminal.write(lines.map { PlainText.visible($0) + "\n" }.joined()) {
      return Terminal.reportWriteFailure(code)
    }
    return .other
  }

  /// Writes files before it removes others, so that a failed write removes only files whose names differ in case from a
  /// new file. Such a file is removed first if the path of the new file leads to a file already: a file system that
  /// ignores case has one file for both.
  private func write(_ plan: FilePlan) throws(FileProblem) {
    let present = plan.writes.map(\.path).filter { path in
      FileManager.default.fileExists(atPath: folder.appending(path: path).path)
    }
    let replaced = Set(present.map { $0.lowercased() })
    for path in plan.removals where replaced.contains(path.lowercased()) { try remove(path) }
    for file in plan.writes {
      let url = folder.appending(path: file.path)
      do {
        try FileManager.default.createDirectory(at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(file.text.utf8).write(to: url, options: .atomic)
      } catch {
        throw FileProblem(path(file.path), "cannot be written", error)
      }
    }
    for path in plan.removals where !replaced.contains(path.lowercased()) { try remove(path) }
  }

  private func remove(_ path: String) throws(FileProblem) {
    do {
      try FileManager.default.removeItem(at: folder.appending(path: path))
    } catch {
      throw FileProblem(self.path(path), "cannot be removed", error)
    }
  }

  /// The path of a file in the folder, as it is printed.
  private func path(_ name: String) -> String {
    arguments.folder.utf8.last == UInt8(ascii: "/") ? arguments.folder + name : "\(arguments.folder)/\(name)"
  }

  /// The Swift files in the folder, by their paths below it. A file that cannot be read as text counts as not generated.
  private func existing() -> [String: String] {
    var files: [String: String] = [:]
    for part in RequestGenerator.folders {
      let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.appending(path: part).path)) ?? []
      for name in names where name.hasSuffix(".swift") {
        let path = part.isEmpty ? name : "\(part)/\(name)"
        let bytes = try? Data(contentsOf: folder.appending(path: path))
        files[path] = bytes.flatMap { String(validating: $0, as: UTF8.self) } ?? ""
      }
    }
    return files
  }
}

private struct FileProblem: Error, CustomStringConvertible {
  /// A clause with the path and the system's reason.
  let description: String

  init(_ path: String, _ what: String, _ error: any Error) {
    description = "“\(path)” \(what): \(SystemReason.of(error))"
  }
}

/// Reads the exchanges of an HTTP archive or a flight file for a draft.
enum RecordingReader {
  /// Whether a file is a recording, by the end of its name.
  static func isRecording(_ name: String) -> Bool {
    [".har", ".flight"].contains { name.lowercased().hasSuffix($0) }
  }

  /// The exchanges of an archive that ended with a response.
  static func exchanges(_ archive: HTTPArchive) -> [RecordedExchange] { archive.entries.compactMap(exchange) }

  private static func exchange(_ entry: HTTPArchive.Entry) -> RecordedExchange? {
    guard let status = entry.response.status, let parts = URLComponents(string: entry.request.url),
      let scheme = parts.scheme?.lowercased(), ["http", "https"].contains(scheme), let host = parts.encodedHost
    else { return nil }
    let port = parts.port.map { ":\($0)" } ?? ""
    var exchange = RecordedExchange(
      method: entry.request.method.uppercased(), origin: "\(scheme)://\(host.lowercased())\(port)",
      path: parts.percentEncodedPath.isEmpty ? "/" : parts.percentEncodedPath, status: status)
    exchange.query = arguments(parts.percentEncodedQuery ?? "")
    exchange.fields = entry.request.headers.map { ($0.name.rawValue, $0.value) }
    exchange.body = body(entry.request)
    exchange.responseFields = Set(entry.response.headers.map { $0.name.rawValue.lowercased() })
    exchange.response = response(entry.response)
    return exchange
  }

  private static func body(_ request: HTTPArchive.Request) -> RecordedExchange.Content? {
    guard request.body?.isEmpty == false || (request.bodySize ?? 0) > 0 else { return nil }
    return RecordedExchange.Content(
      type: value("content-type", of: request.headers) ?? "", bytes: request.body.map { Array($0.utf8) },
      form: arguments(request.body ?? ""))
  }

  private static func response(_ response: HTTPArchive.Response) -> RecordedExchange.Content? {
    guard response.body?.isEmpty == false || (response.bodySize ?? 0) > 0 else { return nil }
    let type = response.mediaType.isEmpty ? value("content-type", of: response.headers) ?? "" : response.mediaType
    let bytes = response.body.flatMap { text in
      response.isBase64 ? Data(base64Encoded: text).map { Array($0) } : Array(text.utf8)
    }
    return RecordedExchange.Content(type: type, bytes: bytes)
  }

  /// The decoded arguments of a query or a form.
  private static func arguments(_ text: String) -> RecordedExchange.Arguments {
    text.split(separator: "&").compactMap { pair in
      let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        .map { $0.replacing("+", with: " ").removingPercentEncoding ?? "" }
      guard let name = parts.first, !name.isEmpty else { return nil }
      return (name, parts.count > 1 ? parts[1] : "")
    }
  }

  private static func value(_ name: String, of fields: [HTTPField]) -> String? {
    fields.first { $0.name.rawValue.lowercased() == name }?.value
  }
}
