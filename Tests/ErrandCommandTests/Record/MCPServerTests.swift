import Errand
import ErrandRecord
import Foundation
import Testing

@testable import ErrandCommand

struct MCPServerTests {
  private func respond(_ text: String, file: String? = nil) throws -> JSONValue? {
    let response = MCPServer(file: file).respond(to: Data(text.utf8))
    if let response { #expect(response.last == 0x0A && response.count { $0 == 0x0A } == 1) }
    return try response.map { try JSONValue(parsing: $0) }
  }

  @Test(arguments: [
    ("{", -32700, JSONValue.null), ("\u{0}", -32700, .null), ("[]", -32600, .null), ("7", -32600, .null),
    ("{}", -32600, .null), ("{\"id\": 1}", -32600, 1), ("{\"id\": {}, \"method\": \"ping\"}", -32600, .null),
    ("{\"jsonrpc\": \"1.0\", \"id\": 1, \"method\": \"ping\"}", -32600, 1),
    ("{\"jsonrpc\": \"2.0\", \"id\": null, \"method\": \"ping\"}", -32600, .null),
    ("{\"jsonrpc\": \"2.0\", \"id\": \"a\", \"method\": \"frob\"}", -32601, "a"),
    ("{\"jsonrpc\": \"2.0\", \"id\": 2, \"method\": \"server/discover\"}", -32601, 2),
    ("{\"jsonrpc\": \"2.0\", \"id\": 2, \"method\": \"initialize\"}", -32602, 2),
    ("{\"jsonrpc\": \"2.0\", \"id\": 2, \"method\": \"initialize\", \"params\": []}", -32602, 2),
    ("{\"jsonrpc\": \"2.0\", \"id\": 2, \"method\": \"tools/call\", \"params\": {\"name\": \"frob\"}}", -32602, 2),
    (
      "{\"jsonrpc\": \"2.0\", \"id\": 2, \"method\": \"tools/call\", \"params\": {\"name\": \"why\", \"arguments\": 1}}",
      -32602, 2
    ),
  ])
  func `malformed message is rejected`(text: String, code: Int, id: JSONValue) throws {
    let response = try #require(try respond(text))
    #expect(response["error"]["code"]?.intValue == code && response["id"] == id)
    #expect(response["jsonrpc"]?.stringValue == "2.0" && response["error"]["message"]?.stringValue != nil)
  }

  @Test func `deep nesting is rejected`() throws {
    let text = String(repeating: "[", count: 100_000)
    #expect(try respond(text)?["error"]["code"]?.intValue == -32700)
  }

  @Test(arguments: [
    "", " \r", "{\"jsonrpc\": \"2.0\", \"method\": \"notifications/initialized\"}",
    "{\"jsonrpc\": \"2.0\", \"method\": \"frob\"}", "{\"jsonrpc\": \"2.0\", \"id\": 1, \"result\": {}}",
  ])
  func `notifications get no response`(text: String) throws {
    #expect(try respond(text) == nil)
  }

  @Test(arguments: [
    ("2025-06-18", "2025-06-18"), ("2025-11-25", "2025-11-25"), ("2024-11-05", "2025-11-25"), ("x", "2025-11-25"),
  ])
  func `revision is negotiated`(wanted: String, revision: String) throws {
    let text = """
      {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": "\(wanted)"}}
      """
    let result = try respond(text)?["result"]
    #expect(result["protocolVersion"]?.stringValue == revision)
    #expect(result["capabilities"]["tools"]?.objectValue?.isEmpty == true)
    #expect(result["serverInfo"]["name"]?.stringValue == "errand")
  }

  @Test func `ping has an empty result`() throws {
    #expect(try respond("{\"jsonrpc\": \"2.0\", \"id\": 1.5, \"method\": \"ping\"}")?["result"] == .object([:]))
  }

  @Test(arguments: [nil, "calls.flight"] as [String?])
  func `file argument exists only without a file`(file: String?) throws {
    let tools = try respond("{\"jsonrpc\": \"2.0\", \"id\": 1, \"method\": \"tools/list\"}", file: file)?["result"][
      "tools"]
    #expect(tools?.arrayValue?.compactMap { $0["name"]?.stringValue } == ["list", "why", "diff", "curl"])
    for tool in tools?.arrayValue ?? [] {
      #expect((tool["inputSchema"]["properties"]["file"] != nil) == (file == nil))
      #expect(tool["inputSchema"]["type"]?.stringValue == "object" && tool["description"] != nil)
    }
    let diff = tools?.arrayValue?.first { $0["name"]?.stringValue == "diff" }
    #expect(diff?["description"]?.stringValue?.contains("two files") == (file == nil))
  }

  @Test(
    arguments: [
      ("list", "{}", nil, "\"file\" is missing"), ("list", "{\"file\": 7}", nil, "\"file\" is no string"),
      ("list", "{\"file\": \"/nowhere\"}", nil, "“/nowhere” cannot be read"),
      ("why", "{\"call\": 1}", "/dev/null", "“/dev/null” cannot be read: It is no file"),
    ] as [(String, String, String?, String)])
  func `mistake of the agent is a result`(tool: String, arguments: String, file: String?, reason: String) throws {
    try expectMistake(tool, arguments, file, reason)
  }

  @Test(arguments: [
    ("list", "{\"limit\": 0}", "\"limit\" is no positive integer"),
    ("list", "{\"limit\": 1e300}", "\"limit\" is no positive integer"),
    ("list", "{\"failed\": \"yes\"}", "\"failed\" is not true or false"), ("why", "{}", "\"call\" is missing"),
    ("diff", "{\"a\": 1}", "has no call “1”"), ("diff", "{\"other\": \"/etc/passwd\"}", "reads only one file"),
  ])
  func `wrong argument is named`(tool: String, arguments: String, reason: String) throws {
    let file = FileManager.default.temporaryDirectory.appending(path: "errand-mcp-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: file) }
    try HTTPArchive().serialized().write(to: file)
    try expectMistake(tool, arguments, file.path, reason)
  }

  private func expectMistake(_ tool: String, _ arguments: String, _ file: String?, _ reason: String) throws {
    let text = """
      {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "\(tool)", "arguments": \(arguments)}}
      """
    let result = try respond(text, file: file)?["result"]
    #expect(result["isError"]?.boolValue == true)
    let shown = result["content"][0]["text"]?.stringValue ?? ""
    #expect(shown.contains(reason), "\(shown)")
  }

  @Test func `lines are split and limited`() {
    var lines = LineBuffer(longest: 4)
    #expect(lines.add(Array("ab".utf8)) == [])
    #expect(lines.add(Array("cd\n\nef".utf8)) == [Data("abcd".utf8), Data()])
    #expect(lines.add(Array("ghij".utf8)) == [])
    #expect(lines.add(Array("klm\nok\n12345\n".utf8)) == [nil, Data("ok".utf8), nil])
    #expect(lines.finish() == [])
    for (text, last) in [(" \t\r", []), ("rest", [Data("rest".utf8)]), ("longer", [nil])] as [(String, [Data?])] {
      #expect(lines.add(Array(text.utf8)) == [])
      #expect(lines.finish() == last)
    }
  }
}
