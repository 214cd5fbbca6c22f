import ErrandJSON
import Foundation

/// Converts between entries of an HTTP archive and the lines of a flight file.
struct FlightLines {
  /// The first line of a flight file.
  static let header = Data("{\"format\":\"errand-flight\",\"version\":1}\n".utf8)
  /// The beginning of the first line in all versions of the format.
  private static let mark = Data("{\"format\":\"errand-flight\",".utf8)

  /// What a text is that is written in each entry, so that a file without its first line is recognized.
  private static let memberOfEntries = Data("\"_errand\":{".utf8)

  /// Whether the bytes of a file, or its first bytes, are those of a flight file. The first line may be damaged: cut off
  /// by a full disk, so that the next call follows it, or replaced by zero bytes by a power failure.
  static func isFlightFile(_ data: Data) -> Bool {
    if data.first == 0 { return data.range(of: memberOfEntries) != nil }
    let line = data.prefix { $0 != UInt8(ascii: "\n") }
    if line.count >= mark.count || line.count == data.count {
      return !line.isEmpty && line.prefix(mark.count) == mark.prefix(line.count)
    }
    // Otherwise, the first line of indented JSON would be a beginning of the mark.
    return !line.isEmpty && mark.starts(with: line) && data.dropFirst(line.count + 1).first == UInt8(ascii: "{")
  }

  /// Whether a file with these bytes has no calls: it is empty, or contains only a part of the first line, or zero bytes
  /// in its place.
  static func hasNoCalls(_ data: Data) -> Bool {
    data.count < header.count && header.starts(with: data) || data.allSatisfy { $0 == 0 }
  }

  /// The text that identifies the writer.
  let run: String
  /// The longest text of a call in bytes.
  let longest: Int

  /// The lines of a call, with a line feed before and after them, and whether a part of the call was left out. Nil if
  /// the call is too long even without its bodies and its first entries.
  func lines(_ entries: [JSONValue]) -> (Data, isShortened: Bool)? {
    let marked = entries.map(withRun)
    if let all = text(marked) { return (all, false) }
    guard let last = marked.last else { return nil }
    return (text([last]) ?? text([Self.withoutBodies(last)])).map { ($0, true) }
  }

  private func text(_ entries: [JSONValue]) -> Data? {
    var text = Data("\n".utf8)
    for entry in entries {
      guard let line = try? entry.serialized(), text.count + line.count < longest else { return nil }
      text += line
      text.append(UInt8(ascii: "\n"))
    }
    return text
  }

  private func withRun(_ entry: JSONValue) -> JSONValue {
    Self.changing("_errand", of: entry) { Self.adding("run", .string(run), to: $0) }
  }

  private static func withoutBodies(_ entry: JSONValue) -> JSONValue {
    let short = changing("request", of: entry) { removing("postData", from: $0) }
    return changing("response", of: short) { changing("content", of: $0) { removing("text", from: $0) } }
  }

  private static func changing(_ key: String, of value: JSONValue, _ change: (JSONValue) -> JSONValue) -> JSONValue {
    guard let member = value[key] else { return value }
    return adding(key, change(member), to: value)
  }

  private static func adding(_ key: String, _ member: JSONValue, to value: JSONValue) -> JSONValue {
    guard var members = value.objectValue else { return value }
    members[key] = member
    return .object(members)
  }

  private static func removing(_ key: String, from value: JSONValue) -> JSONValue {
    guard var members = value.objectValue else { return value }
    members[key] = nil
    return .object(members)
  }
}

extension FlightLines {
  /// The lines of a flight file.
  struct Content {
    /// The last entries.
    var entries: [HTTPArchive.Entry] = []
    /// The number of lines that are no entries.
    var unreadable = 0
    /// The number of entries before ``entries`` that were left out.
    var omitted = 0

    /// Leaves out the first entries, so that at most this many are left.
    mutating func keepLast(_ most: Int) {
      let excess = max(0, entries.count - most)
      entries.removeFirst(excess)
      omitted += excess
    }
  }

  /// Adds the lines in the bytes of a flight file to its content, of which the last entries are kept.
  static func read(
    _ data: Data, into content: inout Content, atMost most: Int = HTTPArchive.mostEntries
  ) throws(HTTPArchiveError) {
    for line in data.split(separator: UInt8(ascii: "\n")) {
      guard let value = try? JSONValue(parsing: Data(line)) else {
        content.unreadable += 1
        continue
      }
      if let version = value["version"], value["format"] != nil {
        guard version.intValue == 1 else {
          throw HTTPArchiveError(
            .wrongValue, at: "version",
            "The flight file has version \(version), but only version 1 is known. Use a newer version of Errand.")
        }
        continue
      }
      guard let entry = try? ArchiveMember(value).entry() else {
        content.unreadable += 1
        continue
      }
      content.entries.append(entry)
      // Removing many entries at once takes less time than removing one for each line.
      if content.entries.count >= 2 * most { content.keepLast(most) }
    }
    content.keepLast(most)
  }
}
