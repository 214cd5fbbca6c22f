import Foundation

/// One entry as the index stores it.
struct StoreRow {
  let id: Int64
  let record: CacheEntryRecord
  /// The name of the body file; nil if the index contains the body.
  let file: String?
  let isSealed: Bool
  /// The stored body, if it was read together with the row; otherwise nil.
  var body: Data?
}
