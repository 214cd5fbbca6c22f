/// A stream of the progress of one call, for code that reads the progress while `send` runs. The stream is an
/// ``Accessory``: pass it to the call in ``CallOptions``.
///
/// ```swift
/// let progress = ProgressStream(.upload)
/// async let added = client.send(AddPhoto(photo), options: CallOptions(accessories: [progress]))
/// for await report in progress.reports { print(report.bytes, "of", report.total ?? 0) }
/// print(try await added.id)
/// ```
public final class ProgressStream: Accessory {
  /// The progress reports. A slow reader gets only the latest report and misses earlier reports. The stream ends when
  /// the call ends, with success or failure. Only one task may read the stream.
  public let reports: AsyncStream<TransferProgress>

  private let direction: TransferProgress.Direction?
  private let feed: ProgressFeed

  /// Makes a stream for one call.
  /// - Parameter direction: The direction (upload or download) whose progress is reported; nil for both directions.
  public init(_ direction: TransferProgress.Direction? = nil) {
    let feed = ProgressFeed()
    self.direction = direction
    self.feed = feed
    reports = feed.reports
  }

  deinit { feed.finish() }

  /// Ends the streams among the accessories of a call or a group that notifies no accessory, so that no loop over their
  /// reports waits forever.
  static func end(in accessories: [any Accessory]) {
    for case let stream as ProgressStream in accessories { stream.feed.finish() }
  }

  /// Adds a progress report to the stream, unless the stream is limited to the other direction (upload or download).
  public func progressed(_ call: CallInfo, _ progress: TransferProgress) {
    if direction == nil || progress.direction == direction { feed.yield(progress) }
  }

  /// Ends the stream of progress reports, because the call ends.
  public func willStop(_ call: CallInfo, _ outcome: Outcome<Void>) { feed.finish() }

  /// Ends the stream, which was passed to a group instead of a call and has no reports. Otherwise a loop over the
  /// reports would wait forever.
  public func willStop(_ group: GroupInfo, _ outcome: GroupOutcome<Void>) { feed.finish() }
}
