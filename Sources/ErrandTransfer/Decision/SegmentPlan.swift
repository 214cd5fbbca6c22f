/// Divides the missing bytes of a file into ranges, so that several requests fetch them in parallel.
package enum SegmentPlan {
  /// The length in bytes of the smallest range that is worth a separate request: 1 MiB.
  package static let smallestPiece: Int64 = 1 << 20

  /// Whether the missing bytes can be requested as ranges. The version and the length of the file must be known.
  package static func isSafe(_ metadata: PartMetadata) -> Bool { metadata.isResumable && metadata.total != nil }

  /// Divides the missing bytes of a file into ranges.
  ///
  /// - Parameters:
  ///   - finished: The ranges that are already in the partial file.
  ///   - total: The length of the whole file in bytes.
  ///   - count: The desired number of ranges. There are more ranges if there are more gaps, and fewer ranges if they
  ///     would be smaller than `smallest`.
  /// - Returns: Ranges in ascending order that fill every gap without overlapping.
  package static func pieces(
    missingFrom finished: ByteRanges, total: Int64, count: Int, smallest: Int64 = smallestPiece
  ) -> [Range<Int64>] {
    let smallest = max(smallest, 1)
    let gaps = finished.missing(of: total)
    let missing = gaps.reduce(0) { $0 + length($1) }
    guard missing > 0 else { return [] }
    let spare = max(Int64(min(max(count, 1), 1_000)) - Int64(gaps.count), 0)
    return gaps.flatMap { gap -> [Range<Int64>] in
      // Each gap gets at least one range. The spare ranges are distributed over the gaps in proportion to the lengths
      // of the gaps.
      let share = 1 + Int64((Double(spare) * Double(length(gap)) / Double(missing)).rounded(.down))
      return split(gap, into: min(share, max(length(gap) / smallest, 1)))
    }
  }

  /// Divides a gap into ranges of equal length. If the length of the gap is not divisible by `count`, the first ranges
  /// are one byte longer than the others.
  private static func split(_ gap: Range<Int64>, into count: Int64) -> [Range<Int64>] {
    let (size, rest) = length(gap).quotientAndRemainder(dividingBy: max(count, 1))
    var place = gap.lowerBound
    return (0..<max(count, 1)).map { index in
      let end = place + size + (index < rest ? 1 : 0)
      defer { place = end }
      return place..<end
    }
  }

  private static func length(_ range: Range<Int64>) -> Int64 { range.upperBound - range.lowerBound }
}

/// The missing ranges of one version of a file, divided for parallel requests.
struct SegmentList: Sendable {
  /// The missing ranges of the file, in ascending order and without overlap.
  let pieces: [Range<Int64>]
  /// The validator of the file's version to which all ranges belong.
  let validator: Validator
  /// The length of the whole file in bytes.
  let total: Int64
}
