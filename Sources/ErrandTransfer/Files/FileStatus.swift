/// The properties of a file, as the file system reports them.
package struct FileStatus: Sendable, Hashable {
  /// The type of a file.
  package enum Kind: Sendable, Hashable { case file, folder, link, other }

  /// The type of the file.
  package var kind: Kind
  /// The length of the file in bytes.
  package var length: Int64
  /// The number of names (hard links) of the file.
  package var links: Int
  /// Whether the file belongs to the user of this process.
  package var isOwn: Bool
  /// The device and the inode number. They distinguish the file from another file that has taken its name.
  package var identity: FileIdentity
  /// The time of the last change of the file's contents.
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

/// The device and the inode number of a file: no other file has the same pair at the same time.
package struct FileIdentity: Sendable, Hashable {
  package let device: UInt64
  package let number: UInt64

  package init(device: UInt64, number: UInt64) {
    self.device = device
    self.number = number
  }
}

/// A time since 1970, in the precision of the file system.
package struct FileTime: Sendable, Hashable, Codable {
  package let seconds: Int64
  package let nanoseconds: Int64

  package init(seconds: Int64 = 0, nanoseconds: Int64 = 0) {
    self.seconds = seconds
    self.nanoseconds = nanoseconds
  }
}
