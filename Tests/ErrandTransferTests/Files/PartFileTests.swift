import ErrandSupport
import Foundation
import Testing

@testable import ErrandTransfer

struct PartFileTests: PartSuite {
  let folder: TransferFolder

  init() throws { folder = try TransferFolder() }

  @Test func `part and record have mode 0600`() throws {
    let part = try open()
    try append([1], part)
    try part.commit(story.metadata(1))
    #expect(folder.names == ["t.part", "t.part.meta"])
    #expect(folder.mode("t.part") == 0o600 && folder.mode("t.part.meta") == 0o600)
  }

  @Test func `finish sets the requested permissions`() throws {
    for (name, mode) in [("a", nil), ("b", UInt16(0o644))] {
      let part = try PartFile.open(target: folder(name))
      try append([1], part)
      try part.finish(total: 1, overwriting: true, permissions: mode)
      #expect(folder.mode(name) == mode ?? 0o600)
    }
  }

  @Test func `the owner can reopen a read-only part`() throws {
    let files = FaultyFiles()
    let part = try open(files)
    try append([1], part)
    files.failNext(.rename, .before(5))
    #expect(throws: FileFailure.self) { try part.finish(total: 1, overwriting: true, permissions: 0o444) }
    #expect(folder.mode("t.part") == 0o600)
    try part.finish(total: 1, overwriting: true, permissions: 0o444)
    #expect(folder.mode("t") == 0o444)
  }

  @Test func `a reopened part becomes private`() throws {
    let part = try open()
    try append([1], part)
    try part.commit(story.metadata(1))
    part.close()
    // An earlier process set the permissions of the target, and died before the rename.
    try #require(chmod(folder("t.part"), 0o644) == 0)
    #expect(try open().position == 1 && folder.mode("t.part") == 0o600)
  }

  @Test func `a new part has no record`() throws {
    let part = try open()
    #expect(part.metadata == nil && part.position == 0)
  }

