/// What a file system says of a file.
package struct FileStatus: Sendable, Hashable {
  /// What lies there.
  package enum Kind: Sendable, Hashable { case file, folder, link, other }

  /// What lies there.
  package var kind: Kind
  /// The length in bytes.
  package var length: Int64
  /// How many names the file has.
  package var links: Int
  /// Whether it belongs to the user of this process.
  package var isOwn: Bool
  /// Device and number: what tells it from another file that took its name.
  package var identity: FileIdentity
  /// When its bytes were changed last.
  package var modified: FileTime

  package init(
    kind: Kind, length: Int64, links: Int, isOwn: Bool, identity: FileIdentity, modified: FileTime = FileTime()
  ) {
    self.kind = kind
    self.length = length
    self.links = links
    self.isOwn = isOwn
    self.identity = identity
    self.modified = modified
  }
}
