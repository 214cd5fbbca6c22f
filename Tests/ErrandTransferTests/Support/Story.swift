import Foundation
import Testing

@testable import ErrandTransfer

/// A download of a resource with versions, run on a file system without any network.
struct Story {
  /// The length of the resource in bytes.
  var length = 1_000
  /// The length of a piece in bytes.
  var piece = 90
  /// The number of pieces between two commits.
  var committing = 3
  /// The number of pieces before the connection breaks; nil if it does not break.
  var breaking: Int?
  var target = "/d/t"

  struct LineBroke: Error {}

  static func bytes(_ version: Int, _ length: Int) -> [UInt8] {
    (0..<length).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8 &+ version &* 77 &+ 1) }
  }

  static func tag(_ version: Int) -> Validator { .entityTag("\"v\(version)\"") }

  func metadata(_ version: Int) -> PartMetadata {
    let request = RequestIdentity(method: "GET", url: "http://h/t", variant: "0")
    return PartMetadata(
      request: request, validator: Self.tag(version), total: Int64(length), choices: PartMetadataTests.choices, now: 1)
  }

  /// Opens the part, resumes it if possible, writes the rest and renames it to the target. The kept bytes are compared
  /// with the record.
  func run(_ version: Int, _ files: any TransferFiles) throws {
    let part = try PartFile.open(target: target, files: files)
    defer { part.close() }
    try checkKept(part)
    let whole = Self.bytes(version, length)
    var metadata = metadata(version)
    if let found = part.metadata, found.validator == metadata.validator {
      metadata = found
    } else {
      try part.startOver(metadata)
      try part.reserve(Int64(length))
    }
    var count = 0
    while part.position < Int64(length) {
      if count == breaking { throw LineBroke() }
      let start = Int(part.position)
      try whole[start..<min(start + piece, length)].withUnsafeBytes { try part.append($0) }
      count += 1
      if count % committing == 0 { metadata = try part.commit(metadata) }
    }
    try part.finish(total: Int64(length), overwriting: true, permissions: 0o644)
  }

  /// Checks that the recorded bytes are those of the recorded version.
  func checkKept(_ part: PartFile) throws {
    guard let metadata = part.metadata else {
      #expect(part.written.count == 0)
      return
    }
    var kept: [UInt8] = []
    try part.readKept { kept += Array($0) }
    let isRight = (0...9).contains { version in
      metadata.validator == Self.tag(version)
        && kept == Array(Self.bytes(version, length).prefix(Int(metadata.committed)))
    }
    #expect(isRight && kept.count == metadata.committed, "the part is not what its record says")
  }
}
