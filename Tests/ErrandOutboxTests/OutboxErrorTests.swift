import Errand
import ErrandTesting
import Foundation
import Testing

@testable import ErrandCache
@testable import ErrandOutbox

/// The causes and cures that errors name.
struct OutboxErrorTests {
  /// The codes of SQLite, and words of the messages.
  @Test(arguments: [
    (13, OutboxError.Code.disk, "disk is full"), (8, .disk, "read-only"), (3, .disk, "permissions"),
    (23, .disk, "permissions"), (14, .disk, "cannot be opened"), (7, .disk, "memory"),
    (10 | 3 << 8, .disk, "check the disk"), (11, .damaged, "keep a copy"), (26, .damaged, "keep a copy"),
    (10 | 2 << 8, .damaged, "keep a copy"), (18, .encoding, "too large"), (1, .fault, "fault of the library"),
    (19, .fault, "fault of the library"), (21, .fault, "fault of the library"), (5, .busy, "another process"),
  ])
  func `failure of the database names its cause`(sqlite: Int32, code: OutboxError.Code, words: String) {
    let error = OutboxError.mapping(SQLiteFailure(code: sqlite), "/folder")
    #expect(error.code == code)
    #expect(error.message.contains(words), "\(error)")
    #expect(error.message.contains("free disk space") == (sqlite == 13))
    #expect(error.message.contains("remove its files") == (code == .damaged))
  }

  @Test func `file without permission is named`() throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "errand-outbox-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: folder) }
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    var file = folder.appending(path: "photo.jpg")
    try Data("x".utf8).write(to: file)
    chmod(file.path, 0)
    // The administrator may read every file except some of the system.
    if access(file.path, R_OK) == 0 { file = URL(filePath: "/proc/sys/vm/compact_memory") }
    guard access(file.path, F_OK) == 0, access(file.path, R_OK) != 0 else { return }
    let files = AttachedFiles(folder: folder.appending(path: "files").path)
    let error = #expect(throws: OutboxError.self) { try files.take(file, as: AttachedFiles.newName()) }
    #expect(error?.code == .file)
    #expect(error?.message.contains("cannot be read; check its permissions") == true)
  }
}
