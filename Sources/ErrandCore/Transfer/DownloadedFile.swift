public import Foundation

/// A downloaded file: complete, checked, and under its final name.
public struct DownloadedFile: Sendable, Hashable, Codable {
  /// The location of the file.
  public let url: URL
  /// The length of the file in bytes.
  public let bytes: Int64
  /// The bytes that earlier calls had received and that were kept.
  public let keptBytes: Int64
  /// The bytes that were received in this call, including bytes that had to be discarded.
  public let fetchedBytes: Int64
  /// The algorithms of the checksums that the file was compared with and matched, such as `sha-256`.
  public let checkedBy: [String]

  /// Makes a value.
  public init(url: URL, bytes: Int64, keptBytes: Int64 = 0, fetchedBytes: Int64 = 0, checkedBy: [String] = []) {
    self.url = url
    self.bytes = bytes
    self.keptBytes = keptBytes
    self.fetchedBytes = fetchedBytes
    self.checkedBy = checkedBy
  }
}
