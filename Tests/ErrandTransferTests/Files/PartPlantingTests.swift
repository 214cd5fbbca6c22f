import Foundation
import Testing

@testable import ErrandTransfer

/// Files that another process may place at the path of a part or its record.
struct PartPlantingTests: PartSuite {
  let folder: TransferFolder

  init() throws { folder = try TransferFolder() }

  @Test func `a planted symbolic link is rejected`() throws {
    for name in ["t.part", "t.part.meta"] {
      try folder.put([1, 2, 3], "victim")
      try FileManager.default.createSymbolicLink(atPath: folder(name), withDestinationPath: folder("victim"))
      let failure = #expect(throws: FileFailure.self) { try open() }
      #expect(failure?.kind == .planted && failure?.name == name)
      #expect(
        failure?.description.contains("a symbolic link is in the place of the file; remove it and try again") == true)
      #expect(folder.bytes("victim") == [1, 2, 3])
      try FileManager.default.removeItem(atPath: folder(name))
      try? FileManager.default.removeItem(atPath: folder("t.part"))
    }
  }

  @Test func `a dangling link is rejected`() throws {
    try FileManager.default.createSymbolicLink(atPath: folder("t.part"), withDestinationPath: folder("nowhere"))
    #expect(throws: FileFailure.self) { try open() }
    #expect(folder.bytes("nowhere") == nil)
  }

  @Test func `a link as temporary record is replaced`() throws {
    try folder.put([1, 2, 3], "victim")
    try FileManager.default.createSymbolicLink(atPath: folder("t.part.meta.tmp"), withDestinationPath: folder("victim"))
    let part = try open()
    try append([1], part)
    try part.commit(story.metadata(1))
    #expect(folder.bytes("victim") == [1, 2, 3] && folder.names == ["t.part", "t.part.meta", "victim"])
  }

  @Test func `a hard link is rejected`() throws {
    for name in ["t.part", "t.part.meta"] {
      try folder.put([1, 2, 3], "victim")
      try FileManager.default.linkItem(atPath: folder("victim"), toPath: folder(name))
      let failure = #expect(throws: FileFailure.self) { try open() }
      #expect(failure?.kind == .planted && failure?.name == name)
      #expect(folder.bytes("victim") == [1, 2, 3])
      try FileManager.default.removeItem(atPath: folder(name))
    }
  }

  @Test func `a pipe and a folder are rejected`() throws {
    mkfifo(folder("t.part"), 0o600)
    #expect(throws: FileFailure.self) { try open() }
    try FileManager.default.removeItem(atPath: folder("t.part"))
    for name in ["t.part", "t.part.meta"] {
      try FileManager.default.createDirectory(atPath: folder(name), withIntermediateDirectories: true)
      let failure = #expect(throws: FileFailure.self) { try open() }
      #expect(failure?.kind == .planted, "\(name): \(String(describing: failure))")
      try FileManager.default.removeItem(atPath: folder(name))
    }
  }

  /// NFS gives the files of root to another user.
  @Test(.enabled(if: geteuid() == 0, "only root gives files away"))
  func `a new file may have another owner`() throws {
    let path = folder("t.part")
    let part = try PartFile.open(target: folder("t"), files: Interloper { chown(path, 12_345, 12_345) })
    try [UInt8(1)].withUnsafeBytes { try part.append($0) }
    #expect(!part.isOwn)
    try part.finish(total: 1, overwriting: true)
    #expect(folder.names == ["t"] && folder.bytes("t") == [1])
  }

  @Test(.enabled(if: geteuid() == 0, "only root gives files away"))
  func `another user's file is rejected`() throws {
    for name in ["t.part", "t.part.meta"] {
      try folder.put([1], name)
      chown(folder(name), 12_345, 12_345)
      let failure = #expect(throws: FileFailure.self) { try open() }
      #expect(failure?.kind == .planted && failure?.description.contains("another user") == true)
      try FileManager.default.removeItem(atPath: folder(name))
    }
  }
}
