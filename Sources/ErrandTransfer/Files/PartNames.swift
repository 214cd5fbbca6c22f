/// The names that belong to the target of a download. They lie in its own folder: a rename cannot cross file systems.
package struct PartNames: Sendable, Hashable {
  /// What is added for the bytes so far.
  package static let partSuffix = ".part"
  /// What is added for the record of the bytes.
  package static let recordSuffix = ".part.meta"
  /// What is added for a record that is being written.
  package static let temporarySuffix = ".part.meta.tmp"

  /// The file that is wanted.
  package let target: String

  package init(_ target: String) { self.target = target }

  /// The bytes so far.
  package var part: String { target + Self.partSuffix }
  /// The record of the bytes.
  package var record: String { target + Self.recordSuffix }
  /// A record that is being written.
  package var temporary: String { target + Self.temporarySuffix }
  /// The folder of them all.
  package var folder: String { Self.folder(of: target) }

  /// The text behind the last slash.
  static func lastComponent(of path: String) -> String {
    path.utf8.lastIndex(of: 0x2F).map { String(path[$0...].dropFirst()) } ?? path
  }

  /// The text before the last slash; the present folder where there is none.
  static func folder(of path: String) -> String {
    guard let slash = path.utf8.lastIndex(of: 0x2F) else { return "." }
    return slash == path.startIndex ? "/" : String(path[..<slash])
  }
}
