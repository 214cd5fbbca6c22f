import Errand
import ErrandCore
import Foundation
import TestSupport
import Testing

@testable import ErrandCommand

struct MCPTests {
  private static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent()

  /// The report of the client of PyPI's package `mcp`, which has called all tools.
  private func report(_ mode: String, _ record: RecordFixture) async throws -> JSONValue {
    let python = Self.root.appending(path: ".servers/python/bin/python")
    try #require(
      FileManager.default.isExecutableFile(atPath: python.path),
      "PyPI's mcp is not installed: run the tests by `make test`, which installs it")
    let script = Self.root.appending(path: "Scripts/servers/mcp_client.py").path
    let ids = try record.ids()
    let run = try await BuiltProgram(at: python).run(
      [script, try BuiltProgram("errand").path, mode, record.path, ids[0], ids[1]])
    try #require(run.status == 0, "\(run.error)")
    return try JSONValue(parsing: run.output)
  }

  @Test(arguments: ["auto", "legacy"], FlightRecording.Detail.allCases)
  func `client of PyPI calls all tools`(mode: String, detail: FlightRecording.Detail) async throws {
    let record = try await RecordFixture(detail: detail)
    let report = try await report(mode, record)
    #expect(report["revision"]?.stringValue == "2025-11-25")
    #expect(report["tools"]?.arrayValue?.compactMap(\.stringValue) == ["list", "why", "diff", "curl"])
    func text(_ tool: String) -> String { report[tool]["text"]?.stringValue ?? "" }
    #expect(text("list").contains("/feed?") && text("list").contains("/send"))
    #expect(text("failed").contains("/missing?") && !text("failed").contains("/feed?"))
    #expect(text("why").contains("retried at once: status 503, attempt 2 of 3"))
    #expect(text("diff").contains("  status\n    - 200\n    + 404\n"))
    #expect(text("curl").hasPrefix("curl ") && text("curl").contains("/missing?token=•••'"))
    #expect(text("none").contains("has no call “99999”") && report["none"]["isError"]?.boolValue == true)
    #expect(report["unknown"]?.stringValue?.contains("Unknown tool: frob") == true)
    #expect(!report.description.contains(RecordFixture.marker), "no tool shows a secret")
  }

  @Test func `a search without a result is reported`() async throws {
    let record = try await RecordFixture()
    let request = #"{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "list", "arguments": "#
    let line = Data(#"\#(request){"contains": "/nowhere"}}}"#.utf8)
    let text = try await serve([line], [record.path]).first?["result"]["content"][0]["text"]?.stringValue
    #expect(text == "None of the 3 calls matches.\n")
    withExtendedLifetime(record) {}
  }

  /// Runs the server with lines as its input, until it ends.
  private func serve(_ lines: [Data], _ words: [String]) async throws -> [JSONValue] {
    let file = FileManager.default.temporaryDirectory.appending(path: "errand-mcp-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: file) }
    try Data(lines.joined(separator: Data("\n".utf8))).write(to: file)
    let errand = try BuiltProgram("errand").path
    let run = try await BuiltProgram(at: URL(filePath: "/bin/sh")).run(
      ["-c", "exec \"$0\" mcp \"$@\" < \"$INPUT\"", errand] + words, environment: ["INPUT": file.path])
    #expect(run.status == 0 && run.error == "")
    return try run.output.split(separator: 0x0A).map { try JSONValue(parsing: Data($0)) }
  }

  @Test func `malformed lines do not end the server`() async throws {
    let ping = Data("{\"jsonrpc\": \"2.0\", \"id\": 7, \"method\": \"ping\"}".utf8)
    let lines = [
      Data("{".utf8), Data([0xFF, 0x00]), Data(repeating: UInt8(ascii: "a"), count: 5 << 20), Data("[]".utf8),
      Data(repeating: UInt8(ascii: "["), count: 1 << 20), Data(), ping, Data("not JSON".utf8),
    ]
    let responses = try await serve(lines, [])
    #expect(responses.map { $0["error"]["code"]?.intValue } == [-32700, -32700, -32600, -32600, -32700, nil, -32700])
    #expect(responses.contains { $0["id"]?.intValue == 7 && $0["result"] != nil })
  }

  @Test func `the last line needs no line feed`() async throws {
    let ping = Data("{\"jsonrpc\": \"2.0\", \"id\": 7, \"method\": \"ping\"}".utf8)
    let responses = try await serve([ping], [])
    #expect(responses.map { $0["id"]?.intValue } == [7])
    #expect(try await serve([ping, Data(" \r".utf8)], []).count == 1)
  }

  @Test func `input may come later`() async throws {
    let pipe = Pipe()
    let (reader, writer) = (pipe.fileHandleForReading, pipe.fileHandleForWriting)
    let flags = fcntl(reader.fileDescriptor, F_GETFL)
    #expect(fcntl(reader.fileDescriptor, F_SETFL, flags | O_NONBLOCK) == 0)
    let output = Pipe()
    let process = Process()
    process.executableURL = try BuiltProgram("errand").place
    process.arguments = ["mcp"]
    (process.standardInput, process.standardOutput) = (reader, output.fileHandleForWriting)
    let (ends, end) = AsyncStream.makeStream(of: Void.self)
    process.terminationHandler = { _ in end.finish() }
    try process.run()
    try output.fileHandleForWriting.close()
    // Each response shows that the server has read all input before the next message is written.
    for id in 1...3 {
      try writer.write(contentsOf: Data("{\"jsonrpc\": \"2.0\", \"id\": \(id), \"method\": \"ping\"}\n".utf8))
      let response = try JSONValue(parsing: output.fileHandleForReading.availableData)
      #expect(response["id"]?.intValue == id)
    }
    try writer.close()
    for await _ in ends {}
    #expect(process.terminationStatus == 0)
  }

  @Test(arguments: ["<&-", "< /"])
  func `unreadable input is an error`(input: String) async throws {
    let errand = try BuiltProgram("errand").path
    let run = try await BuiltProgram(at: URL(filePath: "/bin/sh")).run(["-c", "exec \"$0\" mcp \(input)", errand])
    #expect(run.status == ExitCode.other.rawValue)
    #expect(run.error.contains("Standard input cannot be read: "), "\(run.error)")
  }

  @Test func `server ends with its input`() async throws {
    #expect(try await serve([], []).isEmpty)
    #expect(try await BuiltCommand.run(["mcp", "a", "b"]).status == ExitCode.usage.rawValue)
  }
}
