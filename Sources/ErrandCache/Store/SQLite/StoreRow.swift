import Foundation

/// One entry as the index has it.
struct StoreRow {
  let id: Int64
  let record: CacheEntryRecord
  /// The name of the body's file; nil where the body lies in the index.
  let file: String?
  let isSealed: Bool
  /// The body, where it was read along.
  var body: Data?
}
