import Errand
import Foundation

/// A process that sends one file and says by how many bytes its memory grew at most: `UploadProbe MODE URL FILE`.
@main
enum UploadProbe {
  private struct Put: APIRequest {
    let body: RequestBody?
    var path: Path { "/probe" }
    var method: HTTPMethod { .put }
    var timeouts: Timeouts? { Timeouts(total: .never) }
    typealias Response = Nothing
  }

  static func main() async throws {
    let words = CommandLine.arguments
    guard words.count == 4, let body = body(words[1], URL(filePath: words[3])) else { exit(64) }
    let client = APIClient(baseURL: words[2])
    _ = try await client.send(Put(body: .text("warm")))
    let before = try peak()
    _ = try await client.send(Put(body: body))
    print(try peak() - before)
  }

  private static func body(_ mode: String, _ file: URL) -> RequestBody? {
    switch mode {
    case "file": .file(file)
    case "form": .multipart([.text("a", "b"), .file("f", file)])
    case "gzip": .file(file).compressed(.gzip(level: 1))
    default: nil
    }
  }

  /// The most memory that was resident so far, in bytes.
  private static func peak() throws -> Int {
    let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
    let line = status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
    return (line.flatMap { Int($0.filter(\.isNumber)) } ?? 0) * 1_024
  }
}
