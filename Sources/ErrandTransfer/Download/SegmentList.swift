/// The missing ranges of one version of a file, divided for parallel requests.
struct SegmentList: Sendable {
  /// The missing ranges of the file, in ascending order and without overlap.
  let pieces: [Range<Int64>]
  /// The validator of the file's version to which all ranges belong.
  let validator: Validator
  /// The length of the whole file in bytes.
  let total: Int64
}
