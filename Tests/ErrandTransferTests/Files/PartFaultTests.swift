import Foundation
import Testing

@testable import ErrandTransfer

struct PartFaultTests {
  static let faults: [FaultyFiles.Fault] = [
    .before(ENOSPC), .before(EIO), .after(EIO), .torn(ENOSPC), .torn(EDQUOT), .before(EACCES), .death,
  ]

  /// Runs a story with each call failing in turn, in a real folder. The result must be an error or the correct file.
  private func failEach(
    _ fault: FaultyFiles.Fault, prepare: (Story) throws -> Void = { _ in }
  ) throws -> (runs: Int, failures: Int) {
    var failures = 0
    for turn in 1... {
      let folder = try TransferFolder()
      try folder.put([1, 2, 3], "t")
      var story = Story()
      story.target = folder("t")
      try prepare(story)
      let files = FaultyFiles(SystemFiles(), failing: turn, fault)
      do {
        try story.run(1, files)
        #expect(folder.bytes("t") == Story.bytes(1, 1_000))
      } catch is FileFailure {
        failures += 1
        let target = try #require(folder.bytes("t"))
        #expect(target == [1, 2, 3] || target == Story.bytes(1, 1_000), "half at call \(turn): \(files.callNames)")
      }
      #expect(files.openFiles.isEmpty, "left open at call \(turn)")
      try story.run(1, SystemFiles())
      #expect(folder.bytes("t") == Story.bytes(1, 1_000))
      #expect(folder.names == ["t"], "left over at call \(turn)")
      if files.calls < turn { return (turn - 1, failures) }
    }
    return (0, 0)
  }

  @Test(arguments: faults) func `any failing call leaves a valid file`(fault: FaultyFiles.Fault) throws {
    let (runs, failures) = try failEach(fault)
    // Only failures of clean-up and of closing have no effect.
    #expect(runs > 40 && failures > runs * 3 / 4)
  }

  @Test(arguments: faults) func `any failing call can be resumed after`(fault: FaultyFiles.Fault) throws {
    let (runs, failures) = try failEach(fault) { story in
      var story = story
      story.breaking = 5
      #expect(throws: Story.LineBroke.self) { try story.run(1, SystemFiles()) }
    }
    #expect(runs > 30 && failures > runs * 3 / 4)
  }

  @Test(arguments: faults) func `any failing call during a new version`(fault: FaultyFiles.Fault) throws {
    let (runs, failures) = try failEach(fault) { story in
      var story = story
      story.breaking = 5
      #expect(throws: Story.LineBroke.self) { try story.run(2, SystemFiles()) }
    }
    #expect(runs > 40 && failures > runs * 3 / 4)
  }

  /// A part with 100 committed bytes and 50 more written ones.
  private func part(_ files: any TransferFiles, _ target: String) throws -> (PartFile, PartMetadata) {
    let part = try PartFile.open(target: target, files: files)
    try append(100, part)
    let metadata = try part.commit(Story(length: 1_000).metadata(1))
    try append(50, part)
    return (part, metadata)
  }

  private func append(_ count: Int, _ part: PartFile) throws {
    try Story.bytes(1, 1_000).dropFirst(Int(part.position)).prefix(count).withUnsafeBytes { try part.append($0) }
  }

  @Test(arguments: [ENOSPC, EDQUOT, EFBIG], [true, false])
  func `a full disk keeps earlier bytes`(code: Int32, isKept: Bool) throws {
    let folder = try TransferFolder()
    let files = FaultyFiles()
    let (part, metadata) = try part(files, folder("t"))
    files.failNext(.write, .torn(code))
    let failure = #expect(throws: FileFailure.self) { try append(80, part) }
    #expect(failure?.kind == .full && failure?.name == "t.part")
    #expect(folder.bytes("t.part")?.count == 190 && part.position == 150)
    if isKept {
      try part.cutTorn()
      #expect(folder.bytes("t.part") == Array(Story.bytes(1, 1_000).prefix(150)))
      try part.commit(metadata)
    }
    part.close()
    let again = try PartFile.open(target: folder("t"))
    let kept = isKept ? 150 : 100
    #expect(again.metadata?.committed == Int64(kept) && again.position == kept)
    #expect(folder.bytes("t.part") == Array(Story.bytes(1, 1_000).prefix(kept)))
  }

