/// How the missing bytes of a file are shared out, so that several requests fetch them side by side.
package enum SegmentPlan {
  /// Pieces smaller than this are not worth a request: 1 MiB.
  package static let smallestPiece: Int64 = 1 << 20

  /// Whether several ranges may be asked for at all: only of one version that is known, and of a known length.
  package static func isSafe(_ record: PartRecord) -> Bool { record.isResumable && record.total != nil }

  /// Shares out what is missing.
  ///
  /// - Parameters:
  ///   - finished: What is there.
  ///   - total: The length of the whole.
  ///   - count: How many pieces there should be. There are more where the gaps are more, and fewer where the pieces
  ///     would be smaller than `smallest`.
  /// - Returns: Pieces in order, apart from each other, that fill every gap.
  package static func pieces(
    missingFrom finished: ByteRanges, total: Int64, count: Int, smallest: Int64 = smallestPiece
  ) -> [Range<Int64>] {
    let smallest = max(smallest, 1)
    let gaps = finished.missing(of: total)
    let missing = gaps.reduce(0) { $0 + length($1) }
    guard missing > 0 else { return [] }
    let spare = max(Int64(min(max(count, 1), 1_000)) - Int64(gaps.count), 0)
    return gaps.flatMap { gap -> [Range<Int64>] in
      // Each gap is one piece, and gets of the others what its length is of the whole.
      let share = 1 + Int64((Double(spare) * Double(length(gap)) / Double(missing)).rounded(.down))
      return split(gap, into: min(share, max(length(gap) / smallest, 1)))
    }
  }

  /// Equal pieces, of which the first ones are a byte longer where they cannot be equal.
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
