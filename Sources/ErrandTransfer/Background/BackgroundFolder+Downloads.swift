import ErrandCore
import Foundation

extension BackgroundFolder where Record == BackgroundDownloadRecord {
  /// Holds the file of a download against all that is known of it. Returns its length and what it was checked by.
  func check(_ id: String, _ check: BackgroundCheck) throws -> (bytes: Int64, checkedBy: [String]) {
    let path = answerFile(of: id)
    let file = try files.open(path, .reading)
    defer { try? files.close(file) }
    let length = try files.status(of: file).length
    try check.judge(length: length, start: try read(file, min(length, Int64(BackgroundCheck.refusedLimit))))
    let wanted = try check.checksums()
    if wanted.isEmpty { return (length, []) }
    let hashes = try wanted.map { try $0.makeHash() }
    try pieces(of: file, length) { piece in for hash in hashes { hash.update(piece) } }
    for (checksum, hash) in zip(wanted, hashes) { try BackgroundCheck.hold(hash.finish(), against: checksum) }
    return (length, Set(wanted.map(\.algorithm.name)).sorted())
  }

  private func pieces(of file: Int32, _ length: Int64, _ body: (UnsafeRawBufferPointer) -> Void) throws {
    let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 20, alignment: 16)
    defer { memory.deallocate() }
    var place: Int64 = 0
    while place < length {
      let count = try files.read(file, into: memory, at: place)
      if count == 0 { throw FileFailure(.read, path, .length, detail: "it ends before its length") }
      body(UnsafeRawBufferPointer(rebasing: memory[..<count]))
      place += Int64(count)
    }
  }

  /// Brings the file of a download to the disk and gives it its last name.
  func placeFile(of id: String, at target: String, replacing: Bool, permissions: UInt16) throws {
    let path = answerFile(of: id)
    let file = try files.open(path, .existing)
    defer { try? files.close(file) }
    try files.setPermissions(beforeNaming: file, to: permissions)
    try files.synchronize(file)
    if replacing { try files.rename(path, to: target) } else { try files.renameExclusively(path, to: target) }
    // The file is there, whole: a failure here is none of the download.
    try? files.setPermissions(afterNaming: file, to: permissions)
    try? files.synchronizeFolder(PartNames.folder(of: target))
  }

  /// Whether a file can be given a name at a place in one step. Throws where its folder is not there.
  func canPlace(at target: String) throws -> Bool {
    let folder = PartNames.folder(of: target)
    let names = [path, folder].map { $0.hasSuffix("/") ? $0 : $0 + "/" }
    let devices = try names.map { name in try files.status(at: name + ".")?.identity.device }
    guard let there = devices.last ?? nil else {
      throw FileFailure(.status, folder, .notFound, detail: "the folder is not there")
    }
    return devices.first == there
  }
}
