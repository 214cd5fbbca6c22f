import Errand
import ErrandRecord
import ErrandSupport
import Foundation

/// A server of the Model Context Protocol, revisions 2025-06-18 and 2025-11-25: messages of JSON-RPC 2.0, one on each
/// line. It keeps no state, and reads the file again for each call of a tool.
struct MCPServer {
  /// The supported revisions, the latest first.
  static let revisions = ["2025-11-25", "2025-06-18"]

  /// The error codes of JSON-RPC 2.0, section 5.1.
  enum ErrorCode: Int64 {
    case parse = -32700
    case invalidRequest = -32600
    case methodNotFound = -32601
    case invalidParams = -32602
  }

  private struct Failure: Error {
    let code: ErrorCode
    let message: String
  }

  /// The only file that tools may read; nil if each call of a tool names its file.
  let file: String?

  /// The response to a message, with a line feed; nil if the message needs no response.
  func respond(to line: Data) -> Data? {
    if line.allSatisfy({ $0 == 0x20 || $0 == 0x0D || $0 == 0x09 }) { return nil }
    guard let message = try? JSONValue(parsing: line) else {
      return error(Failure(code: .parse, message: "The line is not JSON."), id: .null)
    }
    guard message.objectValue != nil else {
      return error(Failure(code: .invalidRequest, message: "The message is no object. Batches are not supported."))
    }
    let id = message["id"]
    guard let method = message["method"]?.stringValue else {
      // A response of the client. This server sends no requests, so it expects none.
      if message["result"] != nil || message["error"] != nil { return nil }
      return error(Failure(code: .invalidRequest, message: "The method is missing."), id: id)
    }
    guard let id else { return nil }  // a notification
    guard message["jsonrpc"]?.stringValue == "2.0", id.isRequestID else {
      let reason = "A request needs \"jsonrpc\": \"2.0\" and an id that is a string or a number."
      return error(Failure(code: .invalidRequest, message: reason), id: id)
    }
    do throws(Failure) {
      return Self.line(["jsonrpc": "2.0", "id": id, "result": try result(of: method, message["params"])])
    } catch {
      return self.error(error, id: id)
    }
  }

  func tooLong(_ limit: Int) -> Data {
    error(Failure(code: .invalidRequest, message: "The line is longer than \(limit) bytes."))
  }

  private func error(_ failure: Failure, id: JSONValue? = nil) -> Data {
    let id = id.flatMap { $0.isRequestID ? $0 : nil } ?? .null
    return Self.line([
      "jsonrpc": "2.0", "id": id,
      "error": .object(["code": .integer(failure.code.rawValue), "message": .string(failure.message)]),
    ])
  }

  private static func line(_ message: [String: JSONValue]) -> Data {
    // Serialising fails only for numbers that are not finite and for deep nesting. The message contains neither.
    ((try? JSONValue.object(message).serialized()) ?? Data()) + Data("\n".utf8)
  }

  // MARK: - Methods

  private func result(of method: String, _ params: JSONValue?) throws(Failure) -> JSONValue {
    switch method {
    case "initialize": return try initialize(params)
    case "ping": return .object([:])
    case "tools/list": return .object(["tools": .array(MCPTool.allCases.map { $0.json(namesFile: file == nil) })])
    case "tools/call": return try call(params)
    default: throw Failure(code: .methodNotFound, message: "The method \"\(Self.shown(method))\" is unknown.")
    }
  }

  private func initialize(_ params: JSONValue?) throws(Failure) -> JSONValue {
    guard let wanted = params["protocolVersion"]?.stringValue else {
      throw Failure(code: .invalidParams, message: "The parameter \"protocolVersion\" is missing.")
    }
    let revision = Self.revisions.first { $0.hasSameBytes(as: wanted) } ?? Self.revisions[0]
    return .object([
      "protocolVersion": .string(revision), "capabilities": .object(["tools": .object([:])]),
      "serverInfo": .object(["name": "errand", "version": .string(HelpText.version)]),
      "instructions":
        "Recorded HTTP calls with the decisions of the client. Begin with list, then ask why for a call. Secrets are masked.",
    ])
  }

