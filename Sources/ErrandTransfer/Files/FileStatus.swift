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

/// What tells a file from every other one: its device and its number there.
package struct FileIdentity: Sendable, Hashable {
  package let device: UInt64
  package let number: UInt64

  package init(device: UInt64, number: UInt64) {
    self.device = device
    self.number = number
  }
}

/// A time as a file system keeps it, since 1970.
package struct FileTime: Sendable, Hashable, Codable {
  package let seconds: Int64
  package let nanoseconds: Int64

  package init(seconds: Int64 = 0, nanoseconds: Int64 = 0) {
    self.seconds = seconds
    self.nanoseconds = nanoseconds
  }
}
