import Foundation
import Testing

@testable import ErrandTransfer

/// A download of a resource that has versions, played against a file system without any network.
struct Story {
  /// The bytes of the resource.
  var length = 1_000
  /// The bytes of a piece.
  var piece = 90
  /// After how many pieces a commit comes.
  var committing = 3
  /// The pieces that come before the line breaks; nil for all.
  var breaking: Int?
  var target = "/d/t"

  struct LineBroke: Error {}

  static func bytes(_ version: Int, _ length: Int) -> [UInt8] {
    (0..<length).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8 &+ version &* 77 &+ 1) }
  }

  static func tag(_ version: Int) -> Validator { .entityTag("\"v\(version)\"") }

  func record(_ version: Int) -> PartRecord {
    let request = RequestIdentity(method: "GET", url: "http://h/t", variant: "0")
    return PartRecord(request: request, validator: Self.tag(version), total: Int64(length), now: 1)
  }

  /// Opens, goes on where it may, writes the rest and gives the file its name. What was kept is compared with what the
  /// record says it is.
  func run(_ version: Int, _ files: any TransferFiles) throws {
    let part = try PartFile.open(target: target, files: files)
    defer { part.close() }
    try checkKept(part)
    let whole = Self.bytes(version, length)
    var record = record(version)
    if let found = part.record, found.validator == record.validator {
      record = found
    } else {
      try part.startOver(record)
      try part.reserve(Int64(length))
    }
    var count = 0
    while part.position < Int64(length) {
      if count == breaking { throw LineBroke() }
      let start = Int(part.position)
      try whole[start..<min(start + piece, length)].withUnsafeBytes { try part.append($0) }
      count += 1
      if count % committing == 0 { record = try part.commit(record) }
    }
    try part.finish(total: Int64(length), overwriting: true, permissions: 0o644)
  }

  /// Whether the bytes that a record speaks of are those of its version.
  func checkKept(_ part: PartFile) throws {
    guard let record = part.record else {
      #expect(part.written.count == 0)
      return
    }
    var kept: [UInt8] = []
    try part.readKept { kept += Array($0) }
    let isRight = (0...9).contains { version in
      record.validator == Self.tag(version) && kept == Array(Self.bytes(version, length).prefix(Int(record.committed)))
    }
    #expect(isRight && kept.count == record.committed, "the part is not what its record says")
  }
}
