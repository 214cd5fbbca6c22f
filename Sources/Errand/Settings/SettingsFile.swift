import ErrandHTTP
import Foundation

/// Reads files with lines of the form `NAME=value`, see ``SettingsSource/file(_:prefix:)``.
enum SettingsFile {
  /// The maximum length of a file in bytes.
  static var limit: Int { 64 << 10 }

  static func bytes(of path: String) throws(SettingsError) -> Data {
    do {
      let file = try FileHandle(forReadingFrom: URL(fileURLWithPath: path))
      defer { try? file.close() }
      return try file.read(upToCount: limit + 1) ?? Data()
    } catch {
      let reason = Redaction.visible(error.localizedDescription)
      throw SettingsError(
        faults: ["The file \(Redaction.visible(path)) cannot be read: \(reason) Check its path and its permissions."])
    }
  }

  /// The settings of a file by name. Messages contain no values, because a line may contain a secret.
  static func parse(_ data: Data, name file: String) throws(SettingsError) -> [String: SettingsSource.Found] {
    let file = Redaction.visible(file)
    guard data.count <= limit else {
      throw SettingsError(faults: ["\(file) is longer than \(limit) bytes; keep only settings in this file."])
    }
    guard let text = String(validating: data, as: UTF8.self) else {
      throw SettingsError(faults: ["\(file) is not in UTF-8; convert it to UTF-8."])
    }
    var found: [String: SettingsSource.Found] = [:]
    var faults: [String] = []
    for (index, line) in text.utf8.split(separator: 0x0A, omittingEmptySubsequences: false).enumerated() {
      let place = "\(file):\(index + 1)"
      switch entry(Array(line.last == 0x0D ? line.dropLast() : line)) {
      case .success(nil): break
      case .failure(let fault): faults.append("\(place): \(fault.text)")
      case .success(let (key, value)?):
        if let earlier = found[key] {
          faults.append("\(place): \(key) is already set in \(earlier.place); remove one of the lines.")
        } else {
          found[key] = SettingsSource.Found(value: value, place: place)
        }
      }
    }
    if !faults.isEmpty { throw SettingsError(faults: faults) }
    return found
  }

  struct Fault: Error, Hashable { let text: String }

  /// The name and the value of a line; nil for an empty line and a comment.
  static func entry(_ line: [UInt8]) -> Result<(name: String, value: String)?, Fault> {
    if line.allSatisfy({ $0 == 0x20 || $0 == 0x09 }) || line.first == 0x23 { return .success(nil) }
    guard let equals = line.firstIndex(of: 0x3D), isName(line[..<equals]) else {
      return .failure(
        Fault(text: "the line is not NAME=value; write the name in A-Z, 0-9 and _, without spaces before `=`."))
    }
    let name = String(decoding: line[..<equals], as: UTF8.self)
    let value = line[(equals + 1)...]
    if value.contains(where: { $0 < 0x20 || $0 == 0x7F }) {
      return .failure(Fault(text: "the value of \(name) contains a control character; remove it."))
    }
    if value.first == 0x22 {
      guard value.count > 1, value.last == 0x22, !value.dropFirst().dropLast().contains(0x22) else {
        return .failure(
          Fault(text: "the value of \(name) begins with a double quote; write exactly one more, at its end."))
      }
      return .success((name, String(decoding: value.dropFirst().dropLast(), as: UTF8.self)))
    }
    let hasComment = zip(value, value.dropFirst()).contains { $0 == (0x20, 0x23) }
    if value.first == 0x20 || value.last == 0x20 || hasComment {
      return .failure(
        Fault(
          text: "the value of \(name) begins or ends with a space, or contains ` #`; remove this, or put the value in "
            + "double quotes."))
    }
    return .success((name, String(decoding: value, as: UTF8.self)))
  }

  private static func isName(_ bytes: ArraySlice<UInt8>) -> Bool {
    guard let first = bytes.first, !ASCII.isDigit(first) else { return false }
    return bytes.allSatisfy { (0x41...0x5A).contains($0) || ASCII.isDigit($0) || $0 == 0x5F }
  }
}
