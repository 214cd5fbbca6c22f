/// How far the content coding of a body may expand, which tells a bomb from an honest body.
///
/// A few megabytes of gzip can become gigabytes, and more of zstd or brotli. The rule holds for every destination: a
/// body in memory is also bounded by ``ResponseLimits/bodyBytes``. Up to ``freeBytes`` nothing is said. Beyond them the
/// decoded bytes may be ``ratio`` times the coded ones that came, counted over the whole body so far, so that one empty
/// stretch in an honest file does no harm.
///
/// Logs, tables and JSON come to 5 to 50 times their coded bytes, seldom to 100. An image of an empty disk comes to
/// 1,000 by gzip: where such files are fetched coded, raise the ratio or set ``ResponseLimits/expansion`` to nil.
public struct BodyExpansion: Sendable, Hashable {
  /// Decoded bytes for each coded one, at most. 200 where nothing is said; what is below 1 counts as 1.
  public var ratio: Int
  /// Decoded bytes that any body may have, whatever it came from. 64 MiB where nothing is said.
  public var freeBytes: Int64

  /// Makes a rule.
  public init(ratio: Int = 200, freeBytes: Int64 = 64 << 20) {
    self.ratio = ratio
    self.freeBytes = freeBytes
  }

  /// Throws where a body has grown beyond the rule.
  package func check(decoded: Int64, coded: Int64) throws(TransportFailure) {
    let (most, isEndless) = coded.multipliedReportingOverflow(by: Int64(max(ratio, 1)))
    guard decoded > freeBytes, !isEndless, decoded > most else { return }
    throw TransportFailure(
      .tooLarge,
      "The answer is larger than the limits allow: \(coded) coded bytes of its body became \(decoded), more than "
        + "\(ratio) times as many; raise `limits.expansion` if that is wanted.")
  }
}
