@testable import ErrandGenerate
import ErrandJSON
@testable import ErrandRecord
import Foundation

/// Files that other programs wrote: HTTP archives, flight files and documents for generated clients.
enum ArchiveTargets {
  static func archive(_ input: FuzzInput) {
    do throws(HTTPArchiveError) {
      checkArchive(try HTTPArchive(parsing: input.data))
    } catch {
      let isNamed = error.code == .notJSON || error.path?.isEmpty == false || error.path == "" && !input.bytes.isEmpty
      check(isNamed && !error.description.isEmpty, "a failure names its member")
    }
  }

  private static func checkArchive(_ archive: HTTPArchive) {
    let written = archive.serialized()
    guard let again = try? HTTPArchive(parsing: written) else { fatalError("property: an archive is read again") }
    check(again.entries.count == archive.entries.count, "no entry is lost")
    check(again.serialized() == written, "an archive stays the same")
    let masked = archive.masked
    check(masked.masked == masked, "masking twice is masking once")
    check(archive.calls.reduce(0) { $0 + $1.entries.count } == archive.entries.count, "each entry belongs to a call")
    for call in archive.calls {
      check(archive.calls(withID: call.id).contains(call), "a call is found by its id")
      check(call.masked.entries.count == call.entries.count, "a masked call has all its entries")
    }
    for entry in archive.entries {
      if let command = entry.request.curlCommand { check(command.hasPrefix("curl "), "a command calls curl") }
    }
  }

  /// The input as the lines of a flight file, of which the last ones are kept.
  static func flightFile(_ input: FuzzInput) {
    guard let (choice, rest) = input.choice else { return }
    var content = FlightLines.Content()
    let most = Int(choice % 4) + 1
    do throws(HTTPArchiveError) {
      try FlightLines.read(rest.data, into: &content, atMost: most)
    } catch {
      return check(error.path == "version", "only a newer version is refused")
    }
    let lines = rest.bytes.split(separator: UInt8(ascii: "\n")).count
    check(content.entries.count <= most, "only the last entries are kept")
    check(content.entries.count + content.omitted + content.unreadable <= lines, "a line is at most one entry")
    checkArchive(HTTPArchive(entries: content.entries))
    guard let (written, _) = FlightLines(run: "a", longest: 1 << 20).lines(content.entries.map(\.json)) else { return }
    var again = FlightLines.Content()
    try? FlightLines.read(written, into: &again)
    check(again.entries.count <= content.entries.count && again.unreadable == 0, "what was written can be read")
  }

  /// The input as JSON and as YAML.
  static func document(_ input: FuzzInput) {
    let bytes = Array(input.bytes)
    let lines = 1 + bytes.count { $0 == 0x0A || $0 == 0x0D }
    checkDocument(Result { () throws(DocumentError) in try JSONReader.read(bytes) }, lines, bytes.count)
    checkDocument(Result { () throws(DocumentError) in try YAMLReader.read(bytes) }, lines, bytes.count)
    if let node = try? JSONReader.read(bytes), let value = try? JSONValue(parsing: input.data) {
      check(isSame(node, value), "both parsers of JSON read the same")
    }
  }

  private static func checkDocument(_ result: Result<DocumentNode, DocumentError>, _ lines: Int, _ count: Int) {
    switch result {
    case .success(let node): checkPlaces(node, lines, count)
    case .failure(let error):
      check((1...lines).contains(error.line) && (1...count + 1).contains(error.column), "a failure has a place")
    }
  }

  private static func checkPlaces(_ node: DocumentNode, _ lines: Int, _ columns: Int) {
    // Aliases repeat values, so that a short text may have very many.
    var left = 10_000
    func visit(_ node: DocumentNode) {
      left -= 1
      guard left > 0 else { return }
      check((1...lines).contains(node.line) && (1...columns + 1).contains(node.column), "a value has a place")
      for element in node.elements ?? [] { visit(element) }
      for (name, value) in node.members?.entries ?? [] {
        check(node[name] != nil, "a member is found by its name")
        visit(value)
      }
    }
    visit(node)
  }

  private static func isSame(_ node: DocumentNode, _ value: JSONValue) -> Bool {
    switch node.content {
    case .null: value.isNull
    case .bool(let bool): value.boolValue == bool
    case .number: value.doubleValue != nil
    case .string(let text): value.stringValue.map { Array($0.utf8) == Array(text.utf8) } == true
    case .array(let nodes):
      value.arrayValue.map { $0.count == nodes.count && zip(nodes, $0).allSatisfy(isSame) } == true
    case .object(let members): value.objectValue.map { $0.count <= members.entries.count } == true
    }
  }
}