  private func call(_ params: JSONValue?) throws(Failure) -> JSONValue {
    guard let name = params["name"]?.stringValue else {
      throw Failure(code: .invalidParams, message: "The parameter \"name\" is missing.")
    }
    guard let tool = MCPTool(rawValue: name) else {
      throw Failure(code: .invalidParams, message: "Unknown tool: \(Self.shown(name))")
    }
    let arguments = params["arguments"] ?? .object([:])
    guard arguments.isNull || arguments.objectValue != nil else {
      throw Failure(code: .invalidParams, message: "The parameter \"arguments\" is no object.")
    }
    do {
      return Self.content(try tool.run(MCPArguments(value: arguments, onlyFile: file)), isError: false)
    } catch {
      return Self.content("\(error)", isError: true)
    }
  }

  private static func content(_ text: String, isError: Bool) -> JSONValue {
    let text = PlainText.visible(text, keepsLines: true)
    return .object([
      "content": .array([.object(["type": "text", "text": .string(text)])]), "isError": .bool(isError),
    ])
  }

  private static func shown(_ name: String) -> String { PlainText.visible(String(name.prefix(100))) }
}

extension JSONValue {
  fileprivate var isRequestID: Bool { stringValue != nil || doubleValue != nil }
}

/// Implements `errand mcp`, which serves recorded calls over standard input and output.
@MainActor
enum MCPCommand {
  /// The longest line that is read, in bytes.
  static let longestLine = 4 << 20

  static func run(_ words: [String]) -> ExitCode {
    do throws(UsageError) {
      var reader = WordReader(words, flags: [], valued: [])
      var files: [String] = []
      while let item = try reader.next() { if case .argument(let word) = item { files.append(word) } }
      guard files.count <= 1, files.first != "" else {
        throw UsageError("“mcp” takes one file or none; name a flight file or an HTTP archive")
      }
      return serve(MCPServer(file: files.first))
    } catch {
      return Terminal.reject(error, of: "mcp")
    }
  }

  private static func serve(_ server: MCPServer) -> ExitCode {
    var lines = LineBuffer(longest: longestLine)
    var chunk = [UInt8](repeating: 0, count: 1 << 16)
    while true {
      let count = chunk.withUnsafeMutableBytes { read(0, $0.baseAddress, $0.count) }
      if count < 0, errno == EINTR || errno == EAGAIN && Terminal.waits(for: 0, POLLIN) { continue }
      guard count >= 0 else {
        Terminal.reportError("Standard input cannot be read: \(String(cString: strerror(errno))).")
        return .other
      }
      for line in count > 0 ? lines.add(chunk[..<count]) : lines.finish() {
        let response = line.map(server.respond) ?? server.tooLong(longestLine)
        if let response, let code = Terminal.write(response) { return Terminal.reportWriteFailure(code) }
      }
      if count == 0 { return .success }
    }
  }
}

/// Collects bytes into lines of a limited length.
struct LineBuffer {
  private let longest: Int
  private var line = Data()
  private var isTooLong = false

  init(longest: Int) { self.longest = longest }

  /// Adds bytes. Returns the lines that are complete now; nil for a line that was too long, whose bytes are discarded.
  mutating func add(_ bytes: some Collection<UInt8>) -> [Data?] {
    var complete: [Data?] = []
    var rest = bytes[...]
    while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
      append(rest[..<end])
      complete.append(isTooLong ? nil : line)
      (line, isTooLong) = (Data(), false)
      rest = rest[rest.index(after: end)...]
    }
    append(rest)
    return complete
  }

  /// Returns the last line at the end of the input, which has no line feed; nil for a line that was too long. The array
  /// is empty if nothing except spaces is left.
  mutating func finish() -> [Data?] {
    defer { (line, isTooLong) = (Data(), false) }
    if isTooLong { return [nil] }
    return line.allSatisfy { $0 == 0x20 || $0 == 0x09 || $0 == 0x0D } ? [] : [line]
  }

  private mutating func append(_ bytes: some Collection<UInt8>) {
    guard !isTooLong else { return }
    isTooLong = line.count + bytes.count > longest
    if isTooLong { line = Data() } else { line.append(contentsOf: bytes) }
  }
}
