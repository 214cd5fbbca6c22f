/// A limit on the growth of a body by content decoding. It rejects decompression bombs.
///
/// A few megabytes of gzip can become gigabytes, and more with zstd or brotli. The limit applies to every destination
/// of a body; a body in memory is also bounded by ``ResponseLimits/bodyBytes``. The first ``freeBytes`` decoded bytes
/// are not checked. A body with more decoded bytes fails if it has more than ``ratio`` decoded bytes for each coded
/// byte. The ratio is taken over all bytes received so far, so that one highly compressible section does not fail a
/// legitimate file.
///
/// Logs, tables and JSON expand to 5 to 50 times their coded size, seldom to 100 times. An image of an empty disk
/// expands to 1,000 times with gzip. To download such an image in a content coding, raise the ratio or set
/// ``ResponseLimits/expansion`` to nil.
public struct BodyExpansion: Sendable, Hashable {
  /// The maximum number of decoded bytes for each coded byte. The default is 200; a value below 1 counts as 1.
  public var ratio: Int
  /// The number of decoded bytes that every body may have, whatever its coded size. The default is 64 MiB.
  public var freeBytes: Int64

  /// Makes a limit. The default allows 64 MiB for every body, and 200 decoded bytes for each coded byte of a longer
  /// body.
  public init(ratio: Int = 200, freeBytes: Int64 = 64 << 20) {
    self.ratio = ratio
    self.freeBytes = freeBytes
  }

  /// Throws ``TransportFailure/Kind/tooLarge`` if a body has more decoded bytes than the limit allows for its coded
  /// bytes.
  package func check(decoded: Int64, coded: Int64) throws(TransportFailure) {
    let ratio = max(self.ratio, 1)
    let (most, isEndless) = coded.multipliedReportingOverflow(by: Int64(ratio))
    guard decoded > freeBytes, !isEndless, decoded > most else { return }
    throw TransportFailure(
      .tooLarge,
      "The response is larger than the limits allow: content decoding expanded \(coded) bytes of its body to "
        + "\(decoded) bytes, more than \(ratio) times as many; raise `limits.expansion` if you expect such a body.")
  }
}
