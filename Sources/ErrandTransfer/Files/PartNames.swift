/// The paths of the files of one download. All files are in the folder of the target, because a rename cannot cross
/// file systems.
package struct PartNames: Sendable, Hashable {
  /// The suffix of the partial file, which contains the received bytes.
  package static let partSuffix = ".part"
  /// The suffix of the metadata record of the partial file.
  package static let metadataSuffix = ".part.meta"
  /// The suffix of a temporary file that contains a metadata record while it is being written.
  package static let temporarySuffix = ".part.meta.tmp"

  /// The path of the target, which is the finished file.
  package let target: String

  package init(_ target: String) { self.target = target }

  /// The path of the partial file, which contains the received bytes.
  package var part: String { target + Self.partSuffix }
  /// The path of the metadata record of the partial file.
  package var metadata: String { target + Self.metadataSuffix }
  /// The path of the temporary file that contains a metadata record while it is being written.
  package var temporary: String { target + Self.temporarySuffix }
  /// The folder of the target and of all other files of the download.
  package var folder: String { Self.folder(of: target) }

  /// The text after the last slash of a path; the whole path if there is no slash.
  package static func lastComponent(of path: String) -> String {
    // Cuts bytes instead of characters: the slash and a combining mark after it are one `Character`.
    path.utf8.lastIndex(of: 0x2F).map { String(Substring(path.utf8[$0...].dropFirst())) } ?? path
  }

  /// The text before the last slash of a path; the current folder if there is no slash.
  package static func folder(of path: String) -> String {
    guard let slash = path.utf8.lastIndex(of: 0x2F) else { return "." }
    return slash == path.startIndex ? "/" : String(path[..<slash])
  }
}
