/// The missing ranges of one version of a file, divided for parallel requests.
struct SegmentList: Sendable {
  /// The ranges, in ascending order and without overlap.
  let pieces: [Range<Int64>]
  /// The validator of the version.
  let validator: Validator
  /// The length of the whole file in bytes.
  let total: Int64
}
