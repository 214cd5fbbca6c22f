import Foundation
import Testing

@testable import ErrandTransfer

struct SystemFilesTests {
  private let folder: TransferFolder
  private let files = SystemFiles()

  init() throws { folder = try TransferFolder() }

  private func opened<Result>(_ name: String, _ body: (Int32) throws -> Result) throws -> Result {
    let file = try files.open(folder(name), .new)
    defer { try? files.close(file) }
    return try body(file)
  }

  private func failure(_ body: () throws -> Void) -> FileFailure? {
    do { try body() } catch { return error as? FileFailure }
    return nil
  }

  private func expect(_ kind: FileFailure.Kind?, _ body: () throws -> Void) {
    let found = failure(body)
    #expect(found?.kind == kind)
  }

  @Test func `bytes are read where they were written`() throws {
    try opened("a") { file in
      try [UInt8(1), 2, 3].withUnsafeBytes { try files.write(file, $0, at: 5) }
      var memory = [UInt8](repeating: 9, count: 10)
      let count = try memory.withUnsafeMutableBytes { try files.read(file, into: $0, at: 4) }
      #expect(count == 4 && memory == [0, 1, 2, 3, 9, 9, 9, 9, 9, 9])
      #expect(try memory.withUnsafeMutableBytes { try files.read(file, into: $0, at: 100) } == 0)
    }
  }

  @Test func `a full device is reported as full`() throws {
    let file = try files.open("/dev/full", .existing)
    defer { try? files.close(file) }
    let failure = failure { try [UInt8(1)].withUnsafeBytes { try files.write(file, $0, at: 0) } }
    #expect(failure?.kind == .full && failure?.code == ENOSPC)
    #expect(failure?.description.contains("there is no space left") == true)
  }

  @Test func `creating fails if the file exists`() throws {
    try opened("a") { _ in }
    expect(.exists) { _ = try files.open(folder("a"), .new) }
    expect(.notFound) { _ = try files.open(folder("b"), .existing) }
  }

