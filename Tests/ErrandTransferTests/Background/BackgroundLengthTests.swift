import ErrandCore
import ErrandTransfer
import Foundation
import Testing

@testable import ErrandBackground

/// Response files of the wrong length. The error is the same, whichever check detects the length.
struct BackgroundLengthTests {
  private static let message = "The download failed: its file has 3 bytes instead of 4. Start the download again."

  private static func stored(_ status: Int, _ fields: HTTPFields, bytes: Int64) -> StoredResponse {
    StoredResponse(ResponseHead(status: status, fields: fields), Samples.url, to: .download, bytes: bytes)
  }

  @Test(arguments: [
    stored(200, ["Content-Length": "4"], bytes: 3), stored(206, ["Content-Range": "bytes 1-3/4"], bytes: 3),
    stored(200, [:], bytes: 4),
  ])
  func `a wrong length gives one error with a cure`(stored: StoredResponse) {
    let check = BackgroundCheck(record: Samples.record("a"), stored: stored, algorithms: [])
    let error = #expect(throws: APIError.self) { try check.judge(length: 3, start: Data("foo".utf8)) }
    #expect(error?.stage == .transfer && error?.code == .interrupted && error?.message == Self.message)
  }

  private final class NoHash: ChecksumHash {
    func update(_ bytes: UnsafeRawBufferPointer) {}
    func finish() -> Data { Data() }
  }

  @Test func `a file truncated during its check gives the same error`() throws {
    let folder = try TransferFolder()
    try folder.put(Array("food".utf8), "a.bytes")
    let path = folder("a.bytes")
    let algorithm = DigestAlgorithm(name: "sha-256", length: 1) {
      _ = truncate(path, 3)
      return NoHash()
    }
    let check = BackgroundCheck(
      record: Samples.record("a", digests: ["sha-256"]),
      stored: Self.stored(200, ["Repr-Digest": "sha-256=:AA==:"], bytes: 4), algorithms: [algorithm])
    let files = BackgroundFolder<BackgroundDownloadState>(path: folder.path, files: SystemFiles())
    let error = #expect(throws: APIError.self) { try files.check("a", check) }
    #expect(error?.stage == .transfer && error?.code == .interrupted && error?.message == Self.message)
  }

  @Test func `a truncated response to an upload has its own cure`() {
    let stored = StoredResponse(ResponseHead(status: 200), Samples.url, to: .upload, bytes: 4)
    let error = #expect(throws: APIError.self) { try stored.check(length: 3, of: .upload) }
    #expect(error?.code == .interrupted)
    #expect(
      error?.message == "The upload failed: its response has 3 bytes instead of 4. " + BackgroundKind.upload.cure)
  }
}
