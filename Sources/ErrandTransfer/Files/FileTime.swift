/// A time as a file system keeps it, since 1970.
package struct FileTime: Sendable, Hashable, Codable {
  package let seconds: Int64
  package let nanoseconds: Int64

  package init(seconds: Int64 = 0, nanoseconds: Int64 = 0) {
    self.seconds = seconds
    self.nanoseconds = nanoseconds
  }
}