  @Test func `a new file has mode 0600`() throws {
    try opened("a") { _ in #expect(folder.mode("a") == 0o600) }
  }

  @Test func `only one descriptor holds the lock`() throws {
    try opened("a") { file in
      try files.lock(file)
      let other = try files.open(folder("a"), .existing)
      expect(.busy) { try files.lock(other) }
      try files.close(other)
    }
    let file = try files.open(folder("a"), .existing)
    expect(nil) { try files.lock(file) }
    try files.close(file)
  }

  @Test func `an exclusive rename replaces no file`() throws {
    try folder.put([1], "a")
    try folder.put([2], "b")
    expect(.exists) { try files.renameExclusively(folder("a"), to: folder("b")) }
    expect(.exists) { try files.renameByLink(folder("a"), to: folder("b")) }
    #expect(folder.bytes("a") == [1] && folder.bytes("b") == [2])
    try files.renameExclusively(folder("a"), to: folder("c"))
    try files.renameByLink(folder("b"), to: folder("d"))
    #expect(folder.names == ["c", "d"] && folder.bytes("c") == [1] && folder.bytes("d") == [2])
  }

  /// A network file system may repeat a link, and a process may end between the link and the removal.
  @Test func `an interrupted rename by link can be repeated`() throws {
    try folder.put([1], "a")
    #expect(link(folder("a"), folder("b")) == 0)
    try files.renameByLink(folder("a"), to: folder("b"))
    #expect(folder.names == ["b"] && folder.bytes("b") == [1])
  }

  private static func noLinks(_ path: String, _ other: String) throws(FileFailure) {
    throw FileFailure(.rename, path, code: EPERM)
  }

  @Test func `an exclusive rename needs no hard links`() throws {
    try folder.put([1], "a")
    try folder.put([2], "b")
    expect(.exists) { try files.renameByLink(folder("a"), to: folder("b"), makeLink: Self.noLinks) }
    #expect(folder.bytes("a") == [1] && folder.bytes("b") == [2])
    try files.renameByLink(folder("a"), to: folder("c"), makeLink: Self.noLinks)
    #expect(folder.names == ["b", "c"] && folder.bytes("c") == [1])
    expect(.notFound) { try files.renameByLink(folder("a"), to: folder("d"), makeLink: Self.noLinks) }
    #expect(folder.names == ["b", "c"])
  }

  @Test func `a failed rename by link keeps the old name`() throws {
    try folder.put([1], "a")
    expect(.io) {
      try files.renameByLink(
        folder("a"), to: folder("b"),
        removeOld: { (path: String) throws(FileFailure) in throw FileFailure(.remove, path, code: EIO) })
    }
    #expect(folder.names == ["a"] && folder.bytes("a") == [1])
  }

  @Test func `a rename by link keeps the only name`() throws {
    try folder.put([1], "a")
    try files.renameByLink(
      folder("a"), to: folder("b"),
      removeOld: { (path: String) throws(FileFailure) in
        try files.remove(path)
        throw FileFailure(.remove, path, code: ENOENT)
      })
    #expect(folder.names == ["b"] && folder.bytes("b") == [1])
  }

  /// A download reserves space before each response, also if the file is still open.
  @Test(
    arguments: [
      (0, 0, 10_240), (5_000, 10, 5_120), (5_000, 20, 0), (10_240, 8, 0), (0, .max, 0),
    ] as [(Int64, Int64, Int64)])
  func `reserved space is not reserved again`(size: Int64, blocks: Int64, missing: Int64) {
    #expect(SystemFiles.unreserved(of: 10_240, size: size, blocks: blocks) == missing)
    #expect(SystemFiles.unreserved(of: -5, size: size, blocks: blocks) == 0)
  }

  @Test func `reserving space keeps the length`() throws {
    try opened("a") { file in
      let isReserved = try files.reserve(file, length: 1 << 20)
      #expect(isReserved)
      #expect(try files.status(of: file).length == 0)
      var status = stat()
      fstat(file, &status)
      #expect(status.st_blocks >= 2_048)
      for length: Int64 in [0, -5] { #expect(try files.reserve(file, length: length) == true) }
    }
  }

  @Test func `status reports the file type`() throws {
    try folder.put([1, 2], "a")
    try FileManager.default.createSymbolicLink(atPath: folder("l"), withDestinationPath: folder("a"))
    #expect(try (files.status(at: folder("a"))?.kind) == .file)
    #expect(try (files.status(at: folder("l"))?.kind) == .link)
    #expect(try (files.status(at: folder.path)?.kind) == .folder)
    #expect(try (files.status(at: "/dev/null")?.kind) == .other)
    #expect(try (files.status(at: folder("no"))) == nil)
    let status = try #require(try files.status(at: folder("a")))
    #expect(status.length == 2 && status.links == 1 && status.isOwn)
  }

  @Test func `folder calls report missing folders`() throws {
    try files.synchronizeFolder(folder.path)
    #expect(try (files.freeSpace(in: folder.path)) > 0)
    expect(.notFound) { try files.synchronizeFolder(folder("no")) }
    expect(.notFound) { _ = try files.freeSpace(in: folder("no")) }
    expect(.notFound) { _ = try files.names(in: folder("no")) }
    try folder.put([], "a")
    #expect(try (files.names(in: folder.path)) == ["a"])
  }

  @Test func `some folders cannot be synchronized`() {
    #expect([EACCES, EINVAL, ENOTSUP].allSatisfy(SystemFiles.cannotSynchronizeFolder))
    #expect(![EIO, ENOENT, ENOTDIR, EMFILE, ENOSPC].contains(where: SystemFiles.cannotSynchronizeFolder))
    expect(.notFound) { try files.synchronizeFolder(folder("missing")) }
  }

  @Test(arguments: [
    (ENOSPC, FileFailure.Operation.write, FileFailure.Kind.full), (EDQUOT, .synchronize, .full), (EFBIG, .write, .full),
    (EIO, .synchronize, .io), (EACCES, .open, .denied), (EROFS, .open, .denied), (EWOULDBLOCK, .lock, .busy),
    (EWOULDBLOCK, .read, .other), (ELOOP, .open, .planted), (ENXIO, .open, .planted), (EISDIR, .open, .planted),
    (EISDIR, .rename, .exists), (ENOENT, .remove, .notFound), (ENOTDIR, .open, .notFound), (EBADF, .read, .other),
    (ENAMETOOLONG, .open, .other),
  ])
  func `error numbers map to kinds`(code: Int32, operation: FileFailure.Operation, kind: FileFailure.Kind) {
    let failure = FileFailure(operation, "/a/b.zip", code: code)
    #expect(failure.kind == kind && failure.name == "b.zip" && failure.code == code)
    #expect(failure.description.hasPrefix("The file “b.zip” could not be \(operation.rawValue): "))
    #expect(failure.description.hasSuffix("."))
  }

  @Test(arguments: [
    ("/a/b", "/a", "b"), ("b", ".", "b"), ("/b", "/", "b"), ("a/b/", "a/b", ""), ("", ".", ""),
    ("/a/\u{301}b", "/a", "\u{301}b"),
  ])
  func `paths are split at the last slash`(path: String, folder: String, last: String) {
    #expect(PartNames.folder(of: path) == folder && PartNames.lastComponent(of: path) == last)
  }
}
