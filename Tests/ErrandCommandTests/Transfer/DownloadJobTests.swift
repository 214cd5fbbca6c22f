import ErrandCore
import ErrandTransfer
import Foundation
import Testing

@testable import ErrandCommand

struct DownloadJobTests {
  private static let choices = RecordedChoices(permissions: 0o644, replaces: true)

  @Test func `bytes after a gap are kept too`() async throws {
    try await DownloadFolder.with { folder async throws in
      let file = folder.url.appending(path: "film", directoryHint: .notDirectory)
      let job = DownloadJob("http://h.example/film", to: file)
      #expect(job.kept == 0)
      let request = RequestIdentity(method: "GET", url: "http://h.example/film", variant: "0")
      let part = try PartFile.open(target: folder.file("film"))
      for place: Int64 in [0, 50] { try Data(count: 10).withUnsafeBytes { try part.write($0, at: place) } }
      try part.commit(
        PartMetadata(request: request, validator: .entityTag("\"v1\""), total: 100, choices: Self.choices, now: 1))
      part.close()
      #expect(job.kept == 20)
    }
  }

  /// Interrupted downloads of files with these names and URLs.
  private func interrupt(_ files: [(name: String, url: String)], in folder: DownloadFolder) throws {
    for (name, url) in files {
      let request = RequestIdentity(method: "GET", url: url, variant: "0")
      let part = try PartFile.open(target: folder.file(name))
      try Data(count: 10).withUnsafeBytes { try part.append($0) }
      try part.commit(PartMetadata(request: request, validator: nil, total: 100, choices: Self.choices, now: 1))
      part.close()
    }
  }

  @Test(arguments: [["--bearer", "t"], ["--user", "a:b"], ["-H", "X-Api-Key: k"]])
  func `one credential for several servers is refused`(words: [String]) async throws {
    try await DownloadFolder.with { folder async throws in
      try interrupt([("film", "http://h.example/film"), ("song", "http://i.example/song")], in: folder)
      let both = DownloadPlan(try DownloadParser.parse(["-c", "-d", folder.path] + words))
      let refusal = #expect(throws: Refusal.self) { try both.jobs() }
      #expect(refusal?.code == .usage && refusal?.description.contains("from 2 servers") == true)
      let one = DownloadPlan(try DownloadParser.parse(["-c", "-o", folder.file("song")] + words))
      #expect(try one.jobs().jobs.map(\.url) == ["http://i.example/song"])
      let plain = DownloadPlan(try DownloadParser.parse(["-c", "-d", folder.path, "-H", "X-Page: 1"]))
      #expect(try plain.jobs().jobs.count == 2)
    }
  }

  @Test func `one checksum for several parts is refused`() async throws {
    try await DownloadFolder.with { folder async throws in
      try interrupt([("film", "http://h.example/film"), ("song", "http://h.example/song")], in: folder)
      let sum = String(repeating: "0", count: 64)
      let both = DownloadPlan(try DownloadParser.parse(["-c", "-d", folder.path, "--sha256", sum]))
      let refusal = #expect(throws: Refusal.self) { try both.jobs() }
      #expect(refusal?.code == .usage && refusal?.description.contains("2 interrupted downloads") == true)
      let one = DownloadPlan(try DownloadParser.parse(["-c", "-o", folder.file("song"), "--sha256", sum]))
      #expect(try one.jobs().jobs.map(\.checksum?.hex) == [sum])
      let token = DownloadPlan(try DownloadParser.parse(["-c", "-d", folder.path, "--bearer", "t"]))
      #expect(try token.jobs().jobs.count == 2)
    }
  }

  @Test(
    arguments: [
      ("POST", nil, "“film” was started with the method POST"),
      ("GET", RecordedChecksum(algorithm: "md5", hex: "00"), "“film” requires a md5 checksum"),
    ] as [(String, RecordedChecksum?, String)])
  func `a part of another program is refused`(method: String, sum: RecordedChecksum?, words: String) async throws {
    try await DownloadFolder.with { folder async throws in
      let request = RequestIdentity(method: method, url: "http://h.example/film", variant: "0")
      let part = try PartFile.open(target: folder.file("film"))
      try Data(count: 10).withUnsafeBytes { try part.append($0) }
      try part.commit(
        PartMetadata(
          request: request, validator: nil, total: 100, checksum: sum, choices: Self.choices, now: 1))
      part.close()
      let plan = DownloadPlan(try DownloadParser.parse(["-c", "-d", folder.path]))
      let refusal = #expect(throws: Refusal.self) { try plan.jobs() }
      #expect(refusal?.description.contains(words) == true)
    }
  }
}
