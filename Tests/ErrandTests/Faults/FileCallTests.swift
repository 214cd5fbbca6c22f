#if os(Linux)
  import Errand
  import ErrandSupport
  import ErrandTesting
  import Foundation
  import TestSupport
  import Testing

  /// Every file call of a scenario fails in turn, in a separate process whose C library calls are replaced, also for
  /// SQLite. `DownloadFaultTests` covers downloads over their own file system.
  @Suite(.serialized) struct FileCallTests {
    /// Plays a scenario and returns the number of its file calls.
    private func calls(_ scenario: String, _ url: String, _ place: URL, _ code: Int32) async throws -> Int {
      let run = try await BuiltProgram("FaultProbe").run([scenario, url, place.path, "\(code)"])
      try #require(run.status == 0, "\(run.text)\(run.error)")
      return try #require(Int(run.text.trimmingCharacters(in: .whitespacesAndNewlines)))
    }

    @Test(arguments: [EIO, ENOSPC]) func `calls succeed without a working cache`(code: Int32) async throws {
      let versions = Locked<[String: Int]>([:])
      let (filler, largeFiller) = (String(repeating: "x", count: 10), String(repeating: "x", count: 150_000))
      let server = try LoopbackServer { request in
        let isChange = request.method == "POST"
        let version = versions.withLock { versions in
          if isChange { versions[request.path, default: 0] += 1 }
          return versions[request.path] ?? 0
        }
        if isChange { return .ok("\(version)") }
        let end = request.path.hasSuffix("/large") ? largeFiller : filler
        return .ok("\(request.path) \(version) \(end)").setting("Cache-Control", to: "max-age=600")
      }
      let folder = try UploadFolder()
      let calls = try await calls("cache", server.url, folder.url, code)
      // Under a sanitizer the C library calls are not replaced.
      #expect(calls > 60 || isSanitized, "\(calls)")
    }

    @Test(arguments: [EIO, EACCES]) func `upload is complete or fails`(code: Int32) async throws {
      let folder = try UploadFolder()
      let bytes = UploadFolder.bytes(300_000)
      let file = try folder.file("film.bin", bytes)
      let server = try LoopbackServer { request in
        Data(request.body) == bytes ? .ok("taken") : .status(400, body: "\(request.bodyLength) bytes")
      }
      let calls = try await calls("upload", server.url, file, code)
      #expect(calls > 8 || isSanitized, "\(calls)")
      #expect(server.requests.allSatisfy { $0.bodyLength == bytes.count })
    }
  }
#endif
