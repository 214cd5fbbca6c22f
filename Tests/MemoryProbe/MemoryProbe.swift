import Errand
import Foundation

/// A process that does one thing and says by how many bytes its memory grew at most, and then how it ended: `answer`, or
/// the code of the error. `MemoryProbe MODE URL [FILE]`.
@main
enum MemoryProbe {
  private struct Put: APIRequest {
    let body: RequestBody?
    var path: Path { "/probe" }
    var method: HTTPMethod { .put }
    var timeouts: Timeouts? { Timeouts(total: .never) }
    typealias Response = Nothing
  }

  private struct Get: APIRequest {
    var path: Path { "/flood" }
    typealias Response = Data
  }

  static func main() async throws {
    let words = CommandLine.arguments
    guard words.count >= 3 else { exit(64) }
    let client = APIClient(baseURL: words[2])
    _ = try await client.send(Put(body: .text("warm")))
    let before = try peak()
    let end = await end(of: words[1], words.count > 3 ? URL(filePath: words[3]) : nil, client)
    print(try peak() - before)
    print(end)
  }

  private static func end(of mode: String, _ file: URL?, _ client: APIClient) async -> String {
    do throws(APIError) {
      switch (mode, file) {
      // What one has left behind must not add to the next.
      case ("memory", _): for round in 1...3 { try await fill(client, isLast: round == 3) }
      case ("stream", _): for try await _ in try await client.stream(Get()) {}
      case ("lines", _): for try await _ in try await client.stream(Get()).lines {}
      case ("file", let file?): _ = try await client.send(Put(body: .file(file)))
      case ("form", let file?): _ = try await client.send(Put(body: .multipart([.text("a", "b"), .file("f", file)])))
      case ("gzip", let file?): _ = try await client.send(Put(body: .file(file).compressed(.gzip(level: 1))))
      default: exit(64)
      }
      return "answer"
    } catch {
      return error.code.rawValue
    }
  }

  private static func fill(_ client: APIClient, isLast: Bool) async throws(APIError) {
    let outcome = await client.outcome(of: Get())
    if isLast, let error = outcome.error { throw error }
  }

  /// The most memory that was resident so far, in bytes.
  private static func peak() throws -> Int {
    let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
    let line = status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
    return (line.flatMap { Int($0.filter(\.isNumber)) } ?? 0) * 1_024
  }
}
