/// A limit on the growth of a body by content decoding. It tells a decompression bomb from a legitimate body.
///
/// A few megabytes of gzip can become gigabytes, and more with zstd or brotli. The limit applies to every destination
/// of a body; a body in memory is also bounded by ``ResponseLimits/bodyBytes``. The first ``freeBytes`` decoded bytes
/// are not checked. A body with more decoded bytes fails if it has more than ``ratio`` decoded bytes for each coded
/// byte. The ratio is taken over all bytes received so far, so that one highly compressible section does not fail a
/// legitimate file.
///
/// Logs, tables and JSON expand to 5 to 50 times their coded size, seldom to 100 times. An image of an empty disk
/// expands to 1,000 times with gzip: to download such files in a content coding, raise the ratio or set
/// ``ResponseLimits/expansion`` to nil.
public struct BodyExpansion: Sendable, Hashable {
  /// The most decoded bytes for each coded byte. 200 by default; a value below 1 counts as 1.
  public var ratio: Int
  /// The number of decoded bytes that every body may have, whatever its coded size. 64 MiB by default.
  public var freeBytes: Int64

  /// Makes a limit.
  public init(ratio: Int = 200, freeBytes: Int64 = 64 << 20) {
    self.ratio = ratio
    self.freeBytes = freeBytes
  }

  /// Throws if a body has more decoded bytes than the limit allows for its coded bytes.
  package func check(decoded: Int64, coded: Int64) throws(TransportFailure) {
    let (most, isEndless) = coded.multipliedReportingOverflow(by: Int64(max(ratio, 1)))
    guard decoded > freeBytes, !isEndless, decoded > most else { return }
    throw TransportFailure(
      .tooLarge,
      "The response is larger than the limits allow: \(coded) coded bytes of its body became \(decoded), more than "
        + "\(ratio) times as many; raise `limits.expansion` if you expect that.")
  }
}
