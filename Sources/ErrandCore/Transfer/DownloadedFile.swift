public import Foundation

/// A downloaded file, which is complete, checked, and stored under its final name.
public struct DownloadedFile: Sendable, Hashable, Codable {
  /// The location of the file.
  public let url: URL
  /// The length of the file in bytes.
  public let bytes: Int64
  /// The number of bytes that earlier calls had received and that this call kept.
  public let keptBytes: Int64
  /// The number of bytes that this call received, including bytes that had to be discarded.
  public let fetchedBytes: Int64
  /// The algorithms of the checksums by which the file was checked, such as `sha-256`. The file matches all of these
  /// checksums.
  public let checkedBy: [String]

  /// Makes the description of a downloaded file.
  public init(url: URL, bytes: Int64, keptBytes: Int64 = 0, fetchedBytes: Int64 = 0, checkedBy: [String] = []) {
    self.url = url
    self.bytes = bytes
    self.keptBytes = keptBytes
    self.fetchedBytes = fetchedBytes
    self.checkedBy = checkedBy
  }
}
