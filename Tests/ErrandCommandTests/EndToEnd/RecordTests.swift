import Errand
import ErrandCore
import ErrandRecord
import Foundation
import TestSupport
import Testing

@testable import ErrandCommand

struct RecordTests {
  private func run(_ words: String...) async throws -> BuiltCommand.Run {
    try await BuiltCommand.run(["record"] + words)
  }

  @Test func `calls are listed with their outcomes`() async throws {
    let record = try await RecordFixture()
    let run = try await run(record.path)
    #expect(run.status == 0 && run.error == "")
    let rows = run.text.split(separator: "\n")
    try #require(rows.count == 4)
    #expect(rows[0].contains(/^id +started +status +time +sent +request +outcome$/))
    #expect(rows[1].contains(/^\d+ +\S+ +200 +\S+ m?s +2 +GET http\S+\/feed\?token=••• +network$/), "\(rows[1])")
    #expect(rows[2].contains(/404 .*\/missing\S+ +validate\/status$/), "\(rows[2])")
    let json = try JSONValue(parsing: try await self.run(record.path, "--json").output)
    #expect(json["calls"]?.arrayValue?.compactMap { $0["status"]?.intValue } == [200, 404, 200])
  }

  @Test func `decisions of a call are printed`() async throws {
    let record = try await RecordFixture()
    let id = try #require(try record.ids().first)
    let run = try await run(record.path, "why", id)
    #expect(run.status == 0)
    #expect(run.text.contains("retried at once: status 503, attempt 2 of 3"))
    #expect(run.text.contains("→ 503") && run.text.contains("→ 200"))
    let json = try JSONValue(parsing: try await self.run(record.path, "why", id, "--json").output)
    #expect(json["decisions"][1]["kind"]?.stringValue == "retried" && json["exchanges"][1]["status"]?.intValue == 200)
  }

  @Test func `two calls are compared`() async throws {
    let record = try await RecordFixture()
    let ids = try record.ids()
    let run = try await run(record.path, "diff", ids[0], ids[1])
    #expect(run.status == 0 && run.text.contains("  status\n    - 200\n    + 404\n"), "\(run.text)")
    #expect(run.text.contains("- retried at once"))
    let same = try await self.run(record.path, "diff", ids[0], ids[0])
    #expect(same.text.contains("do not differ"))
  }

  @Test func `two files are compared`() async throws {
    let (record, other) = (try await RecordFixture(), try await RecordFixture())
    // The same server name, so that the calls are the same.
    var archive = try HTTPArchive(contentsOf: URL(filePath: other.path))
    for index in archive.entries.indices {
      let url = archive.entries[index].request.url
      archive.entries[index].request.url = url.replacingOccurrences(of: other.origin, with: record.origin)
    }
    let last = archive.entries.count - 1
    archive.entries[last].details?.end?.status = 500
    let file = other.folder.appending(path: "other.har")
    try archive.serialized().write(to: file)
    let run = try await run(record.path, "diff", file.path)
    #expect(run.status == 0 && run.text.contains("  status\n    - 200\n    + 500\n"), "\(run.text)")
    #expect(run.text.hasSuffix("2 equal, 1 different, 0 only in the first, 0 only in the second\n"), "\(run.text)")
    let json = try JSONValue(parsing: try await self.run(record.path, "diff", file.path, "--json").output)
    #expect(json["equal"]?.intValue == 2 && json["different"][0]["differences"][0]["what"]?.stringValue == "status")
  }

  @Test func `request is printed as a curl command`() async throws {
    let record = try await RecordFixture()
    let run = try await run(record.path, "curl", "last")
    #expect(run.status == 0 && run.text.hasPrefix("curl -X POST "))
    #expect(run.text.contains("'{\"city\":\"Paris\",\"password\":\"•••\"}'"), "\(run.text)")
  }

  @Test func `record is written as an archive`() async throws {
    let record = try await RecordFixture()
    let run = try await run(record.path, "har")
    let archive = try HTTPArchive(parsing: run.output)
    #expect(run.status == 0 && archive.entries.count == 4 && archive.calls.count == 3)
  }

  @Test func `record is written as a page`() async throws {
    let record = try await RecordFixture()
    let run = try await run(record.path, "page")
    #expect(run.status == 0 && run.text.hasPrefix("<!DOCTYPE html>"))
    #expect(run.text.contains("/feed?token=•••") && run.text.contains("retried at once"))
  }

  @Test(arguments: FlightRecording.Detail.allCases)
  func `no output shows a secret`(detail: FlightRecording.Detail) async throws {
    let record = try await RecordFixture(detail: detail)
    let text = String(decoding: try Data(contentsOf: URL(filePath: record.path)), as: UTF8.self)
    #expect(text.contains(RecordFixture.marker) == (detail == .everything))
    let ids = try record.ids()
    for words in [
      ["list"], ["list", "--json"], ["diff", ids[0], ids[1]], ["diff", record.path], ["har"], ["page"],
      ["diff", ids[1], ids[2], "--json"],
    ] + ids.flatMap({ [["why", $0], ["why", $0, "--json"], ["curl", $0]] }) {
      let run = try await BuiltCommand.run(["record", record.path] + words)
      #expect(run.status == 0 && !run.text.contains(RecordFixture.marker), "\(words): \(run.text)")
    }
  }

  /// The file of a record whose calls are in two runs, in which numbers repeat. The last call has a long URL.
  private func recordOfTwoRuns(_ record: RecordFixture) throws -> String {
    var archive = try HTTPArchive(contentsOf: URL(filePath: record.path))
    var other = archive.entries
    for index in other.indices { other[index].details?.run = "other" }
    other[other.count - 1].request.url += "/" + String(repeating: "a", count: 1_000)
    archive.entries += other
    let file = record.folder.appending(path: "runs.har")
    try archive.serialized().write(to: file)
    return file.path(percentEncoded: false)
  }

