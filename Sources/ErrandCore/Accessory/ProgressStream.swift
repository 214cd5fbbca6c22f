/// The progress of one call as a stream, for code that reads the progress while `send` runs. It is an accessory: put it
/// into the options of the call.
///
/// ```swift
/// let progress = ProgressStream(.upload)
/// async let added = client.send(AddPhoto(photo), options: CallOptions(accessories: [progress]))
/// for await report in progress.reports { print(report.bytes, "of", report.total ?? 0) }
/// print(try await added.id)
/// ```
public final class ProgressStream: Accessory {
  /// The progress reports. A slow reader gets only the latest report and misses those in between. The stream ends when
  /// the call ends, with success or failure. It supports one reader.
  public let reports: AsyncStream<TransferProgress>

  private let direction: TransferProgress.Direction?
  private let continuation: AsyncStream<TransferProgress>.Continuation

  /// Makes a stream for one call.
  /// - Parameter direction: The direction (upload or download) whose progress is reported; nil for both directions.
  public init(_ direction: TransferProgress.Direction? = nil) {
    self.direction = direction
    (reports, continuation) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
  }

  deinit { continuation.finish() }

  /// Adds the progress report to the stream.
  public func progressed(_ call: CallInfo, _ progress: TransferProgress) {
    if direction == nil || progress.direction == direction { continuation.yield(progress) }
  }

  /// Ends the stream.
  public func willStop(_ call: CallInfo, _ ending: CallEnding) { continuation.finish() }
}
