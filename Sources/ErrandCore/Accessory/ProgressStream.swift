/// The progress of one call as a stream: for whoever reads it beside `send`. An accessory of that call.
///
/// ```swift
/// let progress = ProgressStream(.upload)
/// async let added = client.send(AddPhoto(photo), options: CallOptions(accessories: [progress]))
/// for await report in progress.reports { print(report.bytes, "of", report.total ?? 0) }
/// print(try await added.id)
/// ```
public final class ProgressStream: Accessory {
  /// The newest report, those in between dropped for a reader who is slow. Ends with the call, however that ends; for
  /// one reader.
  public let reports: AsyncStream<TransferProgress>

  private let direction: TransferProgress.Direction?
  private let teller: AsyncStream<TransferProgress>.Continuation

  /// Makes a stream for one call.
  /// - Parameter direction: Which body it tells of; nil for both.
  public init(_ direction: TransferProgress.Direction? = nil) {
    self.direction = direction
    (reports, teller) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
  }

  deinit { teller.finish() }

  /// Tells it.
  public func progressed(_ call: CallInfo, _ progress: TransferProgress) {
    if direction == nil || progress.direction == direction { teller.yield(progress) }
  }

  /// Ends the stream.
  public func willStop(_ call: CallInfo, _ ending: CallEnding) { teller.finish() }
}
