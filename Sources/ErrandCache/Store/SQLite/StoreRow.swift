import Foundation

/// One entry as stored in the index.
struct StoreRow {
  let id: Int64
  let record: CacheEntryRecord
  /// The name of the body file; nil if the index contains the body.
  let file: String?
  let isSealed: Bool
  /// The body, if it was read together with the row; otherwise nil.
  var body: Data?
}