  @Test func `id is one line of a comparison`() async throws {
    let record = try await RecordFixture()
    var archive = try HTTPArchive(contentsOf: URL(filePath: record.path))
    for index in archive.entries.indices { archive.entries[index].details?.run = "a\nThe calls do not differ.\u{1B}" }
    let calls = archive.calls
    let text = RecordReport.diff(calls[0], calls[1]).text
    #expect(text.hasPrefix("#a␊The calls do not differ.␛:\(calls[0].number) GET "), "\(text)")
    #expect(!text.contains("\nThe calls"))
  }

  @Test(arguments: ["har", "page"]) func `an archive controls no terminal`(task: String) async throws {
    let record = try await RecordFixture()
    var archive = try HTTPArchive(contentsOf: URL(filePath: record.path))
    let reason = "\u{9B}2J\u{202E}\u{7F}"
    archive.entries[0].response.reason = reason
    let file = record.folder.appending(path: "hostile.har").path(percentEncoded: false)
    try archive.serialized().write(to: URL(filePath: file))
    let run = try await run(file, task)
    #expect(run.status == 0 && run.text.contains(#""\u009b2J\u202e\u007f""#))
    #expect(!run.text.unicodeScalars.contains { [0x7F, 0x9B, 0x202E].contains($0.value) })
    if task == "har" { #expect(try HTTPArchive(parsing: run.output).entries[0].response.reason == reason) }
  }

  @Test func `hidden scalars are not changed`() async throws {
    let record = try await RecordFixture()
    var archive = try HTTPArchive(contentsOf: URL(filePath: record.path))
    let last = archive.entries.count - 1
    let url = archive.entries[last].request.url + "/a\u{200B}\u{202E}b"
    archive.entries[last].request.url = url
    let file = record.folder.appending(path: "hidden.har").path(percentEncoded: false)
    try archive.serialized().write(to: URL(filePath: file))
    let json = try await run(file, "why", "last", "--json")
    #expect(json.text.contains(#"/a\u200b\u202eb"#), "\(json.text)")
    #expect(try JSONValue(parsing: json.output)["url"]?.stringValue?.utf8.elementsEqual(url.utf8) == true)
    let escaped = #"/a\342\200\213\342\200\256b'"#
    #expect(try await run(file, "curl", "last").text.contains(escaped))
    let line = """
      {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "curl", "arguments": {"call": "last"}}}
      """
    let response = try JSONValue(parsing: try #require(MCPServer(file: file).respond(to: Data(line.utf8))))
    #expect(response["result"]["content"][0]["text"]?.stringValue?.contains(escaped) == true)
  }

  @Test func `number of several calls is refused`() async throws {
    let record = try await RecordFixture()
    let (file, id) = (try recordOfTwoRuns(record), try record.ids()[0])
    let run = try await run(file, "why", id)
    #expect(run.status == ExitCode.notStored.rawValue)
    #expect(run.error.contains("has 2 calls “\(id)” of different runs") && run.error.contains("“other:\(id)”"))
    #expect(try await self.run(file, "why", "other:\(id)").status == 0)
  }

  @Test func `long URL is shortened in the list`() async throws {
    let record = try await RecordFixture()
    let rows = try await run(try recordOfTwoRuns(record)).text.split(separator: "\n")
    #expect(rows.count == 7 && rows.allSatisfy { $0.count < RecordReport.longestRequest + 100 })
    #expect(rows.last?.contains("aaa…aaa") == true)
  }

  @Test func `ids that an agent sees are unique`() async throws {
    let record = try await RecordFixture()
    let file = try recordOfTwoRuns(record)
    let server = MCPServer(file: file)
    func call(_ tool: String, _ arguments: String) throws -> String {
      let line = """
        {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "\(tool)", "arguments": \(arguments)}}
        """
      let response = try JSONValue(parsing: try #require(server.respond(to: Data(line.utf8))))
      return response["result"]["content"][0]["text"]?.stringValue ?? ""
    }
    // Only calls of one run are shown.
    let list = try call("list", "{\"limit\": 1}")
    let id = try #require(try record.ids().last)
    #expect(list.contains("other:\(id) ") && list.contains("5 earlier calls are not shown"))
    #expect(try call("why", "{\"call\": \"other:\(id)\"}").hasPrefix("#other:\(id) "))
    #expect(try call("list", "{\"contains\": \"\(RecordFixture.marker)\"}").hasPrefix("None of the "))
  }

  @Test func `errors name the file`() async throws {
    let record = try await RecordFixture()
    let missing = try await run("/nowhere/a.flight")
    #expect(missing.status == ExitCode.noStore.rawValue && missing.error.contains("“/nowhere/a.flight” cannot be read"))
    let noCall = try await run(record.path, "why", "99999")
    #expect(noCall.status == ExitCode.notStored.rawValue && noCall.error.contains("has no call “99999”"))
    let broken = record.folder.appending(path: "broken.har")
    try Data("{\"log\": {\"version\": \"1.2\"}}".utf8).write(to: broken)
    let damaged = try await run(broken.path)
    #expect(damaged.status == ExitCode.data.rawValue)
    #expect(damaged.error.contains("broken.har”: log.creator is missing"), "\(damaged.error)")
    #expect(try await run(record.path, "frob").status == ExitCode.usage.rawValue)
  }
}
