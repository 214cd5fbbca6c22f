import ErrandTesting
import Foundation
import Testing

@testable import ErrandTransfer

/// Pieces become few large writes in order, whichever thread writes them.
struct PieceWriterTests: PartSuite {
  let folder: TransferFolder
  private static let writeSize = 512 << 10

  init() throws { folder = try TransferFolder() }

  private func take(_ count: Int, _ byte: UInt8, _ writer: PieceWriter) throws {
    try [UInt8](repeating: byte, count: count).withUnsafeBytes { try writer.take($0) }
  }

  private func writes(_ files: FaultyFiles) -> Int {
    files.callNames.count { $0 == FileFailure.Operation.write.rawValue }
  }

  @Test func `small pieces are gathered until 512 KiB`() throws {
    let files = FaultyFiles()
    let writer = PieceWriter(try open(files))
    for _ in 1...31 { try take(16_384, 1, writer) }
    #expect(writes(files) == 0)
    try take(16_384, 1, writer)
    #expect(writes(files) == 1 && folder.bytes("t.part")?.count == Self.writeSize)
    try take(10, 2, writer)
    #expect(writes(files) == 1)
    #expect(try writer.write() == 0)
    #expect(writes(files) == 2 && folder.bytes("t.part")?.suffix(11) == [1, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2])
    #expect(try writer.write() == 0)
    #expect(writes(files) == 2)
  }

  @Test func `held pieces are not written`() throws {
    let files = FaultyFiles()
    let writer = PieceWriter(try open(files))
    writer.hold()
    try take(Self.writeSize + 5, 1, writer)
    #expect(try writer.write() == Int64(Self.writeSize + 5))
    #expect(writes(files) == 0)
    try writer.release()
    #expect(writes(files) == 1 && folder.bytes("t.part")?.count == Self.writeSize + 5)
  }

  @Test func `pieces are written at their offset`() throws {
    let part = try open()
    let writer = PieceWriter(part)
    writer.begin(at: 100)
    try take(Self.writeSize, 1, writer)
    try take(3, 2, writer)
    #expect(try writer.write() == 0)
    #expect(part.written.end == Int64(Self.writeSize + 103))
    #expect(part.written.missing(of: Int64(Self.writeSize + 103)) == [0..<100])
    #expect(folder.bytes("t.part")?.suffix(4) == [1, 2, 2, 2])
  }

  @Test func `nothing is written after a gap`() throws {
    let files = FaultyFiles()
    let writer = PieceWriter(try open(files))
    try take(10, 1, writer)
    files.failNext(.write, .before(ENOSPC))
    #expect(throws: FileFailure.self) { try writer.write() }
    #expect(throws: FileFailure.self) { try take(10, 2, writer) }
    #expect(throws: FileFailure.self) { try writer.write() }
    #expect(folder.bytes("t.part") == [])
  }

  @Test func `two threads keep the order`() async throws {
    let part = try open()
    let writer = PieceWriter(part)
    let whole = Story.bytes(1, 6_000_000)
    let done = Recorded<Bool>()
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask {
        defer { done.append(true) }
        for start in stride(from: 0, to: whole.count, by: 15_000) {
          try whole[start..<min(start + 15_000, whole.count)].withUnsafeBytes { try writer.take($0) }
        }
      }
      group.addTask {
        while done.all.isEmpty {
          _ = try writer.write()
          await Task.yield()
        }
      }
      try await group.waitForAll()
    }
    #expect(try writer.write() == 0)
    #expect(folder.bytes("t.part") == whole)
  }
}
