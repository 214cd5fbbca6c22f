import ErrandSupport
import Foundation
import Testing

@testable import ErrandTransfer

/// One part, used by several threads.
struct PartSharingTests: PartSuite {
  let folder: TransferFolder

  init() throws { folder = try TransferFolder() }

  @Test func `commits and writes run concurrently`() async throws {
    let part = try open()
    let whole = Story.bytes(1, 60_000)
    let story = Story(length: 60_000)
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask {
        for start in stride(from: 0, to: whole.count, by: 100) {
          try whole[start..<(start + 100)].withUnsafeBytes { try part.append($0) }
        }
      }
      group.addTask {
        for _ in 0..<40 {
          let metadata = try part.commit(story.metadata(1))
          #expect(metadata.committed <= part.position)
        }
      }
      try await group.waitForAll()
    }
    try part.finish(total: 60_000, overwriting: true)
    #expect(folder.bytes("t") == whole)
  }

  @Test func `close waits for a running call`() throws {
    let held = Locked<PartFile?>(nil)
    let files = Interloper(at: .write) { held.withLock { $0 }?.close() }
    let part = try open(files)
    held.withLock { $0 = part }
    try append([1, 2], part)
    #expect(folder.bytes("t.part") == [1, 2])
    #expect(throws: FileFailure.self) { try append([1], part) }
    #expect(throws: Never.self) { try open() }
  }

  @Test func `a concurrent second commit is rejected`() throws {
    let held = Locked<PartFile?>(nil)
    let seen = Locked<FileFailure?>(nil)
    let story = story
    let files = Interloper(at: .synchronize) {
      guard let part = held.withLock({ $0 }) else { return }
      do { try part.commit(story.metadata(1)) } catch { seen.withLock { $0 = error as? FileFailure } }
    }
    let part = try open(files)
    held.withLock { $0 = part }
    try append([1], part)
    try part.commit(story.metadata(1))
    #expect(seen.withLock { $0 }?.kind == .closed && part.committed == ByteRanges(first: 1))
    held.withLock { $0 = nil }
  }
}
