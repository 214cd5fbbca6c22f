import Errand
import ErrandSupport
import Foundation

/// Implements `errand mcp`, which serves recorded calls over standard input and output.
@MainActor
enum MCPCommand {
  /// The longest line that is read, in bytes.
  static let longestLine = 4 << 20

  /// Parses the arguments, and serves until the standard input ends. Returns the exit status.
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
      return Terminal.rejectUsage(error, of: "mcp")
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
