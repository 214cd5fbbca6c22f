import ErrandTesting
import Foundation
import Testing

@testable import ErrandTransfer

/// Processes that die at any call, with and without a power loss at the same moment.
struct PartCrashTests {
  private static let old: [UInt8] = [9, 9, 9]

  private func isRight(_ target: [UInt8]?, _ length: Int = 1_000) -> Bool {
    target == Self.old || target == Story.bytes(1, length) || target == Story.bytes(2, length)
  }

  @Test(arguments: MemoryDisk.Loss.allCases) func `a crash at any call keeps committed bytes`(loss: MemoryDisk.Loss)
    throws
  {
    var deaths = 0
    for (turn, breaking) in (1...60).flatMap({ turn in [nil, 4, 7].map { (turn, $0) } }) {
      let disk = MemoryFiles()
      disk.put(Self.old, "/d/t")
      // The part of an earlier process, of the same version or of another one.
      if let breaking { try? Story(breaking: breaking).run(breaking == 4 ? 1 : 2, disk) }
      disk.crash(loss, seed: UInt64(turn))
      let dying = FaultyFiles(disk, failing: turn, .death)
      do { try Story().run(1, dying) } catch is FileFailure { deaths += 1 }
      disk.crash(loss, seed: UInt64(turn) &* 7)
      #expect(isRight(disk.bytes("/d/t")), "half at call \(turn)")
      try Story().run(1, disk)
      #expect(disk.bytes("/d/t") == Story.bytes(1, 1_000) && disk.names == ["/d/t"])
    }
    #expect(deaths > 90)
  }

  @Test func `many crashes end with the correct file`() throws {
    for seed in 0..<UInt64(400) {
      var random = SeededNumbers(seed: seed)
      let disk = MemoryFiles()
      disk.put(Self.old, "/d/t")
      for _ in 0..<6 {
        var story = Story()
        story.piece = Int.random(in: 1...200, using: &random)
        story.committing = Int.random(in: 1...5, using: &random)
        if Bool.random(using: &random) { story.breaking = Int.random(in: 0...9, using: &random) }
        let dying = FaultyFiles(disk, failing: Int.random(in: 1...70, using: &random), .death)
        try? story.run(Int.random(in: 1...2, using: &random), dying)
        disk.crash(MemoryDisk.Loss.allCases.randomElement(using: &random) ?? .some, seed: random.next())
        #expect(isRight(disk.bytes("/d/t")), "half in seed \(seed)")
      }
      try Story().run(1, disk)
      #expect(disk.bytes("/d/t") == Story.bytes(1, 1_000), "wrong in seed \(seed)")
    }
  }

  @Test func `committed bytes survive a power loss`() throws {
    let disk = MemoryFiles()
    try? Story(breaking: 7).run(1, disk)
    disk.crash(.everything, seed: 1)
    let part = try PartFile.open(target: "/d/t", files: disk)
    #expect(part.position == 540)
    try Story().checkKept(part)
  }

  @Test func `a finished file survives a power loss`() throws {
    let disk = MemoryFiles()
    disk.put(Self.old, "/d/t")
    try Story().run(1, disk)
    disk.crash(.everything, seed: 1)
    #expect(disk.bytes("/d/t") == Story.bytes(1, 1_000) && disk.names == ["/d/t"])
  }

  /// A record without its part: the last process renamed the part and died.
  @Test func `a stale record never describes new bytes`() throws {
    for seed in 0..<UInt64(60) {
      let disk = MemoryFiles()
      var stale = Story().metadata(1)
      stale.finished = ByteRanges(first: 270)
      disk.put(Array(try stale.encoded()), "/d/t.part.meta")
      let part = try PartFile.open(target: "/d/t", files: disk)
      try part.startOver(Story().metadata(2))
      try Story.bytes(2, 1_000)[..<300].withUnsafeBytes { try part.append($0) }
      disk.crash(.some, seed: seed)
      try Story().checkKept(PartFile.open(target: "/d/t", files: disk))
    }
  }

  /// Checks the model itself: it must lose bytes that were never synchronized.
  @Test func `uncommitted bytes are lost`() throws {
    let disk = MemoryFiles()
    try? Story(committing: 100, breaking: 7).run(1, disk)
    #expect(disk.bytes("/d/t.part")?.count == 630)
    disk.crash(.everything, seed: 1)
    #expect(disk.names == [])
  }
}
