/// What is missing of one version of a file, shared out.
struct SegmentList: Sendable {
  /// Pieces apart from each other, in order.
  let pieces: [Range<Int64>]
  /// The version.
  let validator: Validator
  /// The length of the whole.
  let total: Int64
}