  @Test func `a torn write does not count`() throws {
    let folder = try TransferFolder()
    let files = FaultyFiles()
    let (part, metadata) = try part(files, folder("t"))
    let bytes = Story.bytes(1, 1_000)
    try bytes[500..<600].withUnsafeBytes { try part.write($0, at: 500) }
    files.failNext(.write, .torn(ENOSPC))
    #expect(throws: FileFailure.self) { try bytes[300..<400].withUnsafeBytes { try part.write($0, at: 300) } }
    try part.cutTorn()
    let kept = try part.commit(metadata).finished
    #expect(kept.missing(of: 1_000) == [150..<500, 600..<1_000])
    #expect(folder.bytes("t.part")?.count == 600)
  }

  @Test func `a failed part accepts no writes`() throws {
    let folder = try TransferFolder()
    let files = FaultyFiles()
    let (part, metadata) = try part(files, folder("t"))
    files.failNext(.write, .before(EIO))
    let failure = try #require(throws: FileFailure.self) { try append(80, part) }
    #expect(throws: failure) { try append(80, part) }
    #expect(throws: failure) { try part.commit(metadata) }
    #expect(throws: failure) { try part.finish(total: nil, overwriting: true) }
    #expect(folder.bytes("t.part")?.count == 100)
    try part.abandon()
    #expect(folder.names == [])
  }

  @Test func `bytes of a failed sync are dropped`() throws {
    let folder = try TransferFolder()
    let files = FaultyFiles()
    let (part, metadata) = try part(files, folder("t"))
    files.failNext(.synchronize, .after(EIO))
    let failure = #expect(throws: FileFailure.self) { try part.commit(metadata) }
    #expect(failure?.kind == .io)
    #expect(folder.bytes("t.part")?.count == 100 && part.committed == ByteRanges(first: 100))
  }

  @Test func `a full disk keeps the previous record`() throws {
    let folder = try TransferFolder()
    let files = FaultyFiles()
    let (part, metadata) = try part(files, folder("t"))
    files.failNext(.write, .torn(ENOSPC))
    #expect(throws: FileFailure.self) { try part.commit(metadata) }
    #expect(folder.bytes("t.part")?.count == 100 && part.committed == ByteRanges(first: 100))
    #expect(folder.names == ["t.part", "t.part.meta"])
    part.close()
    #expect(try PartFile.open(target: folder("t")).position == 100)
  }

  @Test func `a failed new version keeps the old bytes`() throws {
    let folder = try TransferFolder()
    let files = FaultyFiles()
    let (part, _) = try part(files, folder("t"))
    files.failNext(.write, .torn(ENOSPC))
    #expect(throws: FileFailure.self) { try part.startOver(Story().metadata(2)) }
    part.close()
    #expect(folder.bytes("t.part") == Array(Story.bytes(1, 1_000).prefix(100)))
    #expect(try PartFile.open(target: folder("t")).metadata?.validator == Story.tag(1))
  }

  @Test func `a failed reservation can be repeated`() throws {
    let folder = try TransferFolder()
    let files = FaultyFiles()
    let (part, _) = try part(files, folder("t"))
    files.failNext(.reserve, .before(ENOSPC))
    #expect(throws: FileFailure.self) { try part.reserve(1_000) }
    try part.reserve(1_000)
    #expect(folder.bytes("t.part")?.count == 150)
    try append(850, part)
    try part.finish(total: 1_000, overwriting: false)
    #expect(folder.bytes("t") == Story.bytes(1, 1_000))
  }
}