  @Test func `a second open fails as busy`() throws {
    let part = try open()
    let failure = #expect(throws: FileFailure.self) { try open() }
    #expect(failure?.kind == .busy)
    #expect(
      failure?.description.hasPrefix("The file “t.part” could not be locked: another download uses the file") == true)
    part.close()
    #expect(throws: Never.self) { try open() }
  }

  @Test func `finishing frees the part's name`() throws {
    let part = try open()
    try append([1, 2], part)
    try part.finish(total: 2, overwriting: false)
    let next = try open()
    #expect(next.position == 0)
    #expect(folder.bytes("t") == [1, 2])
  }

  @Test func `a part renamed before locking is reopened`() throws {
    // Another process finishes the part between our opening and our lock.
    let files = Interloper { [folder] in
      try? FileManager.default.moveItem(atPath: folder("t.part"), toPath: folder("t"))
    }
    try folder.put([1, 2, 3], "t.part")
    let part = try open(files)
    try append([9], part)
    #expect(folder.bytes("t") == [1, 2, 3] && folder.bytes("t.part") == [9])
  }

  @Test func `a part that keeps vanishing is busy`() throws {
    let folder = folder
    let files = Interloper(always: true) { try? FileManager.default.removeItem(atPath: folder("t.part")) }
    let failure = #expect(throws: FileFailure.self) { try open(files) }
    #expect(failure?.kind == .busy)
  }

  @Test func `a folder as target is rejected`() throws {
    let failure = #expect(throws: FileFailure.self) { try PartFile.open(target: folder.path) }
    #expect(failure?.kind == .exists && failure?.description.contains("the target is a folder") == true)
  }

  @Test func `a missing folder is reported`() throws {
    let failure = #expect(throws: FileFailure.self) { try PartFile.open(target: folder("no/t")) }
    #expect(failure?.kind == .notFound)
    #expect(
      failure?.description == "The folder “no” cannot be used: it does not exist; create it before the download.")
    #expect(throws: FileFailure.self) { try PartFile.open(target: "") }
  }

  @Test func `a file as folder is reported`() throws {
    try folder.put([1], "film")
    let failure = #expect(throws: FileFailure.self) { try PartFile.open(target: folder("film/t")) }
    #expect(failure?.kind == .notFound)
    #expect(failure?.description.hasPrefix("The folder “film” cannot be used: it is a file; ") == true)
  }

  @Test func `bytes beyond the record are cut off`() throws {
    let part = try open()
    try append(0..<100, part)
    try part.commit(story.metadata(1))
    try append(0..<50, part)
    part.close()
    #expect(folder.bytes("t.part")?.count == 150)
    let again = try open()
    #expect(again.position == 100 && folder.bytes("t.part")?.count == 100)
    #expect(try kept(again) == Array(0..<100))
  }

  @Test func `a part without a record is emptied`() throws {
    try folder.put(Array(0..<100), "t.part")
    let part = try open()
    #expect(part.metadata == nil && part.position == 0 && folder.bytes("t.part") == [])
  }

  @Test func `a damaged record empties the part`() throws {
    let part = try open()
    try append(0..<100, part)
    try part.commit(story.metadata(1))
    part.close()
    var metadata = try #require(folder.bytes("t.part.meta"))
    metadata[20] ^= 1
    try folder.put(metadata, "t.part.meta")
    let again = try open()
    #expect(again.metadata == nil && again.position == 0 && folder.names == ["t.part"])
  }

  @Test func `a part shorter than its record is emptied`() throws {
    let part = try open()
    try append(0..<100, part)
    try part.commit(story.metadata(1))
    part.close()
    try folder.put(Array(0..<99), "t.part")
    let again = try open()
    #expect(again.metadata == nil && folder.names == ["t.part"])
  }

  @Test func `a record without its part is removed`() throws {
    let part = try open()
    try append(0..<100, part)
    try part.commit(story.metadata(1))
    part.close()
    try FileManager.default.removeItem(atPath: folder("t.part"))
    #expect(try open().metadata == nil)
    #expect(folder.names == ["t.part"])
  }

  @Test func `a new version replaces all old bytes`() throws {
    let part = try open()
    try append(0..<100, part)
    try part.commit(story.metadata(1))
    try part.startOver(story.metadata(2))
    #expect(part.metadata?.validator == Story.tag(2) && part.position == 0 && folder.bytes("t.part") == [])
    try append([5], part)
    try part.finish(total: 1, overwriting: true)
    #expect(folder.bytes("t") == [5] && folder.names == ["t"])
  }

  @Test func `rollBack discards uncommitted bytes`() throws {
    let part = try open()
    try append(0..<100, part)
    try part.commit(story.metadata(1))
    try append(0..<50, part)
    try part.rollBack()
    #expect(part.position == 100 && folder.bytes("t.part")?.count == 100)
  }

  @Test func `rollBack after startOver empties the part`() throws {
    let part = try open()
    try append(0..<100, part)
    try part.commit(story.metadata(1))
    try part.startOver(story.metadata(2))
    try append(0..<5, part)
    try part.rollBack()
    #expect(part.position == 0 && part.written.count == 0 && folder.bytes("t.part") == [])
  }

  @Test func `finishing removes a leftover temporary record`() throws {
    try folder.put([1], "t.part.meta.tmp")
    let part = try open()
    try append([1], part)
    try part.finish(total: 1, overwriting: true)
    #expect(folder.names == ["t"])
  }

  @Test func `an incomplete part is not renamed`() throws {
    let part = try open()
    try append(0..<100, part)
    let failure = #expect(throws: FileFailure.self) { try part.finish(total: 101, overwriting: true) }
    #expect(failure?.kind == .length && folder.names == ["t.part"])
    #expect(failure?.description == "The file “t.part” could not be renamed: 100 bytes were received instead of 101.")
    try append([100], part)
    try part.finish(total: 101, overwriting: true)
    #expect(folder.bytes("t") == Array(0...100))
  }

  @Test func `a truncated part is not renamed`() throws {
    let part = try open()
    try append(0..<100, part)
    try folder.put([1], "other")
    truncate(folder("t.part"), 50)
    let failure = #expect(throws: FileFailure.self) { try part.finish(total: 100, overwriting: true) }
    #expect(failure?.kind == .length && folder.bytes("t") == nil)
  }

  @Test func `a swapped part is not renamed`() throws {
    let part = try open()
    try append([1], part)
    try FileManager.default.removeItem(atPath: folder("t.part"))
    try folder.put([2], "t.part")
    let failure = #expect(throws: FileFailure.self) { try part.finish(total: 1, overwriting: true) }
    #expect(failure?.kind == .planted && folder.bytes("t") == nil)
    try part.abandon()
    #expect(folder.names == ["t.part"])
  }

  @Test func `an existing target is kept`() throws {
    try folder.put([7], "t")
    let part = try open()
    try append([1, 2], part)
    try part.commit(story.metadata(1))
    let failure = #expect(throws: FileFailure.self) { try part.finish(total: 2, overwriting: false) }
    #expect(failure?.kind == .exists && folder.bytes("t") == [7] && folder.bytes("t.part") == [1, 2])
    try part.finish(total: 2, overwriting: true)
    #expect(folder.bytes("t") == [1, 2] && folder.names == ["t"])
  }

  @Test func `a link as target is itself replaced`() throws {
    try folder.put([7], "other")
    try FileManager.default.createSymbolicLink(atPath: folder("t"), withDestinationPath: folder("other"))
    let part = try open()
    try append([1], part)
    try part.finish(total: 1, overwriting: true)
    #expect(folder.bytes("other") == [7] && folder.bytes("t") == [1])
  }

  @Test func `an interrupted rename by link is completed`() throws {
    let part = try open()
    try append([1, 2], part)
    try part.commit(story.metadata(1))
    part.close()
    try FileManager.default.linkItem(atPath: folder("t.part"), toPath: folder("t"))
    let again = try open()
    #expect(again.position == 0 && folder.bytes("t") == [1, 2] && folder.bytes("t.part") == [])
  }

  @Test func `a rename to the server's name is completed`() throws {
    let part = try open()
    try append([1, 2], part)
    var metadata = story.metadata(1)
    metadata.name = "book"
    try part.commit(metadata)
    part.close()
    try FileManager.default.linkItem(atPath: folder("t.part"), toPath: folder("book"))
    let again = try open()
    #expect(again.position == 0 && again.metadata == nil)
    #expect(folder.bytes("book") == [1, 2] && folder.bytes("t.part") == [])
  }

  @Test func `abandon removes all files`() throws {
    let part = try open()
    try append([1], part)
    try part.commit(story.metadata(1))
    try folder.put([1], "t.part.meta.tmp")
    try part.abandon()
    #expect(folder.names == [])
    let failure = #expect(throws: FileFailure.self) { try append([1], part) }
    #expect(failure?.kind == .closed)
  }

  @Test func `parallel ranges become one file`() throws {
    let whole = Story.bytes(1, 1_000)
    let part = try open()
    try part.startOver(story.metadata(1))
    for range in [600..<1_000, 0..<200] {
      try whole[range].withUnsafeBytes { try part.write($0, at: Int64(range.lowerBound)) }
    }
    try part.commit(story.metadata(1))
    part.close()
    let again = try open()
    #expect(again.committed.all == [0..<200, 600..<1_000] && again.position == 200)
    #expect(throws: FileFailure.self) { try again.finish(total: 1_000, overwriting: true) }
    try whole[200..<600].withUnsafeBytes { try again.write($0, at: 200) }
    try again.finish(total: 1_000, overwriting: true)
    #expect(folder.bytes("t") == whole)
  }

  @Test func `a stream keeps its own position`() throws {
    let part = try open()
    try [UInt8](100..<200).withUnsafeBytes { try part.write($0, at: 100) }
    try append(0..<150, part)
    #expect(part.position == 150 && part.written.all == [0..<200])
    try append(150..<200, part)
    #expect(try kept(part) == Array(0..<200))
  }

  @Test func `invalid offsets are rejected`() throws {
    let part = try open()
    for place in [Int64.min, -1, .max] {
      #expect(throws: FileFailure.self) { try [UInt8(1)].withUnsafeBytes { try part.write($0, at: place) } }
    }
  }

  @Test func `a large part is read in pieces`() throws {
    let part = try open()
    let bytes = [UInt8](repeating: 3, count: 2_500_000)
    try append(bytes, part)
    var sizes: [Int] = []
    try part.readKept { sizes.append($0.count) }
    #expect(sizes == [1 << 20, 1 << 20, 2_500_000 - 2 << 20])
  }

  @Test func `an error of the reader is rethrown`() throws {
    struct Own: Error {}
    let part = try open()
    try append([1], part)
    #expect(throws: Own.self) { try part.readKept { _ in throw Own() } }
    try append([2], part)
  }

  @Test func `reserving more than the disk has fails`() throws {
    let part = try open()
    let failure = #expect(throws: FileFailure.self) { try part.reserve(1 << 60) }
    #expect(failure?.kind == .full)
    try part.reserve(1 << 20)
    #expect(folder.bytes("t.part") == [])
  }

  @Test func `free space is checked without reservation`() throws {
    let part = try open(FaultyFiles(room: 1_000))
    try append(0..<100, part)
    try part.reserve(1_100)
    let failure = #expect(throws: FileFailure.self) { try part.reserve(1_101) }
    #expect(
      failure?.description
        == "The file “t.part” could not be allocated on the disk: 1001 more bytes are needed, but only 1000 are free.")
  }

  @Test func `a too long name fails at once`() throws {
    let longest = String(repeating: "n", count: FileName.limit)
    try PartFile.open(target: folder(longest)).abandon()
    let failure = #expect(throws: FileFailure.self) { try PartFile.open(target: folder(longest + "n")) }
    #expect(failure?.code == ENAMETOOLONG && failure?.description.contains("of at most 241 bytes") == true)
    #expect(folder.names.isEmpty)
  }

  @Test func `interrupted downloads are listed`() throws {
    for name in ["b", "a", "c"] {
      let part = try PartFile.open(target: folder(name))
      try append([1], part)
      if name != "c" { try part.commit(story.metadata(1)) }
    }
    try folder.put([1, 2], "junk.part.meta")
    try folder.put([1, 2], "junk.part")
    try folder.put([1, 2], ".part.meta")
    let found = try InterruptedPart.all(in: folder.path)
    #expect(found.map(\.target) == [folder("a"), folder("b")])
    #expect(found.allSatisfy { $0.metadata.committed == 1 })
    #expect(throws: FileFailure.self) { try InterruptedPart.all(in: folder("nowhere")) }
  }

  @Test(arguments: [["\u{e9}", "e\u{301}"], ["x\u{600}"]])
  func `names are compared by bytes`(names: [String]) throws {
    for name in names {
      let part = try PartFile.open(target: folder(name))
      try append([1], part)
      try part.commit(story.metadata(1))
    }
    let found = try InterruptedPart.all(in: folder.path).map { ByteText($0.target) }
    #expect(found.count == names.count && Set(found) == Set(names.map { ByteText(folder($0)) }))
  }
}
