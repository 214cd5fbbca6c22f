import ErrandCore

/// The progress of all downloads that were added to a ``DownloadQueue``.
public struct DownloadQueueProgress: Sendable, Hashable {
  /// The number of downloads that have ended, with success or failure.
  public let finished: Int
  /// The number of all downloads that were added to the queue.
  public let total: Int
  /// The number of bytes of all files so far, including bytes of earlier calls and files that already existed. It
  /// decreases only if a download starts over. A failed download counts with the bytes that it had reached.
  public let bytes: Int64
  /// The number of bytes of all files together. Nil while the length of a file is unknown, for example because its
  /// download has not started.
  public let totalBytes: Int64?

  /// The fraction of downloads that have ended, 0 to 1; nil if no download was added.
  public var fraction: Double? { total > 0 ? Double(finished) / Double(total) : nil }
}

/// Adds up the progress of the downloads of a queue.
struct QueueTally: Sendable {
  private struct Size: Sendable {
    var bytes: Int64 = 0
    var total: Int64?
  }

  /// The last reported sizes of the downloads that have not ended.
  private var sizes: [ObjectIdentifier: Size] = [:]
  private var finished = 0
  private var finishedBytes: Int64 = 0

  mutating func add(_ download: ObjectIdentifier) { sizes[download] = Size() }

  /// Notes a progress report of a download. A report after the end of the download has no effect.
  mutating func report(_ download: ObjectIdentifier, _ progress: TransferProgress) {
    guard sizes[download] != nil else { return }
    sizes[download] = Size(bytes: progress.bytes, total: progress.total)
  }

  /// Notes the end of a download. `bytes` is the length of its file; nil if the download failed or was cancelled. Only
  /// the first end counts.
  mutating func end(_ download: ObjectIdentifier, bytes: Int64?) {
    guard let size = sizes.removeValue(forKey: download) else { return }
    finished += 1
    finishedBytes = Self.sum(finishedBytes, bytes ?? size.bytes)
  }

  var progress: DownloadQueueProgress {
    var bytes = finishedBytes
    var total: Int64? = finishedBytes
    for size in sizes.values {
      bytes = Self.sum(bytes, size.bytes)
      if let known = total, let next = size.total { total = Self.sum(known, next) } else { total = nil }
    }
    return DownloadQueueProgress(
      finished: finished, total: finished + sizes.count, bytes: bytes, totalBytes: total)
  }

  /// Servers may announce any length, so the sum is limited instead of overflowing.
  private static func sum(_ first: Int64, _ second: Int64) -> Int64 {
    let (sum, overflow) = first.addingReportingOverflow(second)
    return overflow ? .max : sum
  }
}
