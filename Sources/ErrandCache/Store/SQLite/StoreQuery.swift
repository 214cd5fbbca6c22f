/// The SQL statements of the index. Each statement is prepared once.
enum StoreQuery: Int, CaseIterable {
  case rows, siblings, body, head, anyAccount, insert, renew, touch, ahead, oldest
  case removeRow, removeTarget, removeAll
  case list, labels, count, files, pages, freePages, fileBytes, addFileBytes, setFileBytes
  case begin, commit, rollback

  /// The version of the schema, stored in `user_version`. An index of another version is deleted and created again.
  static let version: Int64 = 1
  /// The number that identifies the program, stored in `application_id`: the letters `ERCA`.
  static let application: Int64 = 0x4552_4341

  /// The tables and indexes. The columns contain only the first eight bytes of each digest. The record in `head`
  /// contains the whole digests, which are compared after reading.
  ///
  /// `form` is 1 for an encrypted body. `file` is the name of the body file; if it is null, `body` contains the body.
  /// Times are in milliseconds since 1970. `state` has one row, which contains the total size of all body files. `salt`
  /// has one row, which contains ``StoreSalt/mark`` of the salt with which the entries were stored.
  static let schema = [
    """
    CREATE TABLE entry (
      id INTEGER PRIMARY KEY, entry INTEGER NOT NULL, variant INTEGER NOT NULL, any_account INTEGER NOT NULL,
      target INTEGER NOT NULL, account INTEGER NOT NULL, host TEXT NOT NULL, tag TEXT, response_time INTEGER NOT NULL,
      last_use INTEGER NOT NULL, size INTEGER NOT NULL, form INTEGER NOT NULL, file TEXT, head BLOB NOT NULL, body BLOB)
    """,
    "CREATE INDEX by_key ON entry (entry, response_time DESC)",
    "CREATE INDEX by_any_account ON entry (any_account)",
    "CREATE INDEX by_target ON entry (target)",
    "CREATE INDEX by_use ON entry (last_use)",
    "CREATE TABLE state (id INTEGER PRIMARY KEY, file_bytes INTEGER NOT NULL)",
    "INSERT INTO state VALUES (1, 0)",
    "CREATE TABLE salt (id INTEGER PRIMARY KEY, mark INTEGER NOT NULL)",
    "PRAGMA application_id = \(application)",
    "PRAGMA user_version = \(version)",
  ]

  var sql: String {
    switch self {
    case .rows: "SELECT id, head, file, form, body FROM entry WHERE entry = ?1 ORDER BY response_time DESC"
    case .siblings: "SELECT id, variant, file, size FROM entry WHERE entry = ?1 ORDER BY response_time DESC"
    case .body: "SELECT body, head FROM entry WHERE id = ?1"
    case .head: "SELECT head FROM entry WHERE id = ?1"
    case .anyAccount: "SELECT id, head, file, form FROM entry WHERE any_account = ?1"
    case .insert:
      """
      INSERT OR REPLACE INTO entry (id, entry, variant, any_account, target, account, host, tag, response_time,
        last_use, size, form, file, head, body) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15)
      """
    case .renew:
      "UPDATE entry SET host = ?2, tag = ?3, response_time = ?4, last_use = ?5, head = ?6 WHERE id = ?1"
    case .touch:
      "UPDATE entry SET last_use = ?3 WHERE entry = ?1 AND variant = ?2 AND (last_use < ?3 OR last_use > ?4)"
    case .ahead: "SELECT id FROM entry WHERE last_use > ?2 LIMIT ?1"
    case .oldest: "SELECT id FROM entry ORDER BY last_use LIMIT ?1"
    case .removeRow: remove("id = ?1")
    case .removeTarget: remove("target = ?1")
    case .removeAll: "DELETE FROM entry"
    case .list: "SELECT id, head, file, form, last_use FROM entry WHERE id > ?1 ORDER BY id LIMIT ?2"
    case .labels: "SELECT id, account, host, tag, response_time FROM entry WHERE id > ?1 ORDER BY id LIMIT ?2"
    case .count: "SELECT count(*) FROM entry"
    case .files: "SELECT file FROM entry WHERE file IS NOT NULL"
    case .pages: "PRAGMA page_count"
    case .freePages: "PRAGMA freelist_count"
    case .fileBytes: "SELECT file_bytes FROM state"
    case .addFileBytes: "UPDATE state SET file_bytes = file_bytes + ?1"
    case .setFileBytes: "INSERT OR REPLACE INTO state VALUES (1, ?1)"
    case .begin: "BEGIN IMMEDIATE"
    case .commit: "COMMIT"
    case .rollback: "ROLLBACK"
    }
  }

  private func remove(_ condition: String) -> String {
    "DELETE FROM entry WHERE \(condition) RETURNING file, size"
  }
}
