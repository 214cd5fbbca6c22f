import Errand
import ErrandTransfer
import Foundation
import Testing

@testable import ErrandCommand

/// Each option reaches the request.
struct ShellDownloadTests {
  struct Case: Sendable, CustomTestStringConvertible {
    let words: [String]
    let holds: @Sendable (ShellDownload, Download) -> Bool
    var testDescription: String { words.joined(separator: " ") }
  }

  private static let sum = String(repeating: "0a", count: 32)

  private static let cases = [
    Case(words: []) { request, download in
      download.replaces && download.resumes && download.resource == nil && download.checksum == nil
        && download.whenBusy == .fail && download.parallel == 1 && download.permissions == 0o644
        && !download.isNamedByServer && !download.digests.isEmpty && request.timeouts == .inherited
    },
    Case(words: []) { !$1.acceptsExisting && !$0.options.continues },
    Case(words: ["-n"]) { !$1.replaces && $0.credential == .none },
    Case(words: ["-c"]) { $1.acceptsExisting && $1.resumes && $0.options.continues },
    Case(words: ["--fresh"]) { !$1.resumes && $0.credential == .none },
    Case(words: ["-J"]) { $1.isNamedByServer && !$1.replaces },
    Case(words: ["-J", "--replace"]) { $1.replaces && $1.isNamedByServer },
    Case(words: ["--replace"]) { $1.replaces && !$1.isNamedByServer },
    Case(words: ["--resource", "film"]) { $1.resource == "film" && !$1.isNamedByServer },
    Case(words: ["--sha256", sum]) { $1.checksum?.hex == sum && !$1.isNamedByServer },
    Case(words: ["--wait"]) { $1.whenBusy == .wait && !$1.isNamedByServer },
    Case(words: ["--parallel", "3"]) { $1.parallel == 3 && !$1.isNamedByServer },
    Case(words: ["--timeout", "2"]) { $0.timeouts == Timeouts(total: .seconds(2)) && $1.replaces },
    Case(words: ["--user", "a:b"]) { $0.credential == .basic(user: "a", password: "b") && $1.replaces },
  ]

  @Test(arguments: cases) func `each option reaches the request`(_ check: Case) async throws {
    try await DownloadFolder.with { folder async throws in
      let options = try DownloadParser.parse(["http://h.example/film", "-d", folder.path] + check.words)
      let job = try #require(try DownloadPlan(options).jobs().jobs.first)
      let request = ShellDownload(job: job, options: options, bandwidth: nil, freshURL: nil)
      #expect(check.holds(request, try #require(request.download)))
    }
  }

  @Test func `a resumed file keeps its original choices`() async throws {
    try await DownloadFolder.with { folder async throws in
      let url = try HTTPURL("http://h.example/film")
      let target = try Download.into(folder.url, named: .fromServer).partTarget(for: url)
      let part = try PartFile.open(target: target)
      try Data(count: 10).withUnsafeBytes { try part.write($0, at: 0) }
      let identity = RequestIdentity(method: "GET", url: "http://h.example/film", variant: "0")
      let choices = RecordedChoices(permissions: 0o600, replaces: false, maximumBytes: 50, isNamedByServer: true)
      try part.commit(
        PartMetadata(request: identity, validator: .entityTag("\"v1\""), total: 100, choices: choices, now: 1))
      part.close()
      for (words, isNamed) in [(["-c", "-d", folder.path], true), (["-c", "-o", target], false)] {
        let options = try DownloadParser.parse(words)
        let job = try #require(try DownloadPlan(options).jobs().jobs.first)
        let download = job.download
        #expect(download.isNamedByServer == isNamed && download.permissions == 0o600)
        #expect(!download.replaces && download.maximumBytes == 50)
      }
    }
  }
}
