public import Foundation

/// A file that was downloaded: whole, checked, and under its name.
public struct DownloadedFile: Sendable, Hashable, Codable {
  /// Where it lies.
  public let url: URL
  /// Its length in bytes.
  public let bytes: Int64
  /// The bytes that had been fetched by earlier calls and were kept.
  public let keptBytes: Int64
  /// The bytes that were fetched in this call, those that had to be thrown away among them.
  public let fetchedBytes: Int64
  /// The checksums that the file was held against and met, by algorithm, such as `sha-256`.
  public let checkedBy: [String]

  /// Describes a file.
  public init(url: URL, bytes: Int64, keptBytes: Int64 = 0, fetchedBytes: Int64 = 0, checkedBy: [String] = []) {
    self.url = url
    self.bytes = bytes
    self.keptBytes = keptBytes
    self.fetchedBytes = fetchedBytes
    self.checkedBy = checkedBy
  }
}
