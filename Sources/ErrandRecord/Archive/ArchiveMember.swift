import ErrandCore
import ErrandJSON
import Foundation

/// A member of an HTTP archive that is being read, with its path.
struct ArchiveMember {
  /// The largest number of elements of a list in an entry: header fields, form parameters, decisions.
  static let mostElements = 10_000

  let value: JSONValue
  let path: String

  init(_ value: JSONValue, path: String = "") { (self.value, self.path) = (value, path) }

  /// The member with a key; nil if it is missing or null.
  func optional(_ key: String) -> ArchiveMember? {
    guard let member = value[key], !member.isNull else { return nil }
    return ArchiveMember(member, path: path.isEmpty ? key : "\(path).\(key)")
  }

  /// The member with a key. Throws if it is missing or null.
  func member(_ key: String) throws(HTTPArchiveError) -> ArchiveMember {
    if let member = optional(key) { return member }
    let here = path.isEmpty ? key : "\(path).\(key)"
    guard case .object = value.content else { throw mismatch("an object") }
    throw HTTPArchiveError(
      .missing, at: here, "\(here) is missing. HAR 1.2 requires it: add it, or export the archive again.")
  }

  func string() throws(HTTPArchiveError) -> String {
    guard let text = value.stringValue else { throw mismatch("a string") }
    return text
  }

  func string(_ key: String) throws(HTTPArchiveError) -> String { try member(key).string() }

  func optionalString(_ key: String) throws(HTTPArchiveError) -> String? { try optional(key)?.string() }

  func integer() throws(HTTPArchiveError) -> Int {
    guard value.doubleValue != nil else { throw mismatch("a number") }
    guard let number = value.intValue else { throw wrong("is not an integer") }
    return number
  }

  /// A duration in milliseconds.
  func milliseconds() throws(HTTPArchiveError) -> Duration {
    guard let number = value.doubleValue else { throw mismatch("a number of milliseconds") }
    // Longer durations would overflow.
    return .milliseconds(min(max(number, -1e12), 1e12))
  }

  /// A duration in milliseconds; nil if it is missing or negative, which means that it was not measured.
  func phase(_ key: String) throws(HTTPArchiveError) -> Duration? {
    guard let time = try optional(key)?.milliseconds(), time >= .zero else { return nil }
    return time
  }

  /// A number of bytes; nil if it is missing or negative, which means that it is unknown.
  func size(_ key: String) throws(HTTPArchiveError) -> Int? {
    guard let size = try optional(key)?.integer(), size >= 0 else { return nil }
    return size
  }

  /// A point in time in the format of ISO 8601.
  func date() throws(HTTPArchiveError) -> Date {
    let text = try string()
    for hasFraction in [true, false] {
      let style = Date.ISO8601FormatStyle(includingFractionalSeconds: hasFraction)
      if let date = try? Date(text, strategy: style) { return date }
    }
    throw wrong("is not a time in the format 2026-01-31T12:00:00.000Z")
  }

  func elements(atMost most: Int) throws(HTTPArchiveError) -> [ArchiveMember] {
    guard let values = value.arrayValue else { throw mismatch("a list") }
    guard values.count <= most else {
      throw HTTPArchiveError(
        .tooLarge, at: path, "\(path) has \(values.count) elements, but at most \(most) are read. Export fewer.")
    }
    return values.enumerated().map { ArchiveMember($1, path: "\(path)[\($0)]") }
  }

  /// The header fields of a message. Those whose names suggest a secret are secret.
  func headers(_ key: String) throws(HTTPArchiveError) -> [HTTPField] {
    var fields: [HTTPField] = []
    for pair in try member(key).elements(atMost: Self.mostElements) {
      let name = HTTPFieldName(try pair.string("name"))
      fields.append(HTTPField(name, try pair.string("value"), isSecret: SecretName.isSecret(name)))
    }
    return fields
  }

  func wrong(_ problem: String) -> HTTPArchiveError {
    HTTPArchiveError(.wrongValue, at: path, "\(path) \(problem). Correct it, or export the archive again.")
  }

  private func mismatch(_ expected: String) -> HTTPArchiveError {
    let name = path.isEmpty ? "The archive" : path
    return HTTPArchiveError(
      .wrongType, at: path, "\(name) is \(value.typeName), not \(expected). Correct it, or export the archive again.")
  }
}
